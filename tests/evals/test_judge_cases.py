"""What other harnesses got wrong when they judged, put to this one."""

from dataclasses import replace

import anyio
import pytest

import packbelt
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.text import Tree
from packbelt.evals import Case, Message, Result, Suite, bound, choose, model_named, run_case
from packbelt.evals.files import parse_suite
from packbelt.evals.preflight import preflight
from packbelt.evals.world import Answering, simulated
from packbelt.live.observe.events import EventLog
from packbelt.model import Answer, Outcome, SnapshotError, ToolCall, WorkspaceError
from packbelt.testing.build import agent, make_workspace, native, pack, policy, server_tool
from packbelt.turn import turn

NOW = Snapshot().connect("docs", [server_tool("search"), server_tool("fetch")])


def fleet(**more):
    given = {
        "tools": [native("clock"), native("keep_add")],
        "packs": [
            pack("keep", ["keep_add", "to_keeper"], access="owners", owners=["keeper"], direct=["to_keeper"])
        ],
        "agents": [agent("keeper", handoff="to_keeper", tools=["pack:keep"])],
        "policies": {"*": policy(exposure="direct")},
    }
    return make_workspace(**{**given, **more})


def suite(*expect, **more):
    return Suite(
        "s", (Case("one", more.pop("agent", "orchestrator"), (Message("user", "x"),), expect, **more),)
    )


@pytest.mark.parametrize("name", ["search", "docs/search", "mcp__docs__search", "server:docs/search"])
def test_ev05_names_are_compared_as_identities_however_a_case_spells_them(written, one, name):
    report = one(fleet(), written(("mcp__docs__search", {})), name, snapshot=NOW)
    assert report.expected.steps == (("server:docs/search",),)
    assert report.result is Result.REACHED


def test_ev10_a_case_whose_tool_is_not_on_the_belt_is_invalid_and_no_agent_is_blamed():
    preflight(fleet(), [suite(("to_keeper",)), suite(("docs/search",), snapshot=NOW), suite()])
    with pytest.raises(WorkspaceError, match="no tool is called 'docs/search'"):
        preflight(fleet(), [suite(("docs/search",))])
    with pytest.raises(
        WorkspaceError,
        match="case 'one' expects 'keep_add', which agent 'orchestrator' cannot call \\(reserved\\)",
    ):
        preflight(fleet(), [suite(("to_keeper",), ("keep_add",))])
    preflight(fleet(), [suite(("keep_add", "to_keeper"))])  # one of the two will do
    preflight(fleet(), [suite(("keep_add",), agent="keeper")])


def test_ev10_servers_under_a_key_that_nobody_reads_are_refused(tmp_path):
    text = "snapshot: {mcp_servers: {docs: {tools: []}}}\ncases: [{id: one, request: x, expect: [clock]}]\n"
    with pytest.raises(SnapshotError, match="mcp_servers"):
        parse_suite(text, "s.yaml", fleet(), Tree(tmp_path))


def test_ev10_the_shipped_suites_can_be_won(embedded, seed, controls):
    preflight(embedded, [seed, controls])


def test_ev11_the_model_is_shown_the_production_belt_and_prompt_and_nothing_of_the_skill(
    embedded, written, one
):
    model = written()
    one(embedded, model, "run_skill", request="Run the pdf skill")
    (request,) = model.requests
    form = turn(embedded, Snapshot(), "orchestrator").compile("openai-chat", strict=False)
    assert list(request.tools) == list(form.kwargs["tools"])
    assert request.messages[0]["content"] == form.system
    assert [line["content"] for line in request.messages[1:]] == ["Run the pdf skill"]


def calls_of(seen):
    return [(one.agent, one.tool) for one in seen if one.kind == "call"]


