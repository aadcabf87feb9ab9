"""Files that somebody wrote to get more than their client gave, or that lie where they do harm."""

import json
import random
import signal
import subprocess
import sys
import time
from fnmatch import fnmatchcase

import pytest
from home_world import agent, write_all

from packbelt.catalog import load
from packbelt.importers import Outcome, gather, write
from packbelt.importers.documents import read_json, read_toml
from packbelt.importers.opencode_tools import Spelling
from packbelt.model import Exposure, Level, Origin, PackbeltError

IMPORT = [sys.executable, "-m", "packbelt", "import"]


def into(tmp_path, files, target=None, **options):
    target = target or tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target, **options)
    write(found.files, target, force=True)
    workspace = load(target)
    assert [one.message for one in workspace.diagnostics if one.level is Level.ERROR] == []
    return found, workspace


def item(found, name):
    return next(one for one in found.report.items if one.name == name)


# where it is written


def test_a_link_in_the_workspace_leads_no_file_out_of_it(tmp_path):
    target, victim = tmp_path / "t", tmp_path / "victim"
    victim.mkdir()
    target.mkdir()
    (target / ".claude").symlink_to(victim)
    found = gather(write_all(tmp_path / "p", {".claude/agents/a.md": agent("a")}), target)
    with pytest.raises(PackbeltError, match="leads out of the workspace"):
        write(found.files, target, force=True)
    assert list(victim.iterdir()) == []
    assert [path.name for path in target.iterdir()] == [".claude"]


def test_cut_short_at_any_moment_there_is_no_server_without_its_rules(tmp_path):
    files = {f".claude/agents/a{i}.md": agent(f"a{i}") for i in range(150)}
    files[".mcp.json"] = {"mcpServers": {"s": {"command": "x", "disabledTools": ["drop"]}}}
    source = write_all(tmp_path / "p", files)
    for i in range(3):
        target = tmp_path / f"t{i}"
        child = subprocess.Popen([*IMPORT, str(source), "--into", str(target)], stdout=subprocess.DEVNULL)
        seen = (target / ".mcp.json", target / "packbelt.yaml", target / ".claude" / "agents")[i]
        while child.poll() is None and not seen.exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if (target / ".mcp.json").exists():
            assert "s/drop" in (target / "packbelt.yaml").read_text()
        if list(target.glob(".claude/agents/*.md")):
            assert (target / ".mcp.json").exists()


