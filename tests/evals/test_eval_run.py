"""How one case is played: through the real belt, form, gate and relay, with nothing run."""

import json
from dataclasses import replace

import pytest

from packbelt.catalog.snapshot import Snapshot
from packbelt.evals import Ended, Fault, ModelError, Result, again, read_report
from packbelt.evals.report import SuiteReport
from packbelt.testing.build import agent, make_workspace, native, pack, policy, schema, server_tool

ASK = {"request": "Install a code review skill"}


def small(**more):
    """An orchestrator, a keeper of a reserved pack, and a server whose tool has the hand-off's name."""
    given = {
        "tools": [native("keep_add", "Adds.", schema("what")), native("clock"), native("web_look")],
        "packs": [
            pack("keep", ["keep_add", "to_keeper"], access="owners", owners=["keeper"], direct=["to_keeper"]),
            pack("time", ["clock"]),
        ],
        "agents": [
            agent("keeper", handoff="to_keeper", tools=["pack:keep"]),
            agent("other", handoff="to_other"),
        ],
        "policies": {"*": policy(exposure="direct")},
    }
    return make_workspace(**{**given, **more})


def test_the_model_is_sent_the_compiled_belt_and_the_agent_s_prompt(embedded, written, one):
    model = written()
    report = one(embedded, model, "setup_skills")
    (request,) = model.requests
    sent = [tool["function"]["name"] for tool in request.tools]
    assert sent == list(report.trace.replies[0].advertised)
    assert {"setup_skills", "use_pack"} <= set(sent)
    assert "skill_registry_search" not in sent
    assert request.messages[0]["role"] == "system"
    assert "setup_skills" in request.messages[0]["content"]
    assert request.messages[1] == {"role": "user", "content": "Install a code review skill"}


def test_what_a_call_was_answered_with_goes_back_to_the_model(embedded, written, one):
    model = written(("install_skill", {}), ("setup_skills", ASK))
    report = one(embedded, model, "setup_skills", answers={"setup_skills": "Installed code-review 1.2."})
    refused = model.requests[1].messages[-1]
    assert refused["role"] == "tool"
    assert 'No tool is called "install_skill"' in refused["content"]
    assert "setup_skills" in refused["content"]
    assert "Installed code-review 1.2." in model.requests[2].messages[-1]["content"]
    assert (report.result, report.verdict.detours) == (Result.REACHED_LATE, (Result.INVENTED_NAME,))
    assert (report.verdict.first, report.verdict.replies) == (False, 2)


def test_a_hand_off_counts_by_identity_whatever_way_it_was_called(written, one):
    put_away = small(packs=[pack("keep", ["keep_add", "to_keeper"], owners=["keeper"])])
    through = ("use_pack", {"pack": "keep", "tool": "to_keeper", "arguments": {"request": "x"}})
    assert one(put_away, written(through), "to_keeper").result is Result.REACHED
    assert one(put_away, written(("to_keeper", {"request": "x"})), "to_keeper").result is Result.REACHED


def test_a_hand_off_named_inside_the_wrong_pack_is_not_reached(written, one):
    put_away = small(
        packs=[pack("keep", ["keep_add", "to_keeper"], owners=["keeper"]), pack("time", ["clock"])]
    )
    wrong = ("use_pack", {"pack": "time", "tool": "to_keeper", "arguments": {"request": "x"}})
    assert one(put_away, written(wrong), "to_keeper").result is Result.MALFORMED_ARGUMENTS


def test_a_server_s_tool_of_the_same_name_is_another_tool(written, one):
    now = Snapshot().connect("s", [server_tool("to_keeper")])
    report = one(small(), written(("mcp__s__to_keeper", {})), "to_keeper", snapshot=now)
    assert report.trace.calls[0].tool == "server:s/to_keeper"
    assert report.result is Result.OTHER_DIRECT_TOOL
    reached = one(small(), written(("mcp__s__to_keeper", {})), "s/to_keeper", snapshot=now)
    assert reached.result is Result.REACHED


