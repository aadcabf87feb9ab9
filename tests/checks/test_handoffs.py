import pytest

from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, Where

VAULT = """
    id: vault
    summary: The vault.
    access: owners
    owners: [keeper]
    direct: [delegate_to_keeper]
    tools:
      - delegate_to_keeper
      - {name: open_vault, description: Opens the vault.}
"""


@pytest.fixture
def vault(agent):
    return {
        "packs/vault.yaml": VAULT,
        "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: "*"'),
        "prompts/agents/keeper.md": agent('tools: ["pack:vault"]'),
    }


def test_reserved_tools_with_a_promoted_hand_off_are_fine(build, find, vault):
    workspace = build(vault)
    for code in (Code.RESERVED_HANDOFF_PACKED, Code.RESERVED_DEAD_END, Code.HANDOFF_PACKED, Code.UNREACHABLE):
        assert find(workspace, code) == []


def test_reserved_tools_whose_only_hand_off_is_packed_are_an_error_that_names_it(build, find, vault):
    vault["packs/vault.yaml"] = VAULT.replace("direct: [delegate_to_keeper]", "direct: []")
    (found,) = find(build(vault), Code.RESERVED_HANDOFF_PACKED)
    assert (found.level, found.where) == (Level.ERROR, Where("packs/vault.yaml", 5))
    assert "delegate_to_keeper" in found.message
    assert "open_vault" in found.message
    assert "direct: [delegate_to_keeper]" in found.mend


def test_another_owner_in_sight_is_no_way_while_the_packs_own_hand_off_is_put_away(build, find, vault, agent):
    vault["packs/vault.yaml"] = VAULT.replace("direct: [delegate_to_keeper]", "direct: []").replace(
        "owners: [keeper]", "owners: [keeper, planner]"
    )
    vault["prompts/agents/planner.md"] = agent('tools: ["pack:vault"]')
    (found,) = find(build(vault), Code.RESERVED_HANDOFF_PACKED)
    assert found.level is Level.ERROR
    assert "only delegate_to_planner is in sight" in found.message


def test_one_promoted_hand_off_of_two_is_a_way(build, find, vault, agent):
    vault["packs/vault.yaml"] = VAULT.replace("owners: [keeper]", "owners: [keeper, deputy]").replace(
        "tools:", "tools:\n      - delegate_to_deputy"
    )
    vault["prompts/agents/deputy.md"] = agent('tools: ["pack:vault"]')
    assert find(build(vault), Code.RESERVED_HANDOFF_PACKED) == []


def test_a_hand_off_packed_beside_open_raw_tools_is_a_note(build, find, vault):
    vault["packs/vault.yaml"] = VAULT.replace("access: owners", "access: open").replace(
        "direct: [delegate_to_keeper]", "direct: []"
    )
    workspace = build(vault)
    (found,) = find(workspace, Code.HANDOFF_PACKED)
    assert (found.level, found.where) == (Level.NOTE, Where("packs/vault.yaml", 7))
    assert "open_vault" in found.message
    assert find(workspace, Code.RESERVED_HANDOFF_PACKED) == []


def test_a_delegate_that_is_no_agent_gets_its_near_miss(build, find, agent):
    workspace = build(
        {
            "prompts/agents/orchestrator.md": agent("delegates: [keepr]"),
            "prompts/agents/keeper.md": agent(),
        }
    )
    (found,) = find(workspace, Code.DELEGATE_UNKNOWN)
    assert (found.level, found.name, found.mend) == (Level.ERROR, "keepr", "did you mean 'keeper'?")
    assert found.where == Where("prompts/agents/orchestrator.md", 3)


def test_sa11_an_agent_with_delegates_and_no_hand_off_on_its_belt_is_an_error(build, find, agent):
    files = {
        "prompts/agents/orchestrator.md": agent("tools: []\ndelegates: [keeper]\nceiling: read"),
        "prompts/agents/keeper.md": agent("permission: execute"),
    }
    (found,) = find(build(files), Code.DELEGATES_IDLE)
    assert (found.level, found.name) == (Level.ERROR, "orchestrator")
    assert "delegate_to_keeper" in found.message
    assert "needs execute" in found.message
    files["prompts/agents/keeper.md"] = agent("permission: read")
    assert find(build(files), Code.DELEGATES_IDLE) == []


