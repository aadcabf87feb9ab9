"""Claude Code's agents: what they grant after the import is what the catalogue reads where they lie."""

import json
from pathlib import Path

import pytest
from home_world import SECRET, agent, snapshot_data, write_all

import packbelt
from packbelt.catalog import Snapshot, load
from packbelt.importers import Client, Kind, Outcome, gather, write
from packbelt.model import Origin, PackbeltError

SERVERS = {
    "github": ("get", "delete", "a__b"),
    "my server": ("find",),
    "git__hub": ("get",),
    "context7": ("new",),
}
CONFIG = {"mcpServers": {name: {"command": "none"} for name in SERVERS if name != "context7"}}
LISTS = {
    "absent": "",
    "empty": "tools: []\n",
    "text": "tools: Read, Grep, mcp__github__get\n",
    "blanks": "tools: Read Grep mcp__github__get\n",
    "quoted_list": "tools: \"[Read, 'mcp__github__get']\"\n",
    "flow": "tools: [Read, mcp__github__*]\n",
    "block": "tools:\n  - Read\n  - mcp__github\n",
    "star": 'tools: "*"\n',
    "all_servers": "tools: [mcp__*]\n",
    "specifier": "tools: Bash(git:*), Read\n",
    "joined": "tools: [mcp__my_server__find]\n",
    "unknown_server": "tools: [mcp__context7__new, mcp__nowhere__x]\n",
    "dropped_tool": "tools: [mcp__github__dropped, Read]\n",
    "unknown_name": "tools: [Playwright, Read]\n",
    "denies": "disallowedTools: Write, mcp__github__delete\n",
    "denies_a_server": "disallowed-tools: [mcp__github]\n",
    "denies_some_arguments": "disallowedTools: Bash(rm:*)\n",
    "denies_what_is_not_there": "disallowedTools: [mcp__context7__new, search]\n",
    "both": "tools: [mcp__github__*]\ndisallowedTools: [mcp__github__delete]\n",
    "references": "mcpServers: [github]\n",
    "plan": "permissionMode: plan\ntools: Read\n",
}
REFUSED = {
    "null": ("tools:\n", "`tools` has no value"),
    "number": ("tools: 5\n", "`tools` is a number"),
    "mapping": ("tools: {Read: true}\n", "`tools` is a mapping"),
    "mapping_inside": ('tools:\n  - "*": false\n  - Read\n', "`tools[1]` is a mapping"),
    "misspelt": ("allowed_tools: [Read]\n", "looks like a restriction"),
    "parenthesis": ("tools: Bash(git\n", "parenthesis"),
}


def project(root, lines):
    return write_all(root, {".mcp.json": CONFIG, ".claude/agents/one.md": agent("one", lines)})


def states(root):
    turn = packbelt.turn(load(root), Snapshot.from_data(snapshot_data(SERVERS)), "one")
    return {name: entry.state for name, entry in turn.belt.items()}


@pytest.mark.parametrize("form", LISTS)
def test_the_belt_is_the_one_of_the_file_where_it_lies(tmp_path, form):
    source, target = project(tmp_path / "source", LISTS[form]), tmp_path / "target"
    found = gather(source, target)
    write(found.files, target)
    assert states(target) == states(source)
    read = [load(root).agents["one"] for root in (source, target)]
    for key in ("tools", "disallowed_tools", "mcp_servers", "body", "description"):
        before, after = (getattr(one, key) for one in read)
        assert str(after) == str(before) or [str(x) for x in after] == [str(x) for x in before]
    assert (read[0].tools is None) == (read[1].tools is None)


@pytest.mark.parametrize("form", REFUSED)
def test_what_the_catalogue_breaks_the_import_refuses(tmp_path, form):
    lines, said = REFUSED[form]
    source = project(tmp_path / "source", lines)
    found = gather(source, tmp_path / "target")
    broken = load(source).broken
    item = next(item for item in found.report.items if item.kind is Kind.AGENT)
    assert item.outcome is Outcome.REFUSED
    assert said in item.remarks[0].message
    assert (item.remarks[0].message, item.remarks[0].mend) == (
        broken["one"].error.problem,
        broken["one"].error.mend,
    )
    assert item.where.line == broken["one"].error.where.line
    assert ".claude/agents/one.md" not in found.files


