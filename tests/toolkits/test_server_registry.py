import http.server
import json
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import pytest
from skill_world import write

import packbelt
from packbelt import toolkits
from packbelt.catalog.discover import embedded_root
from packbelt.model import ToolCall

# In the form of the schema of 2025-12-11, after the examples of its specification.
BRAVE = {
    "name": "io.modelcontextprotocol/brave-search",
    "description": "MCP server for Brave Search API integration",
    "version": "1.0.2",
    "packages": [
        {
            "registryType": "npm",
            "identifier": "@modelcontextprotocol/server-brave-search",
            "version": "1.0.2",
            "transport": {"type": "stdio"},
            "environmentVariables": [
                {
                    "name": "BRAVE_API_KEY",
                    "description": "Brave Search API Key",
                    "isRequired": True,
                    "isSecret": True,
                }
            ],
        }
    ],
}
FILES = {
    "name": "io.github.modelcontextprotocol/filesystem",
    "description": "Filesystem operations",
    "version": "1.0.3",
    "packages": [
        {
            "registryType": "oci",
            "identifier": "docker.io/mcp/filesystem:1.0.2",
            "transport": {"type": "stdio"},
        },
        {
            "registryType": "npm",
            "identifier": "@modelcontextprotocol/server-filesystem",
            "version": "1.0.2",
            "transport": {"type": "stdio"},
            "packageArguments": [
                {"type": "named", "name": "--mode", "default": "local"},
                {"type": "named", "name": "--optional"},
                {"type": "positional", "valueHint": "target_dir", "isRequired": True, "isRepeated": True},
            ],
            "environmentVariables": [{"name": "LOG_LEVEL", "default": "info"}],
        },
    ],
}
TIME = {
    "name": "io.github.modelcontextprotocol/time",
    "description": "Time and time zones",
    "version": "2026.10.19",
    "packages": [
        {
            "registryType": "pypi",
            "identifier": "mcp-server-time",
            "version": "2026.10.19",
            "runtimeHint": "uvx",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "named", "name": "--local-timezone", "value": "UTC"}],
        }
    ],
}
REMOTE = {
    "name": "com.example/analytics",
    "description": "Analytics",
    "version": "2.0.0",
    "remotes": [
        {"type": "sse", "url": "https://example.com/sse"},
        {
            "type": "streamable-http",
            "url": "https://{tenant}.example.com/mcp",
            "variables": {"tenant": {"default": "eu"}},
            "headers": [
                {
                    "name": "Authorization",
                    "value": "Bearer {token}",
                    "variables": {"token": {"isSecret": True}},
                },
                {"name": "X-Region", "default": "eu-west-1"},
            ],
        },
    ],
}
STARTED = "uvx mcp-server-time@2026.10.19 --local-timezone UTC"
ONLY_SSE = {
    "name": "com.example/old",
    "version": "1",
    "remotes": [{"type": "sse", "url": "https://example.com/sse"}],
}
ALL = [BRAVE, FILES, TIME, REMOTE, ONLY_SSE]


@pytest.fixture
def registry():
    """A loopback registry that speaks version 0.1 of the API; its entries may be changed."""
    entries = {entry["name"]: json.loads(json.dumps(entry)) for entry in ALL}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            words = parts.path.split("/")
            asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
            if words[1:3] != ["v0.1", "servers"]:
                return self.answer(404, {})
            if len(words) == 6 and words[4] == "versions":
                entry = entries.get(unquote(words[3]))
                if entry is None or words[5] not in ("latest", entry["version"]):
                    return self.answer(404, {"title": "Not Found"})
                return self.answer(200, {"server": entry, "_meta": {}})
            found = [entry for name, entry in sorted(entries.items()) if asked["search"] in name]
            start, limit = int(asked.get("cursor", "0")), int(asked["limit"])
            page = [{"server": entry, "_meta": {}} for entry in found[start : start + limit]]
            more = {"nextCursor": str(start + limit)} if len(found) > start + limit else {}
            return self.answer(200, {"servers": page, "metadata": {"count": len(page), **more}})

        def answer(self, status, body):
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", entries
    server.shutdown()
    thread.join()
    server.server_close()


class Tools:
    def __init__(self, root, url, **options):
        root.mkdir(exist_ok=True)
        self.file = root / ".mcp.json"
        made = toolkits.mcp_registry(root, registry=url, environ={"PATH": "/usr/bin:/bin"}, **options)
        self.tools = {function.__name__: function for function in made}

    def __call__(self, name, /, **arguments):
        async def call():
            return await self.tools[f"mcp_registry_{name}"](**arguments)

        return anyio.run(call)

    def entry(self, server):
        whole = json.loads(self.file.read_text())["mcpServers"][server]
        return {key: value for key, value in whole.items() if key not in ("name", "link")}