def test_what_is_overwritten_keeps_its_mode_and_its_other_keys(tmp_path):
    target = tmp_path / "t"
    there = {"$schema": "x", "mcpServers": {"old": {"command": "o"}}}
    write_all(target, {".mcp.json": there})
    (target / ".mcp.json").chmod(0o600)
    into(tmp_path, {".cursor/mcp.json": {"mcpServers": {"new": {"command": "n"}}}})
    written = json.loads((target / ".mcp.json").read_text())
    assert written == {"$schema": "x", "mcpServers": {"new": {"command": "n"}, "old": {"command": "o"}}}
    assert (target / ".mcp.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((target / ".mcp.json.orig").read_text()) == there


def test_an_agent_with_a_name_longer_than_any_file_has_one(tmp_path):
    _, workspace = into(tmp_path, {".claude/agents/a.md": agent("a" * 300)})
    assert "a" * 300 in workspace.agents


def test_rules_for_a_server_that_is_read_in_place_are_proved_with_it(tmp_path):
    files = {
        ".mcp.json": {"mcpServers": {"s": {"command": "x"}}},
        ".claude/settings.json": {"permissions": {"deny": ["mcp__s__drop"]}},
    }
    _, workspace = into(tmp_path, files, tmp_path / "p")
    assert [str(one) for one in workspace.config.deny] == ["s/drop"]


def test_a_workspace_with_packs_and_agents_of_its_own_takes_more_in(tmp_path):
    pack = "id: x\nsummary: s\ntools:\n  - name: t\n    description: d\n    input_schema: {type: object}\n"
    there = {"packbelt.yaml": 'deny: ["pack:x"]\n', "packs/x.yaml": pack}
    write_all(tmp_path / "t", there)
    rules = {".claude/settings.json": {"permissions": {"deny": ["WebFetch"]}}}
    _, workspace = into(tmp_path, rules)
    assert [str(one) for one in workspace.config.deny] == ["pack:x", "WebFetch"]


def test_a_dry_run_says_what_is_in_the_way_and_writes_nothing(tmp_path):
    source = write_all(tmp_path / "p", {".cursor/mcp.json": {"mcpServers": {"s": {"command": "x"}}}})
    target = write_all(tmp_path / "t", {"packbelt.yaml": "deny: []\n"})

    def run(*more):
        command = [*IMPORT, str(source), "--into", str(target), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    said = run("--dry-run", "--json")
    assert (said.returncode, json.loads(said.stdout)["in_the_way"]) == (0, [])
    (target / ".mcp.json").write_text("{}")
    assert json.loads(run("--dry-run", "--json").stdout)["in_the_way"] == [".mcp.json"]
    assert "takes --force" in run("--dry-run").stdout
    assert json.loads(run("--dry-run", "--json", "--force").stdout)["in_the_way"] == []
    assert sorted(path.name for path in target.iterdir()) == [".mcp.json", "packbelt.yaml"]
    assert run().returncode == 2


# what it is called


def test_no_name_of_a_server_costs_the_others(tmp_path):
    names = ["pack:core", "a/b", "a", "🚀", "g*", "[x]", " pad ", "with space", "plain"]
    servers = {name: {"command": "x", "disabledTools": ["t"]} for name in names}
    found, workspace = into(tmp_path, {".mcp.json": {"mcpServers": servers}})
    assert set(workspace.servers) == set(names)
    denied = {str(one).rpartition("/")[0] for one in workspace.config.deny}
    off = {name for name in names if name not in denied}
    assert off == {"pack:core", " pad "}
    assert all(workspace.config.servers[name].exposure is Exposure.OFF for name in off)
    assert all(item(found, name).outcome is Outcome.APPROXIMATED for name in off)


def test_an_agent_of_opencode_may_have_any_letter(tmp_path):
    agents = {"rocket": {"description": "🚀 Starts.", "prompt": "🚀"}}
    _, workspace = into(tmp_path, {"opencode.json": {"agent": agents}})
    assert workspace.agents["rocket"].description == "🚀 Starts."


def test_an_agent_gets_no_server_of_another_client_that_has_the_name_of_its_own(tmp_path):
    agents = {
        "x": {"description": "D.", "tools": {"*": False, "db_*": True}},
        "y": {"description": "D.", "tools": {"*": False, "same_*": True}},
    }
    files = {
        ".mcp.json": {"mcpServers": {"db": {"command": "admin"}, "same": {"command": "a", "args": ["b"]}}},
        "opencode.json": {
            "mcp": {
                "db": {"type": "local", "command": ["reader"]},
                "same": {"type": "local", "command": ["a", "b"]},
            },
            "agent": agents,
        },
    }
    found, workspace = into(tmp_path, files)
    assert workspace.servers["db"].command == "admin"
    assert item(found, "x").outcome is Outcome.REFUSED
    assert "x" not in workspace.agents
    assert [str(one) for one in workspace.agents["y"].tools] == ["same/*"]


def test_a_second_import_of_a_server_with_a_secret_finds_the_same_server(tmp_path):
    files = {
        ".claude/agents/a.md": agent("a", "tools: [mcp__s__get]\n"),
        ".mcp.json": {"mcpServers": {"s": {"command": "./x", "env": {"API_KEY": "hunter2short"}}}},
        "x": "",
    }
    first, _ = into(tmp_path, files)
    second, workspace = into(tmp_path, files)
    assert second.files == {".claude/agents/a.md": first.files[".claude/agents/a.md"]}
    assert [str(one) for one in workspace.agents["a"].tools] == ["s/get"]
    assert not second.report.refused
    lost = [one for one in second.report.items if one.outcome is Outcome.LEFT_OUT]
    assert [one.name for one in lost] == ["s"]
    assert "has the same server" in lost[0].remarks[0].message


# what it says of tools


def test_a_list_of_tools_holds_where_the_ceiling_is_dangerous_already(tmp_path):
    write_all(tmp_path / "t", {"packbelt.yaml": "ceiling: dangerous\n"})
    files = {".gemini/settings.json": {"mcpServers": {"s": {"command": "x", "includeTools": ["a"]}}}}
    _, workspace = into(tmp_path, files)
    assert workspace.config.servers["s"].exposure is Exposure.OFF


def test_a_policy_that_is_there_does_not_swallow_a_list_of_tools(tmp_path):
    write_all(tmp_path / "t", {"packbelt.yaml": "servers:\n  s: {exposure: packed}\n"})
    files = {".gemini/settings.json": {"mcpServers": {"s": {"command": "x", "includeTools": ["a"]}}}}
    found, workspace = into(tmp_path, files)
    assert item(found, "s").outcome is Outcome.REFUSED
    assert not workspace.servers


OPENCODE = {
    "default_denied": ({"*": "deny", "bash": {"git *": "allow"}}, False),
    "default_denied_later_allowed": ({"*": "deny", "bash": {"*": "allow", "rm *": "deny"}}, True),
    "denied_by_a_pattern": ({"ba*": "deny", "bash": {"git *": "allow"}}, False),
    "allowed": ({"bash": {"git *": "allow"}}, True),
}


@pytest.mark.parametrize("case", OPENCODE)
def test_rules_about_arguments_grant_no_tool_that_is_off_without_them(tmp_path, case):
    permission, callable_ = OPENCODE[case]
    raw = {"opencode.json": {"agent": {"a": {"description": "D.", "permission": permission}}}}
    _, workspace = into(tmp_path, raw)
    one = workspace.agents["a"]
    granted = one.tools is None or "Bash" in [str(entry) for entry in one.tools]
    denied = "Bash" in [str(entry) for entry in one.disallowed_tools]
    assert (granted and not denied) is callable_


def test_what_is_asked_about_by_default_is_asked_about_here(tmp_path):
    permission = {"*": "ask", "bash": {"git *": "allow"}}
    raw = {"opencode.json": {"agent": {"a": {"description": "D.", "permission": permission}}}}
    _, workspace = into(tmp_path, raw)
    assert next(str(one) for one in workspace.config.approve) in ("*", "Bash")


def test_a_pattern_of_opencode_denies_every_tool_that_it_means():
    letters = random.Random(3)
    wild = 0
    for _ in range(4000):
        pattern = "".join(letters.choices("ab_*?", k=letters.randint(1, 6)))
        server = letters.choice(["a", "ab", "a_b"])
        tool = "".join(letters.choices("ab_", k=letters.randint(1, 4)))
        if not fnmatchcase(f"{server}_{tool}", pattern):
            continue
        wild += 1
        denied = Spelling((server,)).denies([pattern])
        assert any(fnmatchcase(f"mcp__{server}__{tool}", one) for one in denied), (pattern, server, tool)
    assert wild > 200


def test_a_rule_about_paths_holds_for_every_tool_of_its_kind(tmp_path):
    rules = {"deny": ["Edit(/secrets/**)"], "ask": ["Read(./.env)"]}
    _, workspace = into(tmp_path, {".claude/settings.json": {"permissions": rules}})
    assert {"Write", "NotebookEdit", "Grep", "Glob"} <= {str(one) for one in workspace.config.approve}


def test_arguments_of_a_servers_tool_are_denied_with_all_of_it(tmp_path):
    files = {
        ".mcp.json": {"mcpServers": {"s": {"command": "x"}}},
        ".claude/settings.json": {"permissions": {"deny": ["mcp__s__drop(all)"]}},
    }
    found, workspace = into(tmp_path, files)
    assert [str(one) for one in workspace.config.deny] == ["s/drop"]
    assert workspace.config.approve == ()
    assert item(found, "deny mcp__s__drop(all)").outcome is Outcome.APPROXIMATED


@pytest.mark.parametrize(
    ("rule", "denied"),
    [
        ("Task(a)", ["delegate_to_a"]),
        ("Agent(a)", ["delegate_to_a"]),
        ("Task", ["Task", "delegate_to_a", "delegate_to_b"]),
        ("Agent(Explore)", []),
    ],
)
def test_an_agent_that_nobody_may_start_is_handed_nothing(tmp_path, rule, denied):
    files = {f".claude/agents/{name}.md": agent(name) for name in "ab"}
    files[".claude/settings.json"] = {"permissions": {"deny": [rule]}}
    found, workspace = into(tmp_path, files)
    assert [str(one) for one in workspace.config.deny] == denied
    outcome = item(found, f"deny {rule}").outcome
    assert outcome is (Outcome.MAPPED if denied else Outcome.LEFT_OUT)


def test_an_agent_of_a_plugin_that_nobody_may_start_is_handed_nothing(tmp_path):
    files = {
        "plugins/kit/.claude-plugin/plugin.json": {"name": "kit"},
        "plugins/kit/agents/a.md": agent("a"),
        ".claude/agents/a.md": agent("a"),
        ".claude/settings.json": {"permissions": {"deny": ["Agent(kit:a)"]}},
    }
    _, workspace = into(tmp_path, files)
    assert [str(one) for one in workspace.config.deny] == ["delegate_to_kit-a"]


def test_permissions_that_cannot_be_read_are_refused_one_by_one(tmp_path):
    rules = {"deny": ["WebFetch", ["Bash"], {"Bash": True}], "ask": {"Write": True}}
    found, workspace = into(tmp_path, {".claude/settings.json": {"permissions": rules}})
    assert [str(one) for one in workspace.config.deny] == ["WebFetch"]
    refused = [one.name for one in found.report.items if one.outcome is Outcome.REFUSED]
    assert refused == ["deny 2", "deny 3", "ask"]


# what is switched off


@pytest.mark.parametrize(
    "settings",
    [
        {"deniedMcpServers": [{"serverName": "s"}]},
        {"deniedMcpServers": [{"serverCommand": ["x", "y"]}]},
        {"allowedMcpServers": [{"serverName": "other"}]},
        {"allowedMcpServers": []},
        {"disabledMcpjsonServers": ["s"]},
    ],
)
def test_a_server_that_claude_code_would_not_start_is_switched_off(tmp_path, settings):
    files = {
        ".mcp.json": {"mcpServers": {"s": {"command": "x", "args": ["y"]}}},
        ".claude/settings.json": settings,
    }
    _, workspace = into(tmp_path, files)
    assert "s" not in workspace.servers


def test_what_a_person_switched_off_for_the_project_stays_off(tmp_path):
    target = tmp_path / "t"
    project = {"mcpServers": {"s": {"command": "x"}}, "disabledMcpServers": ["s"]}
    files = {".claude.json": {"projects": {str(target.resolve()): project}}}
    _, workspace = into(tmp_path, files, target)
    assert "s" not in workspace.servers


@pytest.mark.parametrize("switch", [{"disabled": "true"}, {"enabled": 0}])
def test_a_switch_that_is_no_boolean_is_refused(tmp_path, switch):
    found, workspace = into(tmp_path, {".mcp.json": {"mcpServers": {"s": {"command": "x", **switch}}}})
    assert item(found, "s").outcome is Outcome.REFUSED
    assert not workspace.servers


# where it runs


def test_the_open_project_of_a_persons_own_file_is_the_workspace_and_never_the_home(tmp_path):
    entry = {"command": "files", "args": ["${workspaceFolder}"]}
    files = {".cursor/mcp.json": {"mcpServers": {"s": entry}}, ".claude.json": {}}
    _, workspace = into(tmp_path, files)
    assert workspace.servers["s"].args == (str((tmp_path / "t").resolve()),)


def test_a_directory_of_windows_is_left_as_it_is(tmp_path):
    entry = {"command": "C:\\tools\\x.exe", "cwd": "C:\\work"}
    _, workspace = into(tmp_path, {".cursor/mcp.json": {"mcpServers": {"s": entry}}})
    assert (workspace.servers["s"].command, workspace.servers["s"].cwd) == ("C:\\tools\\x.exe", "C:\\work")


# plugins that a person has installed


def plugins(tmp_path):
    cache = tmp_path / "p/.claude/plugins/cache/market"
    listed = {
        "on@market": [{"scope": "user", "installPath": str(cache / "on/1.0.0")}],
        "off@market": [{"scope": "user", "installPath": str(cache / "off/1.0.0")}],
        "old@market": {"installPath": str(cache / "old/1.0.0")},
        "gone@market": [{"scope": "user", "installPath": str(cache / "gone/1.0.0")}],
        "away@market": [{"scope": "user", "installPath": str(tmp_path / "away")}],
        "mine@market": [{"scope": "project", "installPath": str(cache / "mine/1.0.0")}],
    }
    enabled = {name: not name.startswith("off") for name in listed}
    files = {
        ".claude.json": {},
        ".claude/plugins/installed_plugins.json": {"version": 2, "plugins": listed},
        ".claude/settings.json": {"enabledPlugins": enabled},
    }
    for name in ("on", "off", "old", "mine"):
        files[f".claude/plugins/cache/market/{name}/1.0.0/agents/{name}.md"] = agent(name)
    write_all(tmp_path, {"away/agents/away.md": agent("away")})
    top = ".claude/plugins/cache/market/on/1.0.0"
    files[f"{top}/.claude-plugin/plugin.json"] = {"name": "on", "mcpServers": "./servers.json"}
    entry = {"command": "${CLAUDE_PLUGIN_ROOT}/x", "env": {"K": "${user_config.api_key}"}}
    files[f"{top}/servers.json"] = {"mcpServers": {"s": entry}}
    return files


def test_installed_plugins_that_are_on_come_with_the_home_directory(tmp_path):
    found, workspace = into(tmp_path, plugins(tmp_path))
    assert {name for name in workspace.agents if name != "orchestrator"} == {"on", "old"}
    assert {one.scope for one in found.report.items} == {Origin.PLUGIN}
    (server,) = workspace.servers.values()
    assert (server.name, dict(server.env)) == ("plugin:on:s", {"K": "${API_KEY}"})
    assert server.command.endswith("/cache/market/on/1.0.0/x")


# time


def test_comments_and_strings_that_never_end_are_read_in_one_go():
    for text in ('{"a": 1, ' + "/* " * 200_000, '//\n{"' + '\\"' * 200_000):
        with pytest.raises(PackbeltError):
            read_json(text, "f")


def test_a_key_with_a_hundred_thousand_dots_is_refused_at_once():
    with pytest.raises(PackbeltError, match="too many dots") as caught:
        read_toml("b = 1\na" + ".a" * 100_000 + " = 1\n", "f")
    assert str(caught.value.where) == "f:2"


def test_a_broken_file_of_servers_is_told_by_its_names_in_one_go(tmp_path):
    text = '{"mcpServers": {"known": {"command": "x"}, "' + '\\"' * 200_000
    workspace = load(write_all(tmp_path, {".mcp.json": text}))
    assert [one.code for one in workspace.diagnostics if one.level is Level.ERROR] == ["server.broken"]
    grants = {".claude/agents/a.md": agent("a", "tools: [mcp__known__get]\n")}
    turn = load(write_all(tmp_path, grants)).agents["a"]
    assert [str(one) for one in turn.tools] == ["known/get"]