@pytest.mark.parametrize(
    ("calls", "result"),
    [
        ([("to_keeper", {"request": "x"})], Result.REACHED),
        ([("clock", {}), ("to_keeper", {"request": "x"})], Result.REACHED_LATE),
        ([("use_pack", {"pack": "time"}), ("to_keeper", {"request": "x"})], Result.REACHED_LATE),
        ([("to_keeper", {}), ("to_keeper", {"request": "x"})], Result.REACHED_LATE),
        ([("to_other", {"request": "x"})], Result.WRONG_HANDOFF),
        ([("keep_add", {"what": "x"})], Result.UNADVERTISED_CALL),
        ([("keep_added", {})], Result.INVENTED_NAME),
        ([("use_pack", {"pack": "keepers"})], Result.INVENTED_NAME),
        ([("to_keeper", {"reqest": "x"})], Result.MALFORMED_ARGUMENTS),
        ([("web_look", {})], Result.WEB_INSTEAD),
        ([("clock", {})], Result.OTHER_DIRECT_TOOL),
        ([("use_pack", {"pack": "time"})] * 3, Result.LOOPED),
        ([("use_pack", {"pack": "time"})], Result.GAVE_UP),
        (["Here you are."], Result.ANSWERED_WITHOUT_TOOL),
        (['{"name": "to_keeper", "arguments": {"request": "x"}}'], Result.TEXT_FORM_CALL),
        (['<tool_call>\n{"name": "to_keeper", "arguments": {}}\n</tool_call>'], Result.TEXT_FORM_CALL),
        (['So:\n```json\n{"name": "to_keeper", "parameters": {}}\n```'], Result.TEXT_FORM_CALL),
        ([ModelError("no answer")], Result.AGENT_ERROR),
        ([{"role": "assistant", "tool_calls": 7}], Result.AGENT_ERROR),
        ([RuntimeError("a mistake of ours")], Result.HARNESS_ERROR),
    ],
)
def test_each_outcome_from_what_the_model_really_did(written, one, calls, result):
    report = one(small(), written(*calls), "to_keeper")
    assert report.result is result
    assert report.passed == (result in (Result.REACHED, Result.REACHED_LATE))


def test_a_raw_tool_that_can_be_run_is_told_apart_from_other_tools(written, one):
    opened = small(packs=[pack("keep", ["keep_add", "to_keeper"], owners=["keeper"], direct=["to_keeper"])])
    raw = ("use_pack", {"pack": "keep", "tool": "keep_add", "arguments": {"what": "x"}})
    assert one(opened, written(raw), "to_keeper").result is Result.RAW_TOOL


def test_a_no_tool_case_is_passed_by_words_and_failed_by_any_call(written, one):
    assert one(small(), written("You are welcome.")).result is Result.REACHED
    assert one(small(), written(("clock", {}))).result is Result.OVER_CALL
    assert one(small(), written(("no_such", {}))).result is Result.OVER_CALL
    assert one(small(), written('{"name": "clock", "arguments": {}}')).result is Result.TEXT_FORM_CALL


def test_the_calls_are_expected_in_order(written, one):
    first, second = ("to_keeper", {"request": "x"}), ("to_other", {"request": "x"})
    report = one(small(), written(first, second), "to_keeper", "to_other")
    assert (report.result, report.verdict.steps, report.verdict.replies) == (Result.REACHED, 2, 2)
    report = one(small(), written(second, first), "to_keeper", "to_other")
    assert (report.result, report.verdict.steps) == (Result.WRONG_HANDOFF, 1)
    assert one(small(), written(first), "to_keeper", "to_other").result is Result.GAVE_UP
    assert one(small(), written(second), ("to_keeper", "to_other")).result is Result.REACHED


def test_what_is_forbidden_fails_the_case_when_it_runs_even_after_the_hand_off(written, one):
    hand, clock = ("to_keeper", {"request": "x"}), ("clock", {})
    assert (
        one(small(), written(hand, clock), "to_keeper", forbid=("clock",)).result is Result.OTHER_DIRECT_TOOL
    )
    assert one(small(), written(hand, clock), "to_keeper", forbid=("pack:time",)).passed is False
    assert one(small(), written(hand, clock), "to_keeper").result is Result.REACHED
    refused = one(small(), written(("keep_add", {}), hand), "to_keeper", forbid=("keep_add",))
    assert refused.result is Result.REACHED_LATE  # the gate let nothing run


