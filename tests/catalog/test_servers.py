import json

import pytest

from packbelt.catalog import Workspace, load
from packbelt.model import Code, Level


@pytest.fixture
def mcp(write):
    def make(data: object) -> Workspace:
        return load(write({".mcp.json": data if isinstance(data, str) else json.dumps(data, indent=1)}))

    return make


def entry(mcp, raw: object) -> Workspace:
    return mcp({"mcpServers": {"x": raw, "good": {"command": "g"}}})


def test_both_transports(mcp):
    workspace = mcp(
        {
            "mcpServers": {
                "a": {
                    "command": "npx",
                    "args": ["-y", "p", 3],
                    "env": {"PORT": 1, "ON": True, "K": "${K}"},
                    "cwd": "d",
                },
                "b": {
                    "type": "http",
                    "url": "https://b.example/mcp",
                    "headers": {"Authorization": "Bearer ${T:-}"},
                },
            }
        }
    )
    a, b = workspace.servers["a"], workspace.servers["b"]
    assert (a.transport, a.command, a.args, a.cwd) == ("stdio", "npx", ("-y", "p", "3"), "d")
    assert a.env == {"PORT": "1", "ON": "true", "K": "${K}"}
    assert (b.transport, b.url, b.headers) == (
        "http",
        "https://b.example/mcp",
        {"Authorization": "Bearer ${T:-}"},
    )
    assert (a.owner, a.required, a.short_name) == (None, False, "a")
    assert str(a.where) == ".mcp.json:3"
    assert not workspace.diagnostics


def test_fm20_a_trailing_comma_is_reported_and_the_rest_loads(write):
    root = write(
        {
            ".mcp.json": '{\n "mcpServers": {\n  "x": {"command": "x"},\n }\n}',
            "packs/p.yaml": "id: p\n",
            "prompts/agents/a.md": "---\nname: a\ndescription: D.\n---\n",
        }
    )
    workspace = load(root)
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.level, diagnostic.code, str(diagnostic.where)) == (
        Level.ERROR,
        Code.SERVER_BROKEN,
        ".mcp.json:4",
    )
    assert not workspace.servers
    assert set(workspace.packs) == {"p"}
    assert "a" in workspace.agents


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "a list, not an object"),
        ('{"mcpServers": []}', "`mcpServers` is a list"),
        ('{"servers": {"a": {"command": "x"}}}', "VS Code"),
        ('{"mcp_servers": {"a": {"command": "x"}}}', "call `mcp_servers` `mcpServers`"),
        ('{"name": "x", "tools": []}', "has no `mcpServers`"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "stands twice"),
        ("", "ends too early"),
    ],
)
def test_a_file_that_is_none_leaves_no_servers(mcp, text, words):
    workspace = mcp(text)
    (diagnostic,) = workspace.diagnostics
    assert words in str(diagnostic)
    assert not workspace.servers


def test_a_file_that_is_not_utf8_leaves_no_servers(write):
    workspace = load(write({".mcp.json": b'{"mcpServers": {"\xff": {}}}'}))
    assert [d.code for d in workspace.diagnostics] == [Code.SERVER_BROKEN]


