"""What the shipped fleet can do: the report's requests arrive, and nothing is closed by accident."""

from pathlib import Path

import pytest
import yaml

from packbelt.checks import reachability, run, summary
from packbelt.model import Call, HandOff, Level, Refusal, State, ToolId
from packbelt.turn import AgentHandle, turn

SUITE = yaml.safe_load((Path(__file__).parents[2] / "evals" / "seed.yaml").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in SUITE["cases"]}
AGENTS = {
    "setup_skills": "skill_setup",
    "run_skill": "skill_executor",
    "use_mcp_server": "mcp_agent",
    "setup_mcp_server": "mcp_setup",
}


def test_the_shipped_workspace_has_no_error_and_no_warning(embedded, now):
    for snapshot in (None, now):
        assert [str(one) for one in run(embedded, snapshot) if one.level is not Level.NOTE] == []


@pytest.mark.parametrize("case", CASES)
def test_the_hand_offs_that_a_request_of_the_report_needs_are_direct_and_arrive(embedded, now, case):
    orchestrator = AgentHandle(embedded, "orchestrator")
    sent = {tool.name for tool in orchestrator.turn(now).tools}
    for name in CASES[case]["expect"]:
        assert name in sent
        taken = orchestrator.resolve(name, {"request": CASES[case]["request"]})
        assert isinstance(taken, HandOff)
        assert (taken.agent, taken.request) == (AGENTS[name], CASES[case]["request"])


@pytest.mark.parametrize("case", CASES)
def test_the_raw_tools_that_a_request_must_not_use_are_refused_with_the_hand_off_instead(embedded, now, case):
    orchestrator = turn(embedded, now, "orchestrator")
    reserved = {
        name
        for pack in ("integrations", "skills")
        for name in embedded.packs[pack].members
        if name not in AGENTS
    } - {"create_skill"}
    for name in CASES[case]["forbid"]:
        if name in reserved:
            refused = orchestrator.resolve(name, {})
            assert isinstance(refused, Refusal)
            assert {offer.tool for offer in refused.hint.suggestions} & AGENTS.keys()
    assert all(name in orchestrator.belt for name in CASES[case]["forbid"])


def test_a_connected_server_is_used_by_its_agent_and_handed_over_by_the_orchestrator(embedded, now):
    orchestrator = turn(embedded, now, "orchestrator")
    refused = orchestrator.resolve("mcp__uuid__generate", {})
    assert isinstance(refused, Refusal)
    assert [offer.tool for offer in refused.hint.suggestions] == ["use_mcp_server"]
    child = turn(embedded, now, orchestrator.belt.subject.scope.spawn("mcp_agent"))
    assert isinstance(child.resolve("mcp__uuid__generate", {}), Call)


@pytest.mark.parametrize("pack", ["composio", "files", "storage"])
def test_what_the_report_s_fix_closed_by_accident_is_callable(embedded, now, pack):
    orchestrator = turn(embedded, now, "orchestrator")
    listing = orchestrator.resolve("use_pack", {"pack": pack})
    for name in embedded.packs[pack].members:
        assert orchestrator.belt[name].state is State.PACKED
        assert f"\n{name}: " in listing.answer


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("mcp_agent", "mcp_registry_tool_call"),
        ("mcp_setup", "mcp_registry_install"),
        ("planner", "mcp_registry_installed_list"),  # a carrier
        ("skill_setup", "skill_registry_install"),
        ("skill_executor", "read_workflow_resource"),
        ("skill_creator", "skill_runtime_resolve_runtimes"),
        ("context_scout", "skill_registry_search"),  # a carrier
        ("integrations_agent", "composio_execute"),
        ("code_executor", "storage_upload_file"),
    ],
)
def test_specialists_have_the_raw_tools_of_their_job_directly(embedded, agent, name):
    assert turn(embedded, None, agent).belt[name].state is State.DIRECT


@pytest.mark.parametrize(
    "agent", ["researcher", "code_executor", "critic", "help", "scheduler_agent", "settings_agent"]
)
def test_bystanders_cannot_call_the_raw_tools(embedded, agent):
    belt = turn(embedded, None, agent).belt
    for pack in ("integrations", "skills"):
        assert not [name for name in embedded.packs[pack].members if belt[name].state.callable]


def test_no_leaf_holds_the_whole_registry(embedded):
    for name, agent in embedded.agents.items():
        belt = turn(embedded, None, name).belt
        if name != embedded.orchestrator:
            assert agent.tools is not None
            assert belt.callable.bit_count() < len(embedded.tools) / 3


def test_every_tool_is_within_one_hand_off_of_the_orchestrator(embedded, now):
    counts = summary(embedded, now)
    assert counts.reachable == counts.known == len(embedded.tools) + 2
    assert counts.longest == 1
    reach = reachability(embedded, now)
    assert reach[ToolId("server:uuid", "generate")].agents == ("mcp_agent",)
    assert reach[ToolId("native", "mcp_registry_install")].length == 1
    assert reach[ToolId("handoff", "use_mcp_server")].state is State.DIRECT
