import json

import pytest

from packbelt.catalog import Workspace, load
from packbelt.model import Code, Level


def agent(lines: str = "", name: str = "a") -> str:
    return f"---\nname: {name}\ndescription: D.\n{lines}\n---\nPrompt with {{{{ sections.routing }}}}.\n"


@pytest.fixture
def claude(write):
    def make(*texts: str, servers: tuple[str, ...] = (), **more: str) -> Workspace:
        files = {f".claude/agents/{i}.md": text for i, text in enumerate(texts)}
        entries = {name: {"command": "x"} for name in servers}
        return load(write({".mcp.json": json.dumps({"mcpServers": entries}), **files, **more}))

    return make


def tools(workspace: Workspace) -> list[str] | None:
    found = workspace.agents["a"].tools
    return None if found is None else [s.text for s in found]


@pytest.mark.parametrize(
    "written",
    [
        "Read, Grep",
        "[Read, Grep]",
        '"[Read, Grep]"',
        '\'["Read", "Grep"]\'',
        "\n  - Read\n  - Grep",
        "Read Grep",
        "Read,Grep,",
        '["Read, Grep"]',
    ],
)
def test_fm04_every_form_of_a_list_gives_the_same_names(claude, written):
    workspace = claude(agent(f"tools: {written}"))
    assert tools(workspace) == ["Read", "Grep"]
    assert all(s.lenient and s.where for s in workspace.agents["a"].tools or ())


@pytest.mark.parametrize(
    "written", ["3", "true", "{bash: false}", "[Read, {x: y}]", "[Read, 3]", "Bash(x", "x)", ""]
)
def test_fm04_fm06_anything_else_breaks_the_agent(claude, written):
    workspace = claude(agent(f"tools: {written}"))
    assert set(workspace.broken) == {"a"}
    assert workspace.diagnostics[0].code is Code.AGENT_BROKEN


def test_fm06_null_tools_says_write_brackets_or_remove_the_key(claude):
    (diagnostic,) = claude(agent("tools:")).diagnostics
    assert str(diagnostic.where) == ".claude/agents/0.md:4"
    assert diagnostic.mend == "write [] or remove the key"


def test_absent_empty_and_star_stay_three_things(claude):
    assert tools(claude(agent())) is None
    assert tools(claude(agent("tools: []"))) == []
    assert tools(claude(agent("tools: ''"))) == []
    assert tools(claude(agent('tools: "*"'))) == ["*"]


@pytest.mark.parametrize(
    ("entry", "selector"),
    [
        ("mcp__github__search", "github/search"),
        ("mcp__github__*", "github/*"),
        ("mcp__github", "github/*"),
        ("mcp__my_server_io__x__y", "my server.io/x__y"),
        ("mcp__a__b__c", "a__b/c"),
        ("mcp__*", "*/*"),
        ("mcp__unknown__x", "mcp__unknown__x"),
        ("mcp__github__get_*", "mcp__github__get_*"),
        ("mcp__git", "mcp__git"),
        ("mcp__githubs__x", "mcp__githubs__x"),
        ("mcp__own__x", "a.own/x"),
        ("Bash(git:*)", "Bash(git:*)"),
        ("Read", "Read"),
    ],
)
def test_names_of_servers_tools_are_resolved_against_the_configured_servers(claude, entry, selector):
    text = agent(f'tools: ["{entry}"]\nmcpServers:\n  own: {{command: y}}')
    assert tools(claude(text, servers=("github", "my server.io", "a__b"))) == [selector]


def test_an_entry_with_two_readings_breaks_the_agent_and_names_both(claude):
    workspace = claude(agent("tools: mcp__a__b__c"), servers=("a", "a__b"))
    assert set(workspace.broken) == {"a"}
    message = workspace.diagnostics[0].message
    assert "'a/b__c'" in message
    assert "'a__b/c'" in message


def test_a_denied_entry_with_two_readings_binds_both(claude):
    workspace = claude(agent("disallowedTools: mcp__a__b__c"), servers=("a", "a__b"))
    assert {s.text for s in workspace.agents["a"].disallowed_tools} == {"a/b__c", "a__b/c"}


@pytest.mark.parametrize(
    ("entry", "selectors"),
    [
        ("mcp__github__delete_*", {"github/delete_*"}),
        ("mcp__*", {"*/*"}),
        ("mcp__git*", {"*/*"}),
        ("mcp__gi*__x", {"*/*"}),
        ("Bash(git:*)", {"Bash"}),
        ("Write", {"Write"}),
        ("mcp__late__x", {"mcp__late__x", "late/x", "late__x/*"}),
    ],
)
def test_denials_are_never_read_as_less_than_they_say(claude, entry, selectors):
    workspace = claude(agent(f'disallowedTools: ["{entry}"]'), servers=("github",))
    assert {s.text for s in workspace.agents["a"].disallowed_tools} == selectors


def test_arguments_of_an_entry_are_reported(claude):
    workspace = claude(agent("tools: Read, Bash(git commit:*)\ndisallowedTools: Bash(rm:*)"))
    assert [d.code for d in workspace.diagnostics] == [Code.AGENT_SPECIFIER] * 2
    assert tools(workspace) == ["Read", "Bash(git commit:*)"]


@pytest.mark.parametrize("key", ["disallowedTools", "disallowed_tools", "disallowed-tools"])
def test_every_spelling_of_disallowed_tools_binds(claude, key):
    assert [s.text for s in claude(agent(f"{key}: Write")).agents["a"].disallowed_tools] == ["Write"]


