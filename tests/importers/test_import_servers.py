"""Servers of every client: what each key becomes, what is refused, and what never leaves its file."""

import json

import pytest
from home_world import OTHER_SECRET, SECRET, snapshot_data, write_all

import packbelt
from packbelt.catalog import Snapshot, load
from packbelt.importers import Kind, Outcome, gather, write
from packbelt.model import Level, PackbeltError

STDIO = {"command": "srv", "args": ["--x"], "env": {"LOG": "info"}}
FILES = {
    "claude": (".mcp.json", lambda entry: {"mcpServers": {"s": entry}}),
    "bare": (".mcp.json", lambda entry: {"s": entry}),
    "cursor": (".cursor/mcp.json", lambda entry: {"mcpServers": {"s": entry}}),
    "vscode": (".vscode/mcp.json", lambda entry: {"servers": {"s": entry}}),
    "vscode_settings": (
        ".vscode/settings.json",
        lambda entry: {"editor.x": 1, "mcp": {"servers": {"s": entry}}},
    ),
    "gemini": (".gemini/settings.json", lambda entry: {"theme": "x", "mcpServers": {"s": entry}}),
}


def imported(tmp_path, name, data, *, target=None):
    root = write_all(tmp_path / "p", {name: data})
    found = gather(root, target or tmp_path / "t")
    write(found.files, target or tmp_path / "t")
    workspace = load(target or tmp_path / "t")
    assert [one.message for one in workspace.diagnostics if one.level is Level.ERROR] == []
    return found


def entry_of(found, name="s"):
    return json.loads(found.files[".mcp.json"])["mcpServers"][name]


def server(found, name="s"):
    return next(item for item in found.report.items if item.kind is Kind.SERVER and item.name == name)


@pytest.mark.parametrize("client", FILES)
def test_a_plain_entry_is_the_same_everywhere(tmp_path, client):
    name, wrap = FILES[client]
    found = imported(tmp_path, name, wrap(STDIO))
    assert entry_of(found) == STDIO
    assert server(found).outcome is Outcome.MAPPED


@pytest.mark.parametrize("client", FILES)
def test_sse_and_a_shell_are_refused_with_the_mend(tmp_path, client):
    name, wrap = FILES[client]
    bad = [
        ({"type": "sse", "url": "https://x.example/sse"}, "http address"),
        ({"command": "x", "shell": True}, "args"),
    ]
    for i, (entry, mend) in enumerate(bad):
        found = imported(tmp_path / str(i), name, wrap(entry))
        item = server(found)
        assert item.outcome is Outcome.REFUSED
        assert mend in item.remarks[0].mend
        assert ".mcp.json" not in found.files


def test_fm14_a_url_without_a_type_is_http_but_for_gemini_where_it_is_sse(tmp_path):
    url = {"url": "https://x.example/mcp"}
    found = imported(tmp_path / "a", ".cursor/mcp.json", {"mcpServers": {"s": url}})
    assert entry_of(found) == url
    assert load(tmp_path / "a/t").servers["s"].transport == "http"
    found = imported(tmp_path / "b", ".gemini/settings.json", {"mcpServers": {"s": url}})
    assert server(found).outcome is Outcome.REFUSED
    found = imported(tmp_path / "c", ".gemini/settings.json", {"mcpServers": {"s": {"httpUrl": url["url"]}}})
    assert entry_of(found) == {**url, "type": "http"}


def test_fm13_a_key_that_its_client_does_not_read_is_named(tmp_path):
    mcp = {"s": {"type": "local", "command": ["x"], "env": {"TOKEN": SECRET}}}
    found = imported(tmp_path, "opencode.json", {"mcp": mcp})
    assert entry_of(found) == {"type": "stdio", "command": "x", "args": []}
    said = server(found).remarks[0]
    assert "`env` that OpenCode does not read" in said.message
    assert "`environment`" in said.mend
    found = imported(tmp_path / "b", ".mcp.json", {"mcpServers": {"s": {"command": "x", "evn": {"A": "b"}}}})
    assert server(found).remarks[0].mend == "did you mean 'env'?"


