"""Breaking a file, in whatever way, never puts something wider in its place."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from packbelt.catalog import Snapshot, load
from packbelt.catalog.registry import bind
from packbelt.model import Code, Level, ServerStatus, WorkspaceError

ROOT = "---\nname: orchestrator\ndescription: Root.\ntools: [alpha]\ndelegates: []\n---\nHi\n"
PACK = {"packs/p.yaml": "tools: [{name: alpha}, {name: beta}]\n"}


def agent(name: str, lines: str = "tools: []") -> str:
    return f"---\nname: {name}\ndescription: D.\n{lines}\n---\nBody\n"


def link_out(path: Path) -> None:
    path.symlink_to("/etc/hostname")


BREAKS: dict[str, str | bytes | Callable[[Path], None]] = {
    "latin": ROOT.replace("Root.", "Caf\xe9.").encode("latin-1"),
    "utf16": ROOT.encode("utf-16"),
    "utf16_without_mark": ROOT.encode("utf-16-le"),
    "empty": "",
    "big": ROOT + "x" * (1 << 20),
    "indented": ROOT.replace("name:", "  name:"),
    "misspelt": ROOT.replace("name:", "nmae:"),
    "misspelt_and_unreadable": ROOT.replace("name:", "nmae:").replace("[alpha]", "[alpha"),
    "quoted": ROOT.replace("name:", '"name":').replace("[alpha]", "[alpha"),
    "flow": "---\n{name: orchestrator, description: Root., tools: [alpha, delegates: []}\n---\n",
    "flow_with_null": "---\n{name: orchestrator, description: Root., tools: null}\n---\n",
    "cut_in_the_name": ROOT[: ROOT.index("strator")],
    "cut_before_the_name": "---\n",
    "twice": ROOT.replace("name: orchestrator", "name: another\nname: orchestrator"),
    "open_quote": ROOT.replace("name: orchestrator", 'name: "orchestrator'),
    "next_line": ROOT.replace("name: orchestrator", "name:\n  orchestrator").replace("[alpha]", "[alpha"),
    "no_fence": ROOT.removeprefix("---\n"),
    "number": ROOT.replace("name: orchestrator", "name: 5"),
    "link_out": link_out,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("way", BREAKS)
@pytest.mark.parametrize("folder", ["prompts/agents", ".claude/agents"])
def test_a_broken_file_of_the_root_agent_is_not_replaced_by_an_implied_root(write, folder, way):
    root = write({**PACK, f"{folder}/other.md": agent("other")})
    path = root / folder / "main.md"
    content = BREAKS[way]
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    workspace = load(root)
    assert "orchestrator" in workspace.broken
    assert "orchestrator" not in workspace.agents
    assert "other" in workspace.agents
    assert "main.md" in str(workspace.broken["orchestrator"].error)


def test_a_folder_called_as_the_root_agents_file_is_a_broken_file(write):
    root = write({**PACK, "prompts/agents/a.md": agent("a")})
    (root / "prompts/agents/orchestrator.md").mkdir()
    workspace = load(root)
    assert set(workspace.broken) == {"orchestrator"}
    assert "regular file" in workspace.broken["orchestrator"].error.problem


@pytest.mark.parametrize(
    "text",
    [
        agent("x", "tools: [").replace("name: x\n", ""),
        agent("x", "tools: ["),
        agent("x # the x", "tools: ["),
        agent('"x"', "tools:"),
        agent("x", "tool: [a]"),
        agent("x", "tools: [") + "\nname: y\n",
    ],
)
def test_a_broken_file_of_a_sure_name_costs_only_itself(write, text):
    workspace = load(write({"prompts/agents/x.md": text, ".claude/agents/w.md": agent("w")}))
    assert {name: broken.named for name, broken in workspace.broken.items()} == {"x": True}
    assert set(workspace.agents) == {"orchestrator", "w"}


def test_a_nearer_file_of_an_unknown_name_breaks_the_farther_agents_it_may_define(write):
    files = {
        "prompts/agents/orchestrator.md": ROOT,
        "prompts/agents/v.md": agent("v"),
        "prompts/agents/z.md": "",
        ".claude/agents/v.md": agent("v", "color: red"),
        ".claude/agents/w.md": agent("w", "color: red"),
    }
    workspace = load(write(files))
    assert set(workspace.agents) == {"orchestrator", "v"}
    assert set(workspace.broken) == {"z", "w"}
    assert "prompts/agents/z.md" in workspace.broken["w"].error.problem
    assert str(workspace.broken["w"].error.where) == ".claude/agents/w.md:1"


def test_a_farther_file_of_an_unknown_name_costs_its_neighbours_nothing(write):
    files = {
        "prompts/agents/orchestrator.md": ROOT,
        ".claude/agents/a.md": "",
        ".claude/agents/w.md": agent("w"),
    }
    workspace = load(write(files))
    assert set(workspace.agents) == {"orchestrator", "w"}


def test_a_read_me_in_another_encoding_is_no_agent(write):
    workspace = load(write({"prompts/agents/README.md": "# Caf\xe9\n".encode("latin-1")}))
    assert not workspace.broken
    assert "orchestrator" in workspace.agents


def connected(*servers: str) -> Snapshot:
    state = {"status": "connected", "tools": [{"name": "b/c"}]}
    return Snapshot.from_data({"servers": dict.fromkeys(servers, state)})


def test_servers_of_a_file_of_an_unknown_name_stay_private(write):
    workspace = load(write({"prompts/agents/z.md": ""}))
    assert bind(workspace, connected("w.db", "git")).private == {"w.db"}


def test_a_broken_inline_server_that_a_snapshot_remembers_stays_private(write):
    text = agent("w", "mcpServers: {db: {type: sse, url: 'https://x'}}")
    workspace = load(write({".claude/agents/w.md": text}))
    registry = bind(workspace, connected("w.db"))
    assert "w.db" in registry.private
    assert "'sse'" in workspace.unusable_servers["w.db"]
    assert registry.state("db").status is ServerStatus.FAILED


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ({"comand": "x"}, ServerStatus.FAILED),
        (None, ServerStatus.FAILED),
        ({"type": "sse", "url": "https://x"}, ServerStatus.FAILED),
        ({"command": "x", "disabled": True}, ServerStatus.DISCONNECTED),
    ],
)
def test_the_name_of_an_entry_that_cannot_be_used_stays_known(write, entry, status):
    text = json.dumps({"mcpServers": {"a": {"command": "x"}, "a/b": entry}})
    workspace = load(
        write({".mcp.json": text, "packbelt.yaml": 'deny: ["a/b/*"]\n', "prompts/agents/w.md": agent("w")})
    )
    registry = bind(workspace, connected("a"))
    assert registry.servers == ["a", "a/b"]
    state = registry.state("a/b")
    assert (state.status, bool(state.error), state.tools) == (status, status is ServerStatus.FAILED, ())
    assert [s.readings(registry.masks) for s in workspace.config.deny] == [[("a", "b/*"), ("a/b", "*")]]


def test_a_claude_entry_of_two_readings_keeps_both_where_one_server_is_broken(write):
    text = json.dumps({"mcpServers": {"a": {"command": "x"}, "a__b": {}}})
    workspace = load(write({".mcp.json": text, ".claude/agents/w.md": agent("w", "tools: mcp__a__b__c")}))
    assert "'a__b/c'" in workspace.broken["w"].error.problem


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {"a": {"command": "x"}, "a/b": {"command": "y"},}}', '{"mcp']
)
def test_an_entry_that_may_mean_two_servers_is_refused_while_mcp_json_cannot_be_read(write, text):
    files = {
        ".mcp.json": text,
        "prompts/agents/w.md": agent("w", 'tools: ["a/b/c"]'),
        "prompts/agents/v.md": agent("v", 'tools: ["a/c"]'),
        ".claude/agents/u.md": agent("u", "tools: mcp__a__b__c"),
        ".claude/agents/t.md": agent("t", "tools: mcp__a__b"),
    }
    workspace = load(write(files))
    assert set(workspace.broken) == {"w", "u"}
    assert {"v", "t"} <= set(workspace.agents)


def test_names_that_can_be_read_in_a_broken_mcp_json_stay_known(write):
    text = '{"mcpServers": {"git": {"command": "x", "env": {"A": "b"}},}}'
    workspace = load(write({".mcp.json": text, "packbelt.yaml": 'deny: ["git/*"]\n'}))
    assert set(workspace.unusable_servers) == {"git"}
    assert bind(workspace, Snapshot()).state("git").error.startswith(".mcp.json is not valid JSON")
    assert [d.code for d in workspace.diagnostics] == [Code.SERVER_BROKEN]


def test_a_deny_that_could_not_be_held_against_mcp_json_is_a_warning(write):
    workspace = load(write({".mcp.json": '{"x', "packbelt.yaml": 'deny: ["gti/*"]\n'}))
    (found,) = [d for d in workspace.diagnostics if d.code is Code.SERVER_UNKNOWN]
    assert (found.level, found.name, str(found.where)) == (Level.WARNING, "gti", "packbelt.yaml:1")
    assert ".mcp.json" in found.message


def test_a_pack_that_is_a_folder_or_lies_in_one_fails_the_load(write):
    root = write({"packs/sub/p.yaml": "id: p\n"})
    with pytest.raises(WorkspaceError, match=r"packs/sub/p\.yaml: packs are read from packs/\*\.yaml only"):
        load(root)
    (root / "packs/sub/p.yaml").unlink()
    (root / "packs/q.yaml").mkdir()
    with pytest.raises(WorkspaceError, match=r"packs/q\.yaml: is not a regular file"):
        load(root)


def test_an_imported_agent_and_a_template_that_are_folders_are_reported(write):
    root = write({"prompts/agents/orchestrator.md": ROOT, ".claude/agents/v.md": agent("v")})
    (root / ".claude/agents/w.md").mkdir()
    (root / "prompts/sections/routing.j2").mkdir(parents=True)
    workspace = load(root)
    assert set(workspace.broken) == {"w"}
    assert "routing" not in workspace.templates
    assert {d.code for d in workspace.diagnostics} == {Code.AGENT_BROKEN, Code.TEMPLATE_BROKEN}


@pytest.mark.parametrize(
    ("target", "words"),
    [("nowhere", "to nothing"), ("a.md", "in a circle"), ("/nonexistent/x", "to nothing")],
)
def test_a_link_that_leads_nowhere_is_not_said_to_lead_out(write, target, words):
    root = write({"prompts/agents/orchestrator.md": ROOT, "skills/t/x": ""})
    (root / "prompts/agents/a.md").symlink_to(target)
    (root / "skills/s").symlink_to("s" if target == "a.md" else target)
    (root / ".mcp.json").symlink_to(".mcp.json" if target == "a.md" else target)
    problems = [d.message for d in load(root).diagnostics]
    assert len(problems) == 3
    assert all(words in problem and "out of the workspace" not in problem for problem in problems)


def test_a_folder_of_agents_that_is_a_link_in_a_circle_fails_the_load(write):
    root = write({"prompts/x": ""})
    (root / "prompts/agents").symlink_to("agents")
    with pytest.raises(WorkspaceError, match="in a circle"):
        load(root)


def test_a_page_beside_imported_agents_breaks_itself_and_not_the_implied_root(write):
    page = "# How our agents work\n\nThey review what was written, and say plainly what they found.\n"
    coder = "---\nname: coder\ndescription: Codes.\n---\nCode.\n"
    workspace = load(write({".claude/agents/WORKFLOWS.md": page, ".claude/agents/coder.md": coder}))
    assert "orchestrator" in workspace.agents
    assert set(workspace.broken) == {"WORKFLOWS"}


@pytest.mark.parametrize(
    "rest",
    ["", "--", "---\ndescription: x\ntools: [alpha", "# Notes\n\nname: orchestrator\n" + "word " * 20 + "\n"],
)
def test_what_may_be_the_rest_of_the_roots_file_keeps_the_root_from_being_implied(write, rest):
    workspace = load(write({".claude/agents/main.md": rest, ".mcp.json": "{}"}))
    assert "orchestrator" not in workspace.agents
