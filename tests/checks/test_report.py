"""`report`: every decision with its reasons as the engine gives them, prices that add up, prompts whole."""

import json

from hypothesis import given, settings

from packbelt.belt import belt_of
from packbelt.belt.scope import Scope
from packbelt.belt.steps import steps
from packbelt.catalog.load import load
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.checks import Workbench, run
from packbelt.checks.explained import Explanations, explain_all
from packbelt.checks.report import report
from packbelt.checks.reported import SELF, Lead
from packbelt.cli.report_json import report_json
from packbelt.model import PackbeltError, State
from packbelt.testing.strategies import worlds

BASE = {
    "packs/files.yaml": """
        id: files
        summary: Files of the project.
        tools:
          - {name: file_read, description: Reads., permission: read, input_schema: {type: object}}
          - {name: file_write, description: Writes., permission: write, input_schema: {type: object}}
        """,
    "prompts/agents/orchestrator.md": """
        ---
        description: Sorts requests.
        delegates: [clerk]
        ---
        You sort requests.

        {{ sections.capabilities }}

        Be brief.
        """,
    "prompts/agents/clerk.md": """
        ---
        description: Files things.
        tools: [file_read]
        delegates: [porter]
        ---
        You file things.
        """,
    "prompts/agents/porter.md": """
        ---
        description: Carries things.
        tools: ["nowhere/x"]
        ---
        You carry things.
        """,
}


def expanded(belt, order):
    """The explanation of each bit."""
    known = Explanations()
    stretches = explain_all(belt, order, known)
    rows = [known.all[one.explanation] for one in stretches for _ in range(one.count)]
    return dict(zip(order, rows, strict=True))


def without_arguments(belt, i, route):
    own = belt.registry.tools[i].wire_name
    opened = route.via == "handoff" and route.call == belt.registry.workspace.config.opener
    return Lead(
        route.via,
        None if route.via == "direct" and route.call == own else route.call,
        route.arguments["tool"] if opened else None,
        route.agents,
    )


def belts_of(world):
    registry = bind(world.workspace, world.snapshot)
    for name in world.workspace.agents:
        try:
            yield belt_of(registry, Scope(name))
        except PackbeltError:
            continue
    yield world.belt()


@given(worlds())
@settings(max_examples=40)
def test_what_is_explained_once_for_many_is_what_the_engine_says_of_each(world):
    for belt in belts_of(world):
        order = list(range(len(belt.registry.tools)))
        found = expanded(belt, order[::-1])
        for i in order:
            entry, one = belt.at(i), found[i]
            decision = entry.decision
            assert one.state is decision.state
            assert one.approve == entry.approve
            assert one.leads == tuple(without_arguments(belt, i, route) for route in decision.routes)
            assert one.cuts == decision.cuts
            alone = steps(belt, entry, lambda _, __: SELF)
            assert list(one.steps) == alone


def test_each_tool_is_one_row_and_each_agent_has_a_state_for_each(build):
    workspace = build(BASE)
    found = report(workspace)
    bench = Workbench(workspace)
    assert sorted(row.tool.wire_name for row in found.tools) == sorted(
        tool.wire_name for tool in bench.registry.tools
    )
    assert [agent.name for agent in found.agents] == ["orchestrator", "clerk", "porter"]
    for agent in found.agents[:2]:
        belt = bench.belts[agent.name]
        named = {
            row.tool.wire_name: found.explanations[at].state
            for row, at in zip(found.tools, agent.rows, strict=True)
        }
        assert named == {tool.wire_name: belt[tool.wire_name].state for tool in bench.registry.tools}
    for family in found.families:
        names = {row.tool.name for row in found.tools[family.first : family.first + family.count]}
        assert names == set(workspace.packs[family.id].members) if family.id else names


def test_an_agent_that_cannot_start_says_why_and_nothing_else(build):
    porter = report(build(BASE)).agents[2]
    assert "nowhere" in porter.refused[0].message
    assert (porter.stretches, porter.bill, porter.prompt) == ((), None, ())


def test_who_hands_to_whom_and_how_far_it_is(build):
    found = report(build(BASE))
    assert {(one.source, one.target, one.state) for one in found.links} == {
        ("orchestrator", "clerk", State.DIRECT),
        ("clerk", "porter", State.DIRECT),
    }
    assert {agent.name: agent.depth for agent in found.agents} == {
        "orchestrator": 0,
        "clerk": 1,
        "porter": None,  # it cannot start
    }


def test_the_parts_add_up_to_the_cost_of_the_dump():
    found = report(load())
    for agent in found.agents:
        bill = agent.bill
        assert sum(part.tokens for part in bill.sent) == bill.cost.total
        assert sum(part.tokens for part in bill.unpacked) == bill.total_unpacked
        assert all(part.tokens > 0 for part in (*bill.sent, *bill.unpacked))
    root = found.agents[0]
    opener = next(part.tokens for part in root.bill.sent if part.kind == "opener")
    assert opener == dict(root.bill.cost.lines)["use_pack"]


def test_the_pieces_of_a_prompt_are_the_prompt(build):
    workspace = build(BASE)
    root = report(workspace).agents[0]
    turn = Workbench(workspace).turns["orchestrator"]
    assert "".join(piece.text for piece in root.prompt) == turn.prompt
    assert [piece.section for piece in root.prompt] == [None, "capabilities", None]
    assert root.prompt[1].text == turn.sections["capabilities"]


def test_the_findings_are_those_of_the_check(build):
    workspace = build(BASE)
    assert report(workspace).findings == run(workspace)


def test_the_same_files_give_the_same_bytes(build):
    build(BASE)
    texts = {json.dumps(report_json(report(build(BASE), Snapshot()))) for _ in range(2)}
    assert len(texts) == 1


def test_a_fleet_of_many_tools_is_explained_by_few_explanations():
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(40)]
    servers = {f"s{n}": {"status": "connected", "tools": tools} for n in range(10)}
    found = report(load(), Snapshot.from_data({"servers": servers}))
    assert len(found.tools) > 400
    without = report(load())
    # Ten servers more: at most one explanation more for each server and agent.
    assert len(found.explanations) <= len(without.explanations) + 10 * len(found.agents)


def test_tools_that_other_entries_grant_or_deny_or_other_agents_have_are_told_apart(build):
    def agent(keys):
        return f"---\ndescription: Does its job.\n{keys}\n---\nYou help.\n"

    workspace = build(
        {
            "packs/files.yaml": BASE["packs/files.yaml"].replace("permission: write", "permission: read"),
            "prompts/agents/orchestrator.md": agent("tools: []\ndelegates: [reader, writer]"),
            "prompts/agents/reader.md": agent("tools: [file_read]"),
            "prompts/agents/writer.md": agent("tools: [file_write]"),
            "prompts/agents/both.md": agent("tools: [file_read, file_write]"),
            "prompts/agents/none.md": agent("disallowed_tools: [file_read, file_write]"),
        }
    )
    found = report(workspace)
    rows = {row.tool.wire_name: at for at, row in enumerate(found.tools)}

    def why(agent, tool):
        one = next(one for one in found.agents if one.name == agent)
        return found.explanations[list(one.rows)[rows[tool]]]

    for tool, way in (("file_read", "reader"), ("file_write", "writer")):
        assert [lead.agents for lead in why("orchestrator", tool).leads] == [(way,)]
        assert repr(tool) in why("both", tool).steps[1].passed
        assert repr(tool) in why("none", tool).steps[0].reasons[0].detail