def test_an_entry_that_two_servers_answer_to_is_refused_and_a_denial_binds_both(tmp_path):
    servers = {"mcpServers": {name: {"command": "x"} for name in ("a", "a__b")}}
    files = {
        ".mcp.json": servers,
        ".claude/agents/one.md": agent("one", "tools: [mcp__a__b__c]\n"),
        ".claude/agents/two.md": agent("two", "disallowedTools: [mcp__a__b__c]\n"),
    }
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    write(found.files, target)
    one = next(item for item in found.report.items if item.name == "one")
    assert (one.outcome, str(one.where)) == (Outcome.REFUSED, ".claude/agents/one.md:4")
    assert {str(entry) for entry in load(target).agents["two"].disallowed_tools} == {"a/b__c", "a__b/c"}


def test_fm01_one_broken_file_costs_one_agent(tmp_path):
    files = {f".claude/agents/a{i}.md": agent(f"a{i}") for i in range(4)}
    files[".claude/agents/bad.md"] = "---\nname: bad\ndescription: Use when: tests fail\n---\nx\n"
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t")
    assert [name for name in found.files if name.endswith(".md")] == [
        f".claude/agents/a{i}.md" for i in range(4)
    ]
    bad = next(item for item in found.report.items if item.outcome is Outcome.REFUSED)
    assert (bad.name, str(bad.where)) == ("bad", ".claude/agents/bad.md:3")
    assert "in quotes" in bad.remarks[0].mend


def test_fm02_broken_front_matter_is_not_imported_with_all_tools(tmp_path):
    text = "---\nname: one\ndescription: D.\ntools: [Read\nmodel: x\n---\nx\n"
    found = gather(write_all(tmp_path / "p", {".claude/agents/one.md": text}), tmp_path / "t")
    assert not [name for name in found.files if name.endswith(".md")]
    assert found.report.refused


def test_fm08_bom_and_crlf_are_read_like_the_plain_file(tmp_path):
    plain = agent("one", "tools: Read\n")
    for i, data in enumerate((b"\xef\xbb\xbf" + plain.encode(), plain.replace("\n", "\r\n").encode())):
        path = write_all(tmp_path / str(i), {".claude/agents/one.md": ""}) / ".claude/agents/one.md"
        path.write_bytes(data)
        assert gather(tmp_path / str(i), tmp_path / "t").files[".claude/agents/one.md"] == plain


def test_fm22_a_list_that_holds_a_mapping_is_refused_and_a_quoted_star_comes_back_as_one(tmp_path):
    files = {
        ".claude/agents/one.md": agent("one", 'tools:\n  - "*": false\n  - read\n'),
        ".claude/agents/two.md": agent("two", 'tools:\n  - "*"\n'),
    }
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    write(found.files, target)
    workspace = load(target)
    assert "one" not in workspace.agents
    assert [str(entry) for entry in workspace.agents["two"].tools] == ["*"]


def test_a_project_that_is_the_workspace_keeps_its_files(tmp_path):
    source = project(tmp_path, "tools: Read\n")
    found = gather(source, source)
    assert list(found.files) == ["packbelt.yaml"]
    assert write(found.files, source) == ["packbelt.yaml"]
    became = {item.became for item in found.report.items}
    assert ".claude/agents/one.md (read in place)" in became
    assert ".mcp.json: github (read in place)" in became