def test_fm20_a_file_that_is_no_json_is_refused_and_the_others_load(tmp_path):
    files = {".mcp.json": '{"mcpServers": {"a": }}', ".cursor/mcp.json": {"mcpServers": {"s": STDIO}}}
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t")
    bad = next(item for item in found.report.items if item.outcome is Outcome.REFUSED)
    assert (bad.kind, bad.name, bad.where.line) == (Kind.FILE, ".mcp.json", 1)
    assert list(json.loads(found.files[".mcp.json"])["mcpServers"]) == ["s"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"mcpServers": "x"}, "`mcpServers` is text"),
        ({"mcpServers": [{"command": "x"}]}, "entry 1 has no name"),
        ({"name": "x", "version": "1"}, "has no `mcpServers`"),
        ([], "the file is a list"),
    ],
)
def test_a_file_without_a_map_of_servers_is_refused(tmp_path, data, said):
    found = gather(write_all(tmp_path / "p", {".mcp.json": data}), tmp_path / "t")
    assert [item.outcome for item in found.report.items] == [Outcome.REFUSED]
    assert said in found.report.items[0].remarks[0].message
    assert found.report.items[0].remarks[0].mend


def test_a_list_of_named_servers_is_taken_for_the_map(tmp_path):
    found = imported(tmp_path, ".mcp.json", {"mcpServers": [{"name": "s", "command": "x"}]})
    assert entry_of(found) == {"command": "x"}
    assert server(found).outcome is Outcome.APPROXIMATED


def test_what_is_switched_off_stays_so(tmp_path):
    for i, off in enumerate(({"disabled": True}, {"enabled": False})):
        found = imported(tmp_path / str(i), ".mcp.json", {"mcpServers": {"s": {"command": "x", **off}}})
        assert entry_of(found)["disabled"] is True
        assert not load(tmp_path / str(i) / "t").servers
    settings = {"mcp": {"allowed": ["a"], "excluded": ["c"]}}
    servers = {name: {"command": "x"} for name in "abc"}
    found = imported(tmp_path / "g", ".gemini/settings.json", {**settings, "mcpServers": servers})
    assert list(load(tmp_path / "g/t").servers) == ["a"]
    files = {
        ".mcp.json": {"mcpServers": servers},
        ".claude/settings.local.json": {"disabledMcpjsonServers": ["b"]},
    }
    found = gather(write_all(tmp_path / "c", files), tmp_path / "ct")
    write(found.files, tmp_path / "ct")
    assert sorted(load(tmp_path / "ct").servers) == ["a", "c"]


PLACES = {
    "${env:TOKEN}": "${TOKEN}",
    "${TOKEN}": "${TOKEN}",
    "${TOKEN:-none}": "${TOKEN:-none}",
    "Bearer ${input:my-key}": "Bearer ${MY_KEY}",
    "${workspaceFolderBasename}": "p",
    "a${/}b": "a/b",
    "$${TOKEN}": "$${TOKEN}",
    "${@}": "$${@}",
    "${TOKEN:-" + SECRET + "}": "${TOKEN}",
}


@pytest.mark.parametrize("text", PLACES)
def test_placeholders(tmp_path, text):
    found = imported(tmp_path, ".vscode/mcp.json", {"servers": {"s": {"command": "x", "env": {"A": text}}}})
    assert entry_of(found)["env"]["A"] == PLACES[text]


def test_placeholders_of_places_and_of_the_editor(tmp_path):
    args = ["${workspaceFolder}/srv.js", "${userHome}/x"]
    found = imported(tmp_path, ".vscode/mcp.json", {"servers": {"s": {"command": "node", "args": args}}})
    assert entry_of(found)["args"][0] == f"{tmp_path}/p/srv.js"
    assert server(found).outcome is Outcome.APPROXIMATED
    for i, text in enumerate(("${config:a.b}", "${command:pick}", "${workspaceFolder:other}")):
        data = {"servers": {"s": {"command": "x", "env": {"A": text}}}}
        found = imported(tmp_path / str(i), ".vscode/mcp.json", data)
        assert server(found).outcome is Outcome.REFUSED
        assert "only its editor can fill in" in server(found).remarks[0].message


def test_no_placeholder_is_one_to_codex_and_gemini_has_a_bare_one(tmp_path):
    found = imported(tmp_path, ".codex/config.toml", '[mcp_servers.s]\ncommand = "x"\nargs = ["${HOME}"]\n')
    assert entry_of(found)["args"] == ["$${HOME}"]
    data = {"mcpServers": {"s": {"command": "x", "env": {"A": "$TOKEN", "B": "${OTHER}"}}}}
    found = imported(tmp_path / "g", ".gemini/settings.json", data)
    assert entry_of(found)["env"] == {"A": "${TOKEN}", "B": "${OTHER}"}


SECRETS = {
    "env": {
        "env": {"API_KEY": "plain-but-named", "OTHER": SECRET, "MAX_TOKENS": "4000", "LOG_LEVEL": "debug"}
    },
    "flag": {"args": ["--api-key", "plain-but-named", "--port", "80"]},
    "flag_value": {"args": [f"--token={OTHER_SECRET}"]},
    "docker": {"args": ["run", "-e", f"GITHUB_TOKEN={SECRET}", "image"]},
    "header_argument": {
        "args": ["mcp-remote", "https://x.example", "--header", f"Authorization: Bearer {OTHER_SECRET}"]
    },
    "dsn": {"args": ["postgresql://app:hunter2hunter2@db.example/x"]},
}


