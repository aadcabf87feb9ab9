import pytest

from packbelt.checks import Reach, reachability, summary
from packbelt.model import State, ToolId

FILES = {
    "packs/dev.yaml": "id: dev\ntools: [{name: lint}, {name: shell}]\n",
    "packs/deep.yaml": "id: deep\naccess: owners\nowners: [c]\ntools: [{name: dig}]\n",
    "packs/lost.yaml": "id: lost\ntools: [{name: lose}]\n",
}


@pytest.fixture
def fleet(build, agent):
    return build(
        {
            **FILES,
            "prompts/agents/orchestrator.md": agent('tools: ["pack:dev"]\ndelegates: [a]'),
            "prompts/agents/a.md": agent("tools: [lint]\ndelegates: [b]"),
            "prompts/agents/b.md": agent("tools: []\ndelegates: [c, a]"),
            "prompts/agents/c.md": agent('tools: ["pack:deep"]'),
            "prompts/agents/lonely.md": agent("tools: [lose]"),
        }
    )


def test_the_shortest_way_to_each_tool_is_stated(fleet):
    reach = reachability(fleet)
    assert reach[ToolId("native", "lint")] == Reach(0, (), State.PACKED)
    assert reach[ToolId("native", "dig")] == Reach(3, ("a", "b", "c"), State.DIRECT)
    assert reach[ToolId("handoff", "delegate_to_a")] == Reach(0, (), State.DIRECT)
    assert reach[ToolId("handoff", "delegate_to_c")] == Reach(2, ("a", "b"), State.DIRECT)
    assert ToolId("native", "lose") not in reach


def test_another_agents_reach(fleet):
    assert reachability(fleet, root="lonely") == {ToolId("native", "lose"): Reach(0, (), State.DIRECT)}


def test_an_agent_that_cannot_start_or_is_none_reaches_nothing(build):
    workspace = build({"prompts/agents/orchestrator.md": "---\ndescription: x\ntools: null\n---\n"})
    assert reachability(workspace) == {}
    assert reachability(workspace, root="nobody") == {}
    assert str(summary(workspace)).startswith("0 of 0 tools reachable")


def test_the_summary_counts_the_ways(fleet):
    counts = summary(fleet)
    # native: lint, shell, dig, lose; hand-offs to a, b, c and lonely
    assert (counts.known, counts.direct, counts.packed, counts.handed, counts.longest) == (8, 1, 2, 3, 3)
    assert str(counts) == (
        "6 of 8 tools reachable from orchestrator: 1 direct, 2 packed, 3 through hand-offs (longest chain 3)"
    )