def test_an_agents_own_server_is_copied_without_its_secret(tmp_path):
    lines = (
        "tools: [mcp__db__query]\nmcpServers:\n  - github\n"
        f"  - db: {{command: db, env: {{DB_PASSWORD: {SECRET}}}}}\n  - old: {{type: sse, url: 'https://x.example'}}\n"
        "model: opus\n"
    )
    source, target = project(tmp_path / "source", lines), tmp_path / "target"
    found = gather(source, target)
    write(found.files, target)
    text = (target / ".claude/agents/one.md").read_text()
    assert SECRET not in text
    assert "model: opus" in text
    one, before = load(target).agents["one"], load(source).agents["one"]
    assert (one.inline, one.mcp_servers) == (before.inline, before.mcp_servers)
    assert load(target).inline["one.db"].env == {"DB_PASSWORD": "${DB_PASSWORD}"}
    assert found.report.variables == {"DB_PASSWORD": ("db",)}


def test_an_agent_that_cannot_be_changed_alone_is_refused(tmp_path):
    text = f"---\n{{name: one, description: D., mcpServers: [{{db: {{command: db, env: {{TOKEN: {SECRET}}}}}}}]}}\n---\nx\n"
    found = gather(write_all(tmp_path / "p", {".claude/agents/one.md": text}), tmp_path / "t")
    assert found.report.refused
    assert not [name for name in found.files if SECRET in found.files[name]]


PLUGIN = {
    ".claude-plugin/plugin.json": {"name": "ops"},
    ".mcp.json": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/db"}},
    "agents/keeper.md": agent(
        "keeper",
        "permissionMode: bypassPermissions\nmcpServers:\n  - other: {command: x}\n"
        "tools: [mcp__plugin_ops_db__query]\n",
    ),
}


def test_a_plugins_agents_and_servers(tmp_path):
    root, target = write_all(tmp_path / "ops", PLUGIN), tmp_path / "t"
    found = gather(root, target)
    write(found.files, target)
    assert {item.scope for item in found.report.items} == {Origin.PLUGIN}
    workspace = load(target)
    assert workspace.servers["plugin:ops:db"].command == f"{root}/db"
    keeper = workspace.agents["keeper"]
    assert [str(entry) for entry in keeper.tools] == ["plugin:ops:db/query"]
    assert keeper.inline == ()  # Claude Code passes over a plugin agent's own servers
    assert "bypass" not in (target / ".claude/agents/keeper.md").read_text()


def test_plugins_of_one_agents_name_are_told_apart_and_hide_none_of_a_projects(tmp_path):
    files = {"plugins/a/agents/x.md": agent("x", "tools: Read\n"), "plugins/b/agents/x.md": agent("x")}
    files |= {f"plugins/{name}/.claude-plugin/plugin.json": {"name": name} for name in "ab"}
    files[".claude/agents/x.md"] = agent("x", "tools: []\n")
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    write(found.files, target)
    agents = load(target).agents
    assert [str(entry) for entry in agents["a-x"].tools] == ["Read"]
    assert agents["b-x"].tools is None
    assert agents["x"].tools == ()


def test_a_nearer_file_that_is_refused_still_hides_a_wider_one(tmp_path):
    files = {
        ".claude/agents/x.md": agent("x", "tools:\n"),
        ".opencode/agents/x.md": "---\ndescription: The same name, everything allowed.\n---\nx\n",
    }
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t")
    assert [item.outcome for item in found.report.items] == [Outcome.REFUSED] * 2
    assert "is nearer, and was refused" in found.report.items[1].remarks[0].message
    assert not [name for name in found.files if name.endswith(".md")]


def test_two_files_of_one_name_in_a_folder_and_pages_beside_them(tmp_path):
    files = {
        "a.md": agent("x", "tools: Read\n"),
        "b.md": agent("x"),
        "README.md": "# Agents\n",
        "notes.md": "# N\n",
    }
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t", client=Client.CLAUDE_CODE)
    outcomes = {str(item.where): item.outcome for item in found.report.items}
    assert outcomes == {"a.md:1": Outcome.MAPPED, "b.md:1": Outcome.REFUSED, "notes.md:1": Outcome.REFUSED}
    assert "tools: Read" in found.files[".claude/agents/x.md"]