def test_ev13_no_call_is_made_below_a_hand_off_of_an_eval_so_that_a_trace_lacks_none(
    written, one, monkeypatch
):
    seen = []
    log = EventLog.of(seen.append)
    monkeypatch.setattr(EventLog, "of", lambda _: log)
    report = one(fleet(), written(("to_keeper", {"request": "Keep it."}), ("clock", {})), "to_keeper")
    assert calls_of(seen) == [("orchestrator", call.tool) for call in report.trace.calls]
    assert [call.tool for call in report.trace.calls] == ["handoff:to_keeper", "native:clock"]
    assert "orchestrator/keeper" in {one.agent for one in seen if one.kind == "run"}  # it was started


def test_ev13_where_who_is_handed_to_does_work_the_event_log_has_its_calls_with_the_path_of_agents():
    seen = []

    async def work(agent, _):
        (result,) = await (await agent.turn()).run([ToolCall("2", "keep_add", {})])
        return result.text

    async def play():
        workspace = simulated(fleet(), {"keep_add": "Kept."})
        options = {"run": work, "events": seen.append, "runs": ":memory:", "trust": True}
        async with packbelt.open(workspace, **options) as opened, opened.agent("orchestrator") as root:
            return await (await root.turn()).run([ToolCall("1", "to_keeper", {"request": "Keep it."})])

    (result,) = anyio.run(play)
    assert "Kept." in result.text
    assert set(calls_of(seen)) == {
        ("orchestrator", "handoff:to_keeper"),
        ("orchestrator/keeper", "native:keep_add"),
    }


def test_ev16_what_was_advertised_is_read_from_the_request_and_not_from_the_model_s_words(written, one):
    report = one(fleet(), written("I have the tools read_mail and launch_rocket."), "to_keeper")
    assert "to_keeper" in report.trace.replies[0].advertised
    assert not {"read_mail", "launch_rocket"} & set(report.trace.replies[0].advertised)
    assert report.result is Result.ANSWERED_WITHOUT_TOOL


def test_ev20_a_server_s_error_stands_in_the_trace_as_one(written, one, monkeypatch):
    async def broken(self, tool, arguments, *, dispatching, elicit=None):
        await dispatching()
        return Answer.of_text("no such index", Outcome.TOOL_ERROR)

    monkeypatch.setattr(Answering, "call", broken)
    report = one(fleet(), written(("mcp__docs__search", {})), "docs/search", snapshot=NOW)
    (call,) = report.trace.calls
    assert (call.outcome, call.answer) == (Outcome.TOOL_ERROR, "no such index")
    assert report.result is Result.AGENT_ERROR


def test_ev22_the_whole_trace_is_read_and_not_only_its_first_call(written, one):
    calls = [("clock", {}), ("mcp__docs__fetch", {}), ("to_keeper", {"request": "x"})]
    report = one(fleet(), written(*calls), "to_keeper", snapshot=NOW)
    assert (report.result, report.verdict.first, report.verdict.replies) == (Result.REACHED_LATE, False, 3)


def test_ev24_eight_at_once_are_judged_as_one_after_the_other(embedded, seed):
    ready = [bound(embedded, case) for case in seed.cases]

    async def together():
        found = {}

        async def run(worker, case):
            found[worker, case.case.id] = await run_case(embedded, case, model_named("bot:raw"))

        async with anyio.create_task_group() as tasks:
            for worker in range(8):
                tasks.start_soon(run, worker, ready[worker % len(ready)])
        return found

    async def alone():
        return {case.case.id: await run_case(embedded, case, model_named("bot:raw")) for case in ready}

    once, at_once = anyio.run(alone), anyio.run(together)
    assert len(at_once) == 8
    assert all(report == once[case] for (_, case), report in at_once.items())


def test_ev17_a_suite_without_cases_and_a_name_that_no_suite_has_are_errors(tmp_path):
    with pytest.raises(WorkspaceError, match="`cases` is empty"):
        parse_suite("cases: []\n", "s.yaml", fleet(), Tree(tmp_path))
    with pytest.raises(WorkspaceError, match="no suite"):
        choose((), None)
    with pytest.raises(WorkspaceError, match="no suite is called 'sed'"):
        choose([replace(suite(), id="seed")], "sed")