@pytest.mark.parametrize(
    "key",
    ["tool", "Tools", "allowed-tools", "allowedTools", "toolss", "deny", "disalowedTools", "permission"],
)
def test_a_key_that_looks_like_a_restriction_is_never_skipped(claude, key):
    workspace = claude(agent(f"{key}: Read"))
    assert set(workspace.broken) == {"a"}
    assert f"`{key}` looks like a restriction" in workspace.diagnostics[0].message


def test_keys_that_are_not_read_are_warnings_and_well_known_ones_are_silent(claude):
    workspace = claude(agent("model: sonnet\ncolor: red\npermissionMode: default\nmaxTurns: 3\nrun_mode: x"))
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.code, diagnostic.level, diagnostic.name) == (Code.AGENT_KEY, Level.WARNING, "run_mode")
    assert str(diagnostic.where) == ".claude/agents/0.md:8"
    assert "a" in workspace.agents


@pytest.mark.parametrize("missing", ["name", "description"])
def test_fm23_a_missing_key_is_named(claude, missing):
    text = "\n".join(line for line in agent().split("\n") if not line.startswith(f"{missing}:"))
    diagnostic = claude(text).diagnostics[0]
    assert f"`{missing}` is missing" in diagnostic.message


def test_imported_agents_hand_off_to_nobody_and_are_no_templates(claude):
    workspace = claude(agent("tools: Task, Agent"))
    found = workspace.agents["a"]
    assert found.delegates == ()
    assert not found.is_template
    assert found.body == "Prompt with {{ sections.routing }}."
    assert workspace.agents["orchestrator"].delegates == "*"


def test_foreign_characters_in_a_name_become_a_valid_hand_off(claude):
    workspace = claude(agent(name="dotnet-4.8 expert"))
    assert workspace.agents["dotnet-4.8 expert"].handoff == "delegate_to_dotnet-4_8_expert"


def test_two_imported_agents_with_one_hand_off_cost_the_later_one(claude):
    workspace = claude(agent(name="a.b"), agent(name="a_b"))
    assert "a.b" in workspace.agents
    assert set(workspace.broken) == {"a_b"}
    handoffs = [tool.name for tool in workspace.tools]
    assert len(handoffs) == len(set(handoffs)) == 2


def test_files_in_folders_below_are_read(claude):
    workspace = claude(**{".claude/agents/team/x/b.md": agent(name="b")})
    assert "b" in workspace.agents


def test_inline_servers_as_a_map_and_as_a_list(claude):
    as_map = agent("mcpServers:\n  github:\n  db: {command: x}")
    as_list = agent("mcpServers:\n  - github\n  - db: {command: x}", name="b")
    workspace = claude(as_map, as_list, servers=("github",))
    assert {name: workspace.agents[name].mcp_servers for name in "ab"} == {"a": ("github",), "b": ("github",)}
    assert set(workspace.inline) == {"a.db", "b.db"}
    assert not workspace.diagnostics


def test_fm14_an_inline_server_with_only_a_url_is_http(claude):
    workspace = claude(agent("mcpServers:\n  x: {url: 'https://x.example/mcp'}"))
    assert workspace.inline["a.x"].transport == "http"


def test_one_bad_inline_server_costs_itself(claude):
    workspace = claude(agent("mcpServers:\n  x: {type: sse, url: 'https://x'}\n  y: {command: y}"))
    assert set(workspace.inline) == {"a.y"}
    assert [d.code for d in workspace.diagnostics] == [Code.SERVER_BROKEN]


def test_a_scalar_for_servers_breaks_the_agent(claude):
    assert "write [notion]" in str(claude(agent("mcpServers: notion")).diagnostics[0])


def test_a_blank_cuts_a_text_and_never_an_entry_of_a_list(claude):
    text = agent('tools: ["my server/x", "a, b"]\ndisallowedTools: \'["my server/y", "Write"]\'')
    found = claude(text).agents["a"]
    assert [s.text for s in found.tools or ()] == ["my server/x", "a", "b"]
    assert [s.text for s in found.disallowed_tools] == ["my server/y", "Write"]


def test_a_text_like_a_list_keeps_parentheses_together(claude):
    assert tools(claude(agent("tools: \"['Bash(a, b)', Read]\""))) == ["Bash(a, b)", "Read"]


@pytest.mark.parametrize(
    "line", ["ceiling: none", "inherit_mcp_servers: false", "delegates: []", "permission: read"]
)
def test_a_restriction_of_packbelts_own_format_breaks_an_imported_file(claude, line):
    workspace = claude(agent(line))
    assert "looks like a restriction" in workspace.broken["a"].error.problem
    assert "such keys are read in prompts/agents" in workspace.broken["a"].error.mend


def test_plan_mode_is_said_not_to_be_enforced(claude):
    (found,) = claude(agent("permissionMode: plan")).diagnostics
    assert (found.code, found.level) == (Code.AGENT_SPECIFIER, Level.WARNING)
    assert (str(found.where), "not enforced here" in found.message) == (".claude/agents/0.md:4", True)


def test_servers_under_both_spellings_of_the_key_add_up(claude):
    workspace = claude(agent("mcpServers: [one]\nmcp_servers: [two]"), servers=("one", "two"))
    assert workspace.agents["a"].mcp_servers == ("one", "two")