@pytest.mark.parametrize("form", SECRETS)
def test_no_secret_is_copied_in_clear(tmp_path, form):
    found = imported(tmp_path, ".mcp.json", {"mcpServers": {"s": {"command": "x", **SECRETS[form]}}})
    text = "".join(found.files.values())
    for secret in ("plain-but-named", SECRET, OTHER_SECRET, "hunter2"):
        assert secret not in text
        assert all(secret not in remark.message for item in found.report.items for remark in item.remarks)
    assert found.report.variables
    for name in found.report.variables:
        assert "${" + name + "}" in text
    assert "4000" in text or form != "env"
    assert "debug" in text or form != "env"


def test_no_secret_of_an_address_or_a_header_is_copied(tmp_path):
    entry = {
        "url": f"https://x.example/s/{OTHER_SECRET.replace('-', '')}/mcp?api_key=plainbutnamed&mode=ro",
        "headers": {"Authorization": "Bearer abcdefgh12345678", "X-Mode": "ro", "x-api-key": "k"},
    }
    found = imported(tmp_path, ".cursor/mcp.json", {"mcpServers": {"s": entry}})
    assert entry_of(found) == {
        "url": "https://x.example/s/${S_URL_KEY}/mcp?api_key=${S_API_KEY}&mode=ro",
        "headers": {
            "Authorization": "Bearer ${S_AUTHORIZATION}",
            "X-Mode": "ro",
            "x-api-key": "${S_X_API_KEY}",
        },
    }


def test_one_variable_never_stands_for_two_values(tmp_path):
    servers = {
        name: {"command": "x", "env": {"API_KEY": value}} for name, value in (("a", "one"), ("b", "two"))
    }
    servers["c"] = {"command": "x", "env": {"API_KEY": "one"}}
    found = imported(tmp_path, ".mcp.json", {"mcpServers": servers})
    names = [entry_of(found, name)["env"]["API_KEY"] for name in "abc"]
    assert names == ["${API_KEY}", "${B_API_KEY}", "${API_KEY}"]


def callable_tools(root, tools, **server):
    del server
    snapshot = Snapshot.from_data(snapshot_data({"s": tools}))
    belt = packbelt.turn(load(root), snapshot, "orchestrator").belt
    return {
        name.removeprefix("mcp__s__") for name, one in belt.items() if one.state.callable and "mcp__" in name
    }


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ({"includeTools": ["a", "b"]}, {"a", "b"}),
        ({"includeTools": ["a", "b"], "excludeTools": ["b"]}, {"a"}),
        ({"excludeTools": ["b"]}, {"a", "c"}),
        ({"includeTools": []}, set()),
    ],
)
def test_lists_of_tools_are_kept(tmp_path, said, left):
    imported(tmp_path, ".gemini/settings.json", {"mcpServers": {"s": {"command": "x", **said}}})
    assert callable_tools(tmp_path / "t", ("a", "b", "c")) == left


@pytest.mark.parametrize("raw", ["a", {"a": True}, [5], None])
def test_a_list_of_tools_that_nobody_understands_refuses_the_server(tmp_path, raw):
    found = imported(
        tmp_path, ".gemini/settings.json", {"mcpServers": {"s": {"command": "x", "includeTools": raw}}}
    )
    assert server(found).outcome is Outcome.REFUSED
    assert "includeTools" in server(found).remarks[0].message


def test_codexs_lists_and_approvals(tmp_path):
    text = """[mcp_servers.s]
command = "x"
enabled_tools = ["a", "b"]
disabled_tools = ["b"]
default_tools_approval_mode = "prompt"
startup_timeout_sec = 20
[mcp_servers.s.env]
MODE = "x"
[mcp_servers.off]
command = "y"
enabled = false
"""
    found = imported(tmp_path, ".codex/config.toml", text)
    assert entry_of(found)["env"] == {"MODE": "x"}
    assert entry_of(found, "off")["disabled"] is True
    assert callable_tools(tmp_path / "t", ("a", "b", "c")) == {"a"}
    assert load(tmp_path / "t").policy("s").approve
    assert str(server(found).where) == ".codex/config.toml:1"


def test_tools_that_are_always_allowed_mean_that_the_others_are_asked_about(tmp_path):
    imported(tmp_path, ".mcp.json", {"mcpServers": {"s": {"command": "x", "alwaysAllow": ["a"]}}})
    policy = load(tmp_path / "t").policy("s")
    assert (policy.approve, policy.tools["a"].approve) == (True, False)