def test_several_calls_of_one_reply_are_taken_in_their_order(written, one):
    def function(name):
        return {"id": name, "type": "function", "function": {"name": name, "arguments": '{"request": "x"}'}}

    both = {"role": "assistant", "content": None, "tool_calls": [function("to_keeper"), function("to_other")]}
    report = one(small(), written(both), "to_keeper", "to_other")
    assert (report.result, report.verdict.replies) == (Result.REACHED, 1)


def test_the_steps_are_counted_and_the_same_call_three_times_ends_it(written, one):
    opened = [("use_pack", {"pack": "time", "arguments": {"query": str(n)}}) for n in range(9)]
    report = one(small(), written(*opened), "to_keeper", steps=4)
    assert (report.trace.ended, len(report.trace.replies)) == (Ended.STEPS, 4)
    same = [("clock", '{"a": 1, "b": 2}'), ("clock", '{"b":2,"a":1}'), ("clock", {"a": 1, "b": 2}), "Done."]
    replies = [call if isinstance(call, str) else raw(*call) for call in same]
    report = one(small(), written(*replies), "to_keeper")
    assert (report.trace.ended, len(report.trace.replies)) == (Ended.REPEATED, 3)


def raw(name, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def test_neither_the_host_s_functions_nor_servers_are_run(written, one):
    def clock():
        raise AssertionError

    now = Snapshot().connect("s", [server_tool("ping")])
    workspace = replace(small(), handlers={"clock": clock})
    model = written(("clock", {}), ("mcp__s__ping", {}))
    answers = {"clock": "12:00", "s/ping": "pong"}
    report = one(workspace, model, "clock", "s/ping", snapshot=now, answers=answers)
    assert [call.answer for call in report.trace.calls] == ["12:00", "pong"]
    assert report.result is Result.REACHED


def test_a_call_that_a_person_must_approve_is_approved_since_nothing_runs(written, one):
    report = one(small(approve=["clock"]), written(("clock", {})), "clock")
    assert (report.result, report.trace.calls[0].answer) == (Result.REACHED, "Done.")


def test_an_agent_that_cannot_start_is_its_own_error_and_not_the_harness_s(written, one):
    broken = small(agents=[agent("worker", tools=["nowhere/x"])], packs=[])
    report = one(broken, written(), "clock", agent="worker")
    assert (report.result, report.trace.fault) == (Result.AGENT_ERROR, Fault.AGENT)
    assert "cannot start" in report.trace.error


def test_a_harness_error_stands_in_no_rate(written, one):
    good = one(small(), written(("to_keeper", {"request": "x"})), "to_keeper")
    bad = one(small(), written(RuntimeError("a mistake of ours")), "to_keeper")
    lost = one(small(), written(ModelError("no answer")), "to_keeper")
    report = SuiteReport("s", "m", (good, bad, lost))
    assert (report.within.part, report.within.whole) == (1, 2)
    assert (report.first_step.part, report.first_step.whole) == (1, 2)
    assert not report.passed
    assert bad.trace.error == "RuntimeError: a mistake of ours"


def test_outcomes_can_be_worked_out_again_from_the_kept_traces(written, one):
    cases = tuple(
        one(small(), written(*calls), "to_keeper")
        for calls in ([("to_keeper", {"request": "x"})], [("clock", {})], ["x"], [RuntimeError("x")])
    )
    report = SuiteReport("s", "m", cases)
    kept = json.loads(json.dumps(report.to_json()))
    assert read_report(kept) == report
    for case in kept["cases"]:  # what was written down as the outcome is not what counts
        case["verdict"]["result"] = "over_call"
    assert read_report(kept) == report
    changed = replace(report, cases=(replace(cases[0], trace=cases[1].trace), *cases[1:]))
    assert again(changed).cases[0].result is Result.OTHER_DIRECT_TOOL


@pytest.mark.parametrize(
    "said",
    [
        None,
        {"role": "assistant", "content": "x", "usage": "many"},
        {"role": "assistant", "tool_calls": 7},
    ],
)
def test_a_reply_that_cannot_be_read_is_the_model_s_error_and_not_the_harness_s(embedded, one, said):
    class Odd:
        name = "odd"

        def begin(self, *_):
            return self

        async def reply(self, _):
            return said

    report = one(embedded, Odd(), "setup_skills")
    assert (report.result, report.trace.fault) == (Result.AGENT_ERROR, Fault.AGENT)


def test_what_is_no_function_call_is_passed_over(embedded, written, one):
    reply = {"role": "assistant", "content": "x", "tool_calls": [{"id": "1", "type": "custom"}, 7]}
    assert one(embedded, written(reply), "setup_skills").result is Result.ANSWERED_WITHOUT_TOOL


def test_three_calls_whose_arguments_are_no_json_are_the_same_only_if_their_letters_are(
    embedded, written, one
):
    def reply(arguments):
        function = {"name": "setup_skills", "arguments": arguments}
        return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}

    different = one(embedded, written(*map(reply, ('{"a', '{"b', '{"c'))), "setup_skills")
    assert (different.result, different.trace.ended) == (Result.MALFORMED_ARGUMENTS, Ended.ANSWERED)
    same = one(embedded, written(*[reply('{"a')] * 4), "setup_skills")
    assert (same.result, len(same.trace.replies)) == (Result.LOOPED, 3)