@pytest.fixture
def tools(tmp_path, registry):
    return Tools(tmp_path / "workspace", registry[0])


def test_servers_are_found_page_by_page(tools):
    first = tools("search", query="/", limit=3)
    assert [row["name"] for row in first["servers"]] == [REMOTE["name"], ONLY_SSE["name"], FILES["name"]]
    second = tools("search", query="/", limit=3, cursor=first["cursor"])
    assert [row["name"] for row in second["servers"]] == [TIME["name"], BRAVE["name"]]
    assert "cursor" not in second
    by_name = {row["name"]: row for row in first["servers"] + second["servers"]}
    assert by_name[REMOTE["name"]]["run_by"] == "https://eu.example.com/mcp"
    assert (by_name[TIME["name"]]["kind"], by_name[TIME["name"]]["run_by"]) == ("pypi", "uvx")
    assert "type sse" in by_name[ONLY_SSE["name"]]["cannot_be_installed"]


def test_an_entry_is_given_in_full_and_a_missing_one_said(tools):
    assert tools("get", name=BRAVE["name"]) == BRAVE
    for arguments in ({"name": "io.github.nobody/none"}, {"name": BRAVE["name"], "version": "9"}):
        with pytest.raises(toolkits.ToolkitError, match="has no such server"):
            tools("get", **arguments)


def test_a_secret_is_asked_for_and_never_written_in_clear(tools):
    (variable,) = tools("config_assist", name=BRAVE["name"])["variables"]
    assert (variable["name"], variable["required"], variable["secret"], variable["set_here"]) == (
        "BRAVE_API_KEY",
        True,
        True,
        False,
    )
    with pytest.raises(
        toolkits.ToolkitError, match=r"needs the variables BRAVE_API_KEY; .* \$\{BRAVE_API_KEY\}"
    ):
        tools("install", name=BRAVE["name"])
    for clear in ("BSA-123456", "${BRAVE_API_KEY:-BSA-123456}", "x${BRAVE_API_KEY}", "$${BRAVE_API_KEY}", ""):
        with pytest.raises(toolkits.ToolkitError, match="not written into a file in clear") as refused:
            tools("install", name=BRAVE["name"], env={"BRAVE_API_KEY": clear})
        assert "123456" not in str(refused.value)
    with pytest.raises(toolkits.ToolkitError, match="OTHER is not written"):
        tools("install", name=BRAVE["name"], env={"BRAVE_API_KEY": "${K}", "OTHER": "undeclared"})
    assert not tools.file.exists()
    answer = tools("install", name=BRAVE["name"], env={"BRAVE_API_KEY": "${MY_KEY}"})
    assert (answer["server"], answer["version"], answer["not_set_here"]) == (
        "brave-search",
        "1.0.2",
        ["MY_KEY"],
    )
    assert tools.entry("brave-search") == {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-brave-search@1.0.2"],
        "env": {"BRAVE_API_KEY": "${MY_KEY}"},
    }
    workspace = packbelt.load(tools.file.parent)
    assert list(workspace.servers) == ["brave-search"]
    assert workspace.diagnostics == ()


def test_arguments_have_the_publishers_values_and_the_callers(tools):
    with pytest.raises(toolkits.ToolkitError, match="it needs arguments: target_dir; pass args"):
        tools("install", name=FILES["name"])
    tools("install", name=FILES["name"], args=["/srv", "/tmp"], server="files")
    assert tools.entry("files") == {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem@1.0.2", "--mode", "local", "/srv", "/tmp"],
        "env": {"LOG_LEVEL": "info"},
    }


def test_a_remote_server_has_its_address_and_headers(tools):
    with pytest.raises(toolkits.ToolkitError, match="needs the headers Authorization"):
        tools("install", name=REMOTE["name"])
    with pytest.raises(toolkits.ToolkitError, match="Authorization is not written"):
        tools("install", name=REMOTE["name"], headers={"Authorization": "Bearer abc"})
    tools("install", name=REMOTE["name"], headers={"Authorization": "Bearer ${TOKEN}"})
    assert tools.entry("analytics") == {
        "type": "http",
        "url": "https://eu.example.com/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}", "X-Region": "eu-west-1"},
    }


