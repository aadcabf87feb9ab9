from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, Where

VAULT = """
    id: vault
    access: owners
    owners: [keeper]
    direct: [delegate_to_keeper]
    tools:
      - delegate_to_keeper
      - {name: open_vault, permission: execute}
      - {name: close_vault}
"""


def fleet(agent, orchestrator='tools: ["*"]\ndelegates: "*"', keeper='tools: ["pack:vault"]'):
    return {
        "packs/vault.yaml": VAULT,
        "prompts/agents/orchestrator.md": agent(orchestrator),
        "prompts/agents/keeper.md": agent(keeper),
    }


def test_reserved_tools_that_no_hand_off_leads_to_are_one_error_with_the_cut(build, find, agent):
    files = fleet(agent, 'tools: ["*"]\ndelegates: []')
    (found,) = find(build(files), Code.RESERVED_DEAD_END)
    assert (found.level, found.name) == (Level.ERROR, "orchestrator")
    assert "open_vault" in found.message
    assert "close_vault" in found.message
    assert "its `delegates` do not name 'keeper'" in found.message
    assert found.where == Where("prompts/agents/orchestrator.md", 4)


def test_a_disabled_owner_and_a_broken_one_cut_the_way(build, find, agent):
    workspace = build(fleet(agent))
    assert find(workspace, Code.RESERVED_DEAD_END) == []
    (found,) = find(workspace, Code.RESERVED_DEAD_END, Snapshot(disabled_agents=("keeper",)))
    assert "disabled" in found.message
    files = fleet(agent)
    files["prompts/agents/keeper.md"] = "---\ndescription: x\ntools: null\n---\n"
    (found,) = find(build(files), Code.RESERVED_DEAD_END)
    assert "did not load" in found.message


def test_an_owner_that_lacks_the_grant_is_a_dead_end(build, find, agent):
    (found,) = find(build(fleet(agent, keeper="tools: [close_vault]")), Code.RESERVED_DEAD_END)
    assert "open_vault" in found.message
    assert "close_vault" not in found.message
    assert "does not grant it" in found.message


def test_an_agent_without_a_right_to_the_tools_has_no_dead_end(build, find, agent):
    files = fleet(agent)
    files["prompts/agents/bystander.md"] = agent("tools: []")
    assert find(build(files), Code.RESERVED_DEAD_END) == []


def test_tools_that_only_an_agent_out_of_reach_can_call_are_an_error_with_the_cut(build, find, agent):
    files = fleet(agent, "tools: []\ndelegates: []")
    (found,) = find(build(files), Code.UNREACHABLE)
    assert (found.level, found.where) == (Level.ERROR, Where("packs/vault.yaml", 8))
    assert "close_vault, open_vault" in found.message
    assert "'keeper' can call it" in found.message
    assert "its `delegates` do not name 'keeper'" in found.message


def test_tools_that_the_root_agents_ceiling_cuts_on_the_way_are_an_error_with_the_path(build, find, agent):
    files = fleet(agent, "tools: []\ndelegates: [keeper]\nceiling: read")
    files["prompts/agents/keeper.md"] = agent('tools: ["pack:vault"]\npermission: read')
    (found,) = find(build(files), Code.UNREACHABLE)
    assert found.level is Level.ERROR
    assert "open_vault" in found.message
    assert "close_vault" not in found.message
    assert "orchestrator -> keeper it is over_ceiling" in found.message


def test_a_tool_that_no_agent_can_call_is_a_warning(build, find, agent):
    (found,) = find(
        build(fleet(agent, "tools: []\ndelegates: [keeper]", "tools: [close_vault]")), Code.UNREACHABLE
    )
    assert (found.level, found.name) == (Level.WARNING, "open_vault")
    assert "no other agent can call it now" in found.message


def test_what_is_denied_for_all_or_unavailable_now_is_not_enabled(build, find, agent):
    files = fleet(agent, "tools: []\ndelegates: [keeper]", "tools: [close_vault]")
    files["packbelt.yaml"] = "deny: [open_vault]\n"
    assert find(build(files), Code.UNREACHABLE) == []


def test_tools_of_a_server_that_only_an_unreached_agent_may_call(build, find, agent):
    files = {
        "prompts/agents/orchestrator.md": agent("tools: []\ndelegates: []"),
        "prompts/agents/weatherman.md": agent('tools: ["weather/*"]'),
        ".mcp.json": '{"mcpServers": {"weather": {"command": "weather-mcp"}}}',
    }
    snapshot = Snapshot().connect("weather", [{"name": "forecast", "inputSchema": {"type": "object"}}])
    workspace = build(files)
    (found,) = find(workspace, Code.UNREACHABLE, snapshot)
    assert (found.level, found.name) == (Level.ERROR, "mcp__weather__forecast")
    assert find(workspace, Code.UNREACHABLE) == []  # not connected: nothing known to reach