def test_names_that_a_file_system_takes_for_one(tmp_path):
    files = {"a.md": agent("Coder"), "b.md": agent("coder"), "c.md": agent("c der"), "d.md": agent("..")}
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t", client=Client.CLAUDE_CODE)
    names = [name for name in found.files if name.endswith(".md")]
    assert len({name.lower() for name in names}) == 4
    assert all(Path(name).parent == Path(".claude/agents") for name in names)


def test_nothing_to_import_says_what_to_name(tmp_path):
    write_all(tmp_path / "p", {"x.md": agent("x")})
    with pytest.raises(PackbeltError, match="for a folder of agents say --from claude-code"):
        gather(tmp_path / "p", tmp_path / "t")
    with pytest.raises(PackbeltError, match="there is no such path"):
        gather(tmp_path / "q", tmp_path / "t")


OPENCODE = {
    "denies": ({"tools": {"bash": False, "github_delete": False}}, None, {"Bash", "mcp__github__delete"}),
    "closed": ({"tools": {"*": False, "read": True, "github_*": True}}, {"Read", "mcp__github__*"}, set()),
    "later_wins": ({"tools": {"bash": False, "*": True}}, None, set()),
    "permission": ({"permission": {"edit": "deny"}}, None, {"Edit", "MultiEdit", "NotebookEdit", "Write"}),
    "arguments": ({"permission": {"bash": {"*": "deny", "git *": "allow"}}}, None, {"Bash"}),
    "all": ({"permission": "deny"}, set(), set()),
    "pattern": ({"tools": {"git*": False}}, None, {"git*", "mcp__github__*", "mcp__git__hub__*"}),
    "unknown_grant": ({"tools": {"*": False, "mystery": True}}, set(), set()),
}


@pytest.mark.parametrize("form", OPENCODE)
def test_opencodes_agents(tmp_path, form):
    said, tools, denied = OPENCODE[form]
    files = {".mcp.json": CONFIG, "opencode.json": {"agent": {"one": {"description": "D.", **said}}}}
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    text = found.files[".claude/agents/one.md"].split("\n---")[0].split("\n")
    lists = dict(line.split(": ", 1) for line in text[1:])
    assert ("tools" in lists) == (tools is not None)
    assert set(json.loads(lists.get("tools", "[]"))) == (tools or set())
    assert denied <= set(json.loads(lists.get("disallowedTools", "[]")))
    assert bool(denied) == ("disallowedTools" in lists)
    write(found.files, target)


@pytest.mark.parametrize(
    "said",
    [
        {"tools": ["bash"]},
        {"tools": {"bash": "no"}},
        {"permission": {"bash": "never"}},
        {"permission": 5},
        {"permissions": [{"action": "shell", "effect": "deny"}]},
    ],
)
def test_a_restriction_of_opencode_that_nobody_understands_refuses_the_agent(tmp_path, said):
    files = {"opencode.json": {"agent": {"one": {"description": "D.", **said}}}}
    found = gather(write_all(tmp_path / "p", files), tmp_path / "t")
    assert [(item.name, item.outcome) for item in found.report.items] == [("one", Outcome.REFUSED)]


def test_opencodes_own_files_of_agents(tmp_path):
    files = {
        ".opencode/agents/look.md": "---\ndescription: Looks.\ntools:\n  write: false\n---\nYou look. {{ sections.x }}\n",
        ".opencode/agents/none.md": "You have no front matter.\n",
        "opencode.json": {"agent": {"p": {"description": "D.", "prompt": "{file:./p.txt}"}}},
        "p.txt": "From a file.",
    }
    target = tmp_path / "t"
    found = gather(write_all(tmp_path / "p", files), target)
    write(found.files, target)
    agents = load(target).agents
    assert agents["look"].body == "You look. {{ sections.x }}"
    assert not agents["look"].is_template
    assert [str(entry) for entry in agents["look"].disallowed_tools] == [
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "Write",
    ]
    assert agents["p"].body == "From a file."
    assert next(item for item in found.report.items if item.name == "none").outcome is Outcome.REFUSED