def test_a_name_that_no_selector_can_say_is_switched_off(tmp_path):
    imported(tmp_path, ".mcp.json", {"mcpServers": {"a, b": {"command": "x", "disabledTools": ["t"]}}})
    assert load(tmp_path / "t").policy("a, b").exposure == "off"


def test_a_server_runs_where_its_project_is(tmp_path):
    write_all(
        tmp_path / "p",
        {
            "srv/main.py": "",
            ".mcp.json": {"mcpServers": {"s": {"command": "python", "args": ["srv/main.py"]}}},
        },
    )
    found = gather(tmp_path / "p", tmp_path / "t")
    assert entry_of(found)["cwd"] == str(tmp_path / "p")


SETTINGS = {
    ("deny", "Bash"): (["Bash"], [], Outcome.MAPPED),
    ("deny", "mcp__s__drop"): (["s/drop"], [], Outcome.MAPPED),
    ("deny", "mcp__s"): (["s/*"], [], Outcome.MAPPED),
    ("deny", "mcp__later__drop"): (["later/drop"], [], Outcome.MAPPED),
    ("deny", "Bash(curl:*)"): ([], ["Bash"], Outcome.APPROXIMATED),
    ("deny", "Read(./.env)"): ([], ["Read", "Glob", "Grep", "LS", "NotebookRead"], Outcome.APPROXIMATED),
    ("deny", "Bash(*)"): (["Bash"], [], Outcome.MAPPED),
    ("ask", "mcp__s__drop"): ([], ["s/drop"], Outcome.MAPPED),
    ("ask", "Bash(git push:*)"): ([], ["Bash"], Outcome.APPROXIMATED),
    ("allow", "Bash"): ([], [], Outcome.LEFT_OUT),
    ("deny", "NoSuchTool"): ([], [], Outcome.LEFT_OUT),
}


@pytest.mark.parametrize("rule", SETTINGS)
def test_permissions_of_claude_code(tmp_path, rule):
    key, entry = rule
    deny, approve, outcome = SETTINGS[rule]
    files = {
        ".mcp.json": {"mcpServers": {"s": {"command": "x"}}},
        ".claude/settings.json": {"permissions": {key: [entry], "defaultMode": "plan"}},
    }
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    write(found.files, target)
    config = load(target).config
    assert [str(one) for one in config.deny] == deny
    assert [str(one) for one in config.approve] == approve
    item = next(item for item in found.report.items if item.name == f"{key} {entry}")
    assert item.outcome is outcome
    packbelt.turn(load(target), Snapshot.from_data(snapshot_data({"s": ("drop",)})), "orchestrator")


def test_what_the_whole_of_opencode_denies_binds_everybody(tmp_path):
    data = {
        "mcp": {"s": {"type": "local", "command": ["x"]}},
        "tools": {"s_drop": False},
        "permission": {"bash": "ask"},
    }
    found = imported(tmp_path, "opencode.json", data)
    config = load(tmp_path / "t").config
    assert ([str(x) for x in config.deny], [str(x) for x in config.approve]) == (["s/drop"], ["Bash"])
    assert {item.kind for item in found.report.items} == {Kind.SERVER, Kind.RULE}


def test_a_workspace_that_is_there_keeps_its_servers_and_rules(tmp_path):
    target = write_all(
        tmp_path / "t",
        {
            ".mcp.json": {"mcpServers": {"s": {"command": "mine", "env": {"TOKEN": SECRET}}}},
            "packbelt.yaml": "ceiling: write\ndeny: [s/drop]\n",
        },
    )
    files = {
        ".mcp.json": {"mcpServers": {"s": {"command": "theirs"}, "u": {"command": "new"}}},
        ".claude/settings.json": {"permissions": {"deny": ["mcp__u__x"]}},
    }
    found = gather(write_all(tmp_path / "p", files), target)
    with pytest.raises(
        PackbeltError, match=r"\.mcp\.json, packbelt\.yaml exist already, and nothing was written"
    ):
        write(found.files, target)
    write(found.files, target, force=True)
    workspace = load(target)
    assert (workspace.servers["s"].command, workspace.servers["s"].env) == ("mine", {"TOKEN": SECRET})
    assert workspace.servers["u"].command == "new"
    assert [str(one) for one in workspace.config.deny] == ["s/drop", "u/x"]
    assert workspace.config.ceiling == 2
    assert (target / "packbelt.yaml.orig").read_text() == "ceiling: write\ndeny: [s/drop]\n"
    assert write(gather(tmp_path / "p", target).files, target) == []