def test_what_a_publisher_writes_is_never_expanded(tools, registry):
    """Else an entry could send this machine's variables to its publisher."""
    package = registry[1][TIME["name"]]["packages"][0]
    package["packageArguments"] = [{"type": "positional", "value": "${AWS_SECRET_ACCESS_KEY}"}]
    package["environmentVariables"] = [
        {"name": "X", "value": "a${AWS_SECRET_ACCESS_KEY}"},
        {"name": "AWS_KEY"},
    ]
    remote = registry[1][REMOTE["name"]]["remotes"][1]
    remote["url"] = "https://example.com/${AWS_SECRET_ACCESS_KEY}"
    remote["headers"] = [{"name": "X", "value": "${AWS_SECRET_ACCESS_KEY}"}]
    assert tools("install", name=TIME["name"])["not_set_here"] == []
    tools("install", name=REMOTE["name"])
    assert tools.entry("time")["args"][-1] == "$${AWS_SECRET_ACCESS_KEY}"
    assert tools.entry("time")["env"] == {"X": "a$${AWS_SECRET_ACCESS_KEY}"}
    assert tools.entry("analytics")["url"] == "https://example.com/$${AWS_SECRET_ACCESS_KEY}"
    assert tools.entry("analytics")["headers"] == {"X": "$${AWS_SECRET_ACCESS_KEY}"}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"registryType": "oci"}, "packages of oci are not taken"),
        ({"registryType": "mcpb"}, "packages of mcpb are not taken"),
        ({"identifier": "--index-url=https://example.com"}, "is no name of an pypi package"),
        ({"identifier": "git+https://example.com/x"}, "is no name of an pypi package"),
        ({"identifier": "x; rm -rf /"}, "is no name of an pypi package"),
        ({"version": "latest"}, "no fixed version"),
        ({"version": None}, "no fixed version"),
        ({"version": "1 --with evil"}, "no fixed version"),
        ({"registryBaseUrl": "https://packages.example.com"}, "another registry than pypi's own"),
        (
            {"runtimeArguments": [{"type": "named", "name": "--with", "value": "evil"}]},
            "wants arguments for uvx itself",
        ),
        ({"transport": {"type": "sse"}}, "does not speak over stdio"),
        ({"environmentVariables": [{"name": "A=B"}]}, "no name of a variable"),
    ],
)
def test_packages_that_are_not_taken(tools, registry, change, match):
    registry[1][TIME["name"]]["packages"][0].update(change)
    with pytest.raises(toolkits.ToolkitError, match=match):
        tools("install", name=TIME["name"])
    assert not tools.file.exists()


def test_the_rest_of_the_file_stays_and_nothing_is_replaced(tools):
    before = {"mcpServers": {"own": {"command": "own", "args": ["ü"]}}, "$schema": "x"}
    tools.file.write_text(json.dumps(before))
    tools.file.chmod(0o600)
    tools("install", name=TIME["name"])
    with pytest.raises(toolkits.ToolkitError, match="has a server 'time'; pass another local name"):
        tools("install", name=TIME["name"])
    tools("install", name=TIME["name"], server="time-2")
    with pytest.raises(toolkits.ToolkitError, match=r"'../x' is no local name"):
        tools("install", name=TIME["name"], server="../x")
    rows = tools("installed_list")["servers"]
    assert [(row["server"], row["name"], row["version"]) for row in rows] == [
        ("own", None, None),
        ("time", TIME["name"], "2026.10.19"),
        ("time-2", TIME["name"], "2026.10.19"),
    ]
    with pytest.raises(toolkits.ToolkitError, match=r"'own' came from no registry"):
        tools("uninstall", server="own")
    with pytest.raises(toolkits.ToolkitError, match="has no server 'none'"):
        tools("uninstall", server="none")
    assert tools("uninstall", server="time") == {"removed": "time"}
    tools("uninstall", server="time-2")
    assert json.loads(tools.file.read_text()) == before
    assert tools.file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tools.file.parent.iterdir()] == [".mcp.json"]


@pytest.mark.parametrize("text", ["{", "[]", '{"own": {"command": "x"}}', '{"mcpServers": []}'])
def test_a_file_that_is_not_understood_is_not_touched(tools, text):
    tools.file.write_text(text)
    with pytest.raises(toolkits.ToolkitError, match="a person mends the file"):
        tools("install", name=TIME["name"])
    assert tools.file.read_text() == text