CALL = '{"name": "setup_skills", "arguments": {"request": "x"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"```JSON\n{CALL}\n```",
        f"Sure, I call [it]: {CALL}. Done.",
        f"<tool_call>\n{CALL}\n{CALL}\n</tool_call>",
        f"[{CALL}]",
    ],
)
def test_a_call_that_is_written_as_text_is_told_from_an_answer_wherever_it_stands(
    embedded, written, one, text
):
    assert one(embedded, written(text), "setup_skills").result is Result.TEXT_FORM_CALL
    without = one(embedded, written(text))
    assert (without.result, without.verdict.first) == (Result.TEXT_FORM_CALL, False)


@pytest.mark.parametrize("text", ["See [1] and {this}.", '{"name": "Bob"}', "[" * 100_000, "{" * 100_000])
def test_other_brackets_are_words(embedded, written, one, text):
    assert one(embedded, written(text), "setup_skills").result is Result.ANSWERED_WITHOUT_TOOL


def test_a_suite_that_settles_asks_nothing_more_once_the_request_arrived(embedded, written, one):
    model = written(("setup_skills", ASK), ("web_fetch", {"url": "https://example.org/"}))
    report = one(embedded, model, "setup_skills", settle=True)
    assert (report.result, report.trace.ended, len(report.trace.replies)) == (
        Result.REACHED,
        Ended.SETTLED,
        1,
    )
    assert len(one(embedded, model, "setup_skills").trace.replies) == 3


def test_two_expected_calls_settle_with_the_second(embedded, written, one):
    model = written(("setup_skills", ASK), ("run_skill", ASK), ("setup_skills", ASK))
    report = one(embedded, model, "setup_skills", "run_skill", settle=True)
    assert (report.result, report.trace.ended, report.verdict.replies) == (Result.REACHED, Ended.SETTLED, 2)


def test_a_call_where_none_was_right_settles_it(embedded, written, one):
    report = one(embedded, written(("current_time", {}), ("current_time", {})), settle=True)
    assert (report.result, report.trace.ended, len(report.trace.replies)) == (
        Result.OVER_CALL,
        Ended.SETTLED,
        1,
    )


def test_what_is_forbidden_can_run_after_the_hand_off_so_that_nothing_is_settled_before_the_end(
    embedded, written, one
):
    fetch = ("web_fetch", {"url": "https://example.org/"})
    report = one(
        embedded, written(("setup_skills", ASK), fetch), "setup_skills", forbid=("web_fetch",), settle=True
    )
    assert (report.result, report.trace.ended) == (Result.WEB_INSTEAD, Ended.ANSWERED)