def test_sa11_a_one_line_tools_list_takes_no_hand_off_away(build, find, agent):
    workspace = build(
        {
            "packs/dev.yaml": "id: dev\ntools: [{name: lint}]\n",
            "prompts/agents/orchestrator.md": agent("tools: [lint]\ndelegates: [keeper]"),
            "prompts/agents/keeper.md": agent(),
        }
    )
    assert find(workspace, Code.DELEGATES_IDLE) == []
    assert find(workspace, Code.AGENT_UNUSED) == []


def test_delegates_that_are_all_disabled_now_are_a_warning(build, find, agent):
    workspace = build(
        {
            "prompts/agents/orchestrator.md": agent("delegates: [keeper]"),
            "prompts/agents/keeper.md": agent(),
        }
    )
    (found,) = find(workspace, Code.DELEGATES_IDLE, Snapshot(disabled_agents=("keeper",)))
    assert found.level is Level.WARNING


def test_pt24_an_orchestrator_with_nobody_to_hand_to_has_no_hand_off_and_no_finding(build, find, agent):
    workspace = build(
        {
            "packs/dev.yaml": "id: dev\ntools: [{name: lint}]\n",
            "prompts/agents/orchestrator.md": agent('delegates: "*"'),
        }
    )
    assert [tool.name for tool in workspace.tools if tool.target] == []
    assert find(workspace, Code.DELEGATES_IDLE) == []


def test_a_hand_off_to_one_who_may_what_its_caller_denies_itself_is_a_warning_with_tool_and_path(
    build, find, agent
):
    files = {
        "packs/dev.yaml": "id: dev\ntools: [{name: shell}, {name: lint}]\n",
        "prompts/agents/orchestrator.md": agent("disallowed_tools: [shell]\ndelegates: [clerk]"),
        "prompts/agents/clerk.md": agent("tools: []\ndelegates: [coder]"),
        "prompts/agents/coder.md": agent("tools: [shell]"),
    }
    (found,) = find(build(files), Code.HANDOFF_WIDENS)
    assert (found.level, found.where) == (Level.WARNING, Where("prompts/agents/orchestrator.md", 3))
    assert "shell" in found.message
    assert "orchestrator -> clerk -> coder" in found.message
    files["packbelt.yaml"] = "deny: [shell]\n"
    assert find(build(files), Code.HANDOFF_WIDENS) == []  # denied for all: nothing is widened


CIRCLE = {"a": "tools: []\ndelegates: [b]", "b": "tools: []\ndelegates: [a]"}


def test_a_circle_of_hand_offs_without_a_tool_or_a_way_out_is_an_error(build, find, agent):
    files = {
        "packs/dev.yaml": "id: dev\ntools: [{name: lint}]\n",
        "prompts/agents/orchestrator.md": agent('delegates: "*"'),
        **{f"prompts/agents/{name}.md": agent(keys) for name, keys in CIRCLE.items()},
    }
    (found,) = find(build(files), Code.HANDOFF_CYCLE)
    assert found.level is Level.ERROR
    assert "a, b" in found.message


@pytest.mark.parametrize(
    "mend",
    [{"b": "tools: [lint]\ndelegates: [a]"}, {"b": "tools: []\ndelegates: [a, c]", "c": "tools: [lint]"}],
)
def test_a_circle_with_a_tool_or_a_way_out_is_none(build, find, agent, mend):
    files = {
        "packs/dev.yaml": "id: dev\ntools: [{name: lint}]\n",
        "prompts/agents/orchestrator.md": agent('delegates: "*"'),
        **{f"prompts/agents/{name}.md": agent(keys) for name, keys in {**CIRCLE, **mend}.items()},
    }
    assert find(build(files), Code.HANDOFF_CYCLE) == []


def test_servers_whose_one_hand_off_is_packed_are_one_finding_however_many_they_are(build, find, agent):
    files = {
        "packbelt.yaml": 'servers: {"*": {access: handoff, owners: [keeper]}}\n',
        "packs/vault.yaml": "id: vault\ntools: [delegate_to_keeper]\n",
        "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: "*"'),
        "prompts/agents/keeper.md": agent('tools: ["*/*"]'),
    }
    snapshot = Snapshot()
    for n in range(6):
        snapshot = snapshot.connect(f"s{n}", [{"name": "search", "inputSchema": {"type": "object"}}])
    (found,) = find(build(files), Code.RESERVED_HANDOFF_PACKED, snapshot)
    assert "server 's0', server 's1', server 's2', server 's3' and 2 more" in found.message
    assert "the hand-off to that work, delegate_to_keeper, is put away" in found.message