def test_a_file_elsewhere_is_not_written_through_a_link(tools, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    tools.file.symlink_to(tmp_path / "other.json")
    with pytest.raises(toolkits.ToolkitError, match="leads out of the workspace"):
        tools("install", name=TIME["name"])
    assert (tmp_path / "other.json").read_text() == "{}"


def test_a_registry_that_cannot_be_reached_or_answers_nonsense(tmp_path, registry):
    url, entries = registry
    with pytest.raises(toolkits.ToolkitError, match="cannot be reached"):
        Tools(tmp_path / "a", "http://127.0.0.1:9")("search", query="x")
    entries[TIME["name"]]["name"] = "io.github.other/evil"
    with pytest.raises(toolkits.ToolkitError, match="is no entry of"):
        Tools(tmp_path / "a", url)("install", name=TIME["name"])
    with pytest.raises(toolkits.ToolkitError, match="has no such server"):
        Tools(tmp_path / "a", url + "/elsewhere")("search", query="x")


def test_the_shipped_pack_takes_the_tools_as_its_handlers(tmp_path):
    made = toolkits.mcp_registry(tmp_path, registry="http://127.0.0.1:9")
    shipped = packbelt.load(embedded_root())
    workspace = packbelt.load(embedded_root(), tools=made)
    before = {tool.name: tool for tool in shipped.tools}
    after = {tool.name: tool for tool in workspace.tools}
    natives = {name for name in shipped.packs["integrations"].members if before[name].id.source == "native"}
    assert {function.__name__ for function in made} == natives
    for function in made:
        name = function.__name__
        assert after[name].digest == before[name].digest
        parameters = set(function.__annotations__) - {"return"}
        assert parameters == set(after[name].input_schema.get("properties", {})), name
        assert name in workspace.packs["integrations"].members


def test_a_server_of_the_registry_is_installed_connected_and_asked(tmp_path, registry):
    """The real mcp-server-time; what stands in for uvx starts the one that is installed beside the tests."""
    installed = Path(sys.executable).with_name("mcp-server-time")
    assert installed.exists()
    uvx = f'#!/bin/sh\n[ "$1" = "mcp-server-time@2026.10.19" ] || exit 9\nshift\nexec {installed} "$@"\n'
    root = tmp_path / "workspace"
    write(
        root,
        {
            "packbelt.yaml": "orchestrator: boss\ntimes: {start: 60}\n",
            "prompts/agents/boss.md": "---\nname: boss\ndescription: Works.\ntools: ['*', '*/*']\npermission: execute\n---\nWork.\n",
        },
    )
    write(tmp_path, {"bin/uvx": (uvx, 0o755)})
    environ = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    made = toolkits.mcp_registry(root, registry=registry[0], environ=environ)
    asked = []

    def approve(approval):
        asked.append((approval.tool.name, approval.arguments["starts"]))
        return True

    async def main():
        workspace = packbelt.load(root, tools=made)
        options = {"runs": ":memory:", "trust": True, "environ": environ, "approve": approve}
        async with packbelt.open(workspace, **options) as fleet, fleet.agent("boss") as agent:

            async def call(name, /, **arguments):
                (result,) = await (await agent.turn()).run([ToolCall("1", name, arguments)])
                return json.loads(result.text)

            answer = await call("mcp_registry_install", name=TIME["name"])
            assert (answer["server"], answer["state"]) == ("time", "failed"), answer
            assert "no person has agreed to it yet" in answer["error"]
            assert asked == []
            answer = await call("mcp_registry_connect", server="time")
            assert answer == {"server": "time", "state": "connected", "tool_count": 2}
            assert asked == [("mcp_registry_connect", f"time: {STARTED}")]
            listed = await call("mcp_registry_list_tools", server="time", query="current")
            assert [tool["name"] for tool in listed["tools"]] == ["get_current_time"]
            arguments = {"timezone": "UTC"}
            now = await call("mcp__time__get_current_time", **arguments)
            assert now["timezone"] == "UTC"
            given = {"server": "time", "tool": "get_current_time", "arguments": arguments}
            assert (await call("mcp_registry_tool_call", **given)).keys() == now.keys()
            answer = await call("mcp_registry_disconnect", server="time")
            assert answer == {"server": "time", "state": "disconnected", "tool_count": 2}
            answer = await call("mcp_registry_connect", server="time")
            assert answer["state"] == "connected"
            assert (await call("mcp_registry_status"))["servers"][0]["state"] == "connected"
            assert await call("mcp_registry_uninstall", server="time") == {"removed": "time"}
            assert (await call("mcp_registry_status"))["servers"][0]["state"] == "disconnected"
            assert await call("mcp_registry_installed_list") == {"servers": []}

    anyio.run(main)