def test_the_wrapper_may_be_left_out_if_every_value_is_a_server(mcp):
    assert set(mcp({"a": {"command": "x"}, "b": {"url": "https://b"}}).servers) == {"a", "b"}
    assert not mcp({}).diagnostics


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"type": "sse", "url": "https://x"}, "sse"),
        ({"command": "x", "shell": True}, "wants a shell"),
        ({"type": "ws", "url": "wss://x"}, "unknown type 'ws'"),
        ({"type": "htpp", "url": "https://x"}, "did you mean 'http'?"),
        ({"command": "x", "url": "https://x"}, "both `command` and `url`"),
        ({"args": []}, "neither `command` nor `url`"),
        ({"type": "http", "command": "x"}, "no `url`"),
        ({"type": "stdio", "url": "https://x"}, "no `command`"),
        ({"url": "ftp://x"}, "not http"),
        ({"command": ["npx", "x"]}, "`command` that is a list"),
        ({"command": "x", "args": "-y"}, "`args` that is text"),
        ({"command": "x", "args": [None]}, "empty in it"),
        ({"command": "x", "env": ["A=b"]}, "`env` that is a list"),
        ({"command": "x", "env": {"A": None}}, "empty in it"),
        ({"command": "x\0y"}, "NUL"),
        ("npx x", "not an object"),
        (None, "empty, not an object"),
    ],
)
def test_one_bad_entry_costs_itself(mcp, raw, words):
    workspace = entry(mcp, raw)
    assert set(workspace.servers) == {"good"}
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.level, diagnostic.code, diagnostic.name) == (Level.ERROR, Code.SERVER_BROKEN, "x")
    assert words in str(diagnostic)
    assert diagnostic.where is not None
    assert diagnostic.where.line >= 3


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamableHttp"])
def test_the_spellings_of_http(mcp, kind):
    assert entry(mcp, {"type": kind, "url": "https://x"}).servers["x"].transport == "http"


def test_fm14_a_url_without_a_type_is_http_and_never_dropped(mcp):
    assert entry(mcp, {"url": "https://x.example/mcp"}).servers["x"].transport == "http"


def test_fm13_an_unknown_key_of_another_format_is_a_warning_with_the_near_miss(mcp):
    workspace = entry(mcp, {"command": "x", "arg": ["a"], "description": "quiet"})
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.level, diagnostic.code) == (Level.WARNING, Code.SERVER_KEY)
    assert "did you mean 'args'?" in str(diagnostic)
    assert "x" in workspace.servers


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
def test_an_entry_that_is_switched_off_is_left_out_with_a_note(mcp, off):
    workspace = entry(mcp, {"command": "x", **off})
    assert set(workspace.servers) == {"good"}
    assert [(d.level, d.code) for d in workspace.diagnostics] == [(Level.NOTE, Code.SERVER_IGNORED)]


def test_a_placeholder_in_args_is_a_warning_and_elsewhere_is_none(mcp):
    assert [d.code for d in entry(mcp, {"command": "x", "args": ["--key=${K}"]}).diagnostics] == [
        Code.SECRET_IN_ARGS
    ]
    assert not entry(mcp, {"command": "x", "args": ["$${K}", "$K"], "env": {"K": "${K}"}}).diagnostics


def test_the_digest_is_of_the_definition_as_written(mcp):
    one = entry(mcp, {"command": "x", "args": ["a"]}).servers["x"].digest
    same = entry(mcp, {"args": ["a"], "command": "x"}).servers["x"].digest
    other = entry(mcp, {"command": "x", "args": ["b"]}).servers["x"].digest
    assert one == same != other
    assert one.startswith("sha256:")


def test_en21_a_servers_repr_shows_no_value(mcp, monkeypatch):
    monkeypatch.setenv("TOKEN_FOR_X", "s3cret-value")
    env = {"T": "${TOKEN_FOR_X}", "PLAIN": "literal-value"}
    spec = entry(mcp, {"command": "x", "args": ["--key", "arg-value"], "env": env}).servers["x"]
    assert not [value for value in ("s3cret-value", "literal-value", "arg-value") if value in repr(spec)]


def test_plugins_only_leaves_out_the_servers_of_projects_and_their_agents(write):
    root = write(
        {
            "packbelt.yaml": "plugins_only: true\n",
            ".mcp.json": '{"mcpServers": {"x": {"command": "x"}}}',
            "prompts/agents/a.md": "---\ndescription: D.\nmcp_servers: [x, {y: {command: y}}]\n---\n",
        }
    )
    workspace = load(root)
    assert not workspace.servers
    assert not workspace.inline
    assert workspace.agents["a"].mcp_servers == workspace.agents["a"].inline == ()
    assert [d.code for d in workspace.diagnostics] == [Code.SERVER_IGNORED] * 2
