"""What is said of a condition, from plays whose figures can be counted by hand."""

from dataclasses import replace

import pytest
from judged_plays import HARNESS, call, outcomes, play, repeated, report

from packbelt.evals import Result
from packbelt.evals.costs import costs_of
from packbelt.evals.judge.assessment import assess
from packbelt.evals.judge.calls import calls_of
from packbelt.evals.judge.cells import NoCasesError, cells
from packbelt.evals.judge.compare import Side, compare, contrasts
from packbelt.evals.judge.confusion import confusion, hand_offs
from packbelt.evals.judge.coverage import coverage
from packbelt.evals.judge.paired import Finding
from packbelt.evals.trace import Tokens
from packbelt.evals.trials import Condition
from packbelt.model import HintClass, Outcome
from packbelt.testing.build import agent, make_workspace, native, pack

PACKED = Condition(layout="packed")


def test_ev07_passed_failed_and_errors_are_all_given_and_the_denominator_is_named():
    (found,) = assess(outcomes("+" * 7 + "-" * 14 + "e" * 2))
    assert (found.cases, found.passed, found.failed, found.errors) == (23, 7, 14, 2)
    assert (found.within.part, found.within.whole, found.first.whole) == (7, 21, 21)
    assert found.outcomes == {Result.REACHED: 7, Result.WRONG_HANDOFF: 14, Result.HARNESS_ERROR: 2}


def test_first_step_and_within_are_two_rates():
    late = play(report("late", calls=("b", "a")))
    (found,) = assess([late, play(report("soon"))])
    assert (found.first.part, found.within.part) == (1, 2)


def test_the_worst_group_and_rates_by_tag_and_agent():
    played = [
        play(report("one", tags=("x",))),
        play(report("two", calls=("b",), tags=("x", "y"))),
        play(report("three", agent="other")),
    ]
    (found,) = assess(played)
    assert {one.name: (one.within.part, one.within.whole) for one in found.groups} == {
        "x": (1, 2), "y": (0, 1), "root": (1, 2), "other": (1, 1)
    }  # fmt: skip
    assert (found.worst.kind, found.worst.name) == ("tag", "y")
    (alone,) = assess(outcomes("+-"))
    assert alone.worst is None


def test_pass_hat_k_of_counts_by_hand():
    (found,) = assess(repeated(["+++", "++-", "---"]))
    assert found.all_of == pytest.approx([(1 + 2 / 3 + 0) / 3, (1 + 1 / 3 + 0) / 3, (1 + 0 + 0) / 3])
    assert found.repeats == 3


def test_errors_of_the_harness_shorten_the_repeats_and_count_as_none():
    (found,) = assess(repeated(["+e+", "++-"]))
    assert (found.plays, found.errors, found.within.whole) == (6, 1, 2)
    assert found.within.rate == pytest.approx((1 + 2 / 3) / 2)
    assert len(found.all_of) == 2


def test_over_call_is_a_share_of_the_cases_that_need_no_tool():
    played = [
        play(report("thanks", expect=(), calls=())),
        play(report("word", expect=(), calls=("b",))),
        play(report("other")),
    ]
    (found,) = assess(played)
    assert (found.over_call.part, found.over_call.whole) == (1, 2)
    assert assess(outcomes("+"))[0].over_call.rate is None


def test_ev01_calls_beyond_the_expected_ones_cost_precision_and_forbidden_ones_are_counted_apart():
    found = calls_of(report(calls=("a", "b", "c", "native:d"), forbid=("native:d",)))
    assert (found.expected, found.made, found.precision, found.recall, found.extra) == (1, 4, 0.25, 1.0, 3)
    assert found.forbidden == 1
    refused = calls_of(report(calls=("a", call("native:d", HintClass.RESERVED)), forbid=("native:d",)))
    assert (refused.forbidden, refused.extra) == (0, 1)
    (summed,) = assess([play(report(calls=("a", "b", "c", "native:d"), forbid=("native:d",)))])
    assert (summed.calls.precision, summed.calls.extra, summed.calls.forbidden) == (0.25, 3, 1)


def test_ev04_one_call_answers_for_one_expected_call_and_order_counts_where_it_is_asked():
    same = [call("a", arguments={"x": 1})] * 2
    assert calls_of(report(expect=("a", "a"), calls=same)).recall_in_any_order == 0.5
    assert calls_of(report(expect=("a", "a"), calls=same)).recall == 0.5
    both = [call("a", arguments={"x": 1}), call("a", arguments={"x": 2})]
    assert calls_of(report(expect=("a", "a"), calls=both)).recall == 1.0
    swapped = calls_of(report(expect=("a", "b"), calls=("b", "a")))
    assert (swapped.recall_in_any_order, swapped.recall) == (1.0, 0.5)


def test_a_call_is_given_to_the_step_that_needs_it():
    # the first step takes either; only if b is left for the second are both met
    found = calls_of(report(expect=(("a", "b"), "b"), calls=("b", "a")))
    assert found.recall_in_any_order == 1.0


def test_ev20_a_call_whose_tool_answered_with_an_error_is_no_success():
    failed = report(calls=(call("a", outcome=Outcome.TOOL_ERROR, answer="no such table"),))
    assert (failed.passed, failed.result) == (False, Result.AGENT_ERROR)
    assert (calls_of(failed).recall, calls_of(failed).failed) == (0.0, 1)
    assert assess([play(failed)])[0].calls.failed == 1


def matrix(found):
    return {
        row: dict(zip(found.columns, counts, strict=True))
        for row, counts in zip(found.rows, found.counts, strict=True)
    }


def test_confusion_of_the_first_and_the_last_choice():
    played = [
        play(report("one")),
        play(report("two", calls=("b", "a"))),
        play(report("three", calls=())),
        play(report("four", calls=(call("made_up", HintClass.UNKNOWN, Outcome.REJECTED, tool=None),))),
        play(report("five", expect=("a", "b"), calls=("a", "native:clock"))),
        play(report("six", expect=(), calls=("b",))),
        play(report("seven", expect=(), calls=())),
        play(report("gone", fault=HARNESS)),
    ]
    first = matrix(confusion(cells(played)))
    assert first["handoff:to_a"] == {"handoff:to_a": 2, "handoff:to_b": 1, "none": 1, "invented": 1}
    assert first["none"] == {"handoff:to_a": 0, "handoff:to_b": 1, "none": 1, "invented": 0}
    last = matrix(confusion(cells(played), "last"))
    assert last["handoff:to_a"] == {
        "handoff:to_a": 2,
        "handoff:to_b": 0,
        "native:clock": 0,
        "none": 1,
        "invented": 1,
    }
    assert last["handoff:to_b"]["native:clock"] == 1
    assert sum(sum(row) for row in confusion(cells(played)).counts) == 7


def test_what_only_opened_a_pack_called_nothing_and_either_of_two_is_right():
    looked = call("use_pack", tool=None)
    malformed = call("use_pack", HintClass.INVALID_ARGUMENTS, Outcome.REJECTED, tool=None)
    played = [
        play(report("one", calls=(looked,))),
        play(report("two", calls=(looked, "a"))),
        play(report("three", expect=(("a", "b"),), calls=("b",))),
        play(report("four", calls=(malformed,))),
    ]
    found = matrix(confusion(cells(played)))
    assert (
        found["handoff:to_a"]["none"]
        == found["handoff:to_a"]["handoff:to_a"]
        == found["handoff:to_a"]["malformed"]
        == 1
    )
    assert found["handoff:to_a or handoff:to_b"]["handoff:to_a or handoff:to_b"] == 1


def test_recall_and_precision_of_each_hand_off_by_hand():
    played = [
        play(report("one", calls=("a",))),
        play(report("two", calls=("b",))),
        play(report("three", expect=("b",), calls=("b",))),
        play(report("four", expect=("c",), calls=())),
        play(report("five", expect=(("a", "b"),), calls=("b",))),
    ]
    found = hand_offs(cells(played))
    by = {
        one.identity[-1]: (one.expected, one.called, one.right, one.recall, one.precision)
        for one in found.each
    }
    assert by == {
        "a": (2, 1, 1, 0.5, 1.0),
        "b": (2, 3, 2, 1.0, pytest.approx(2 / 3)),
        "c": (1, 0, 0, 0.0, None),
    }
    assert found.recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.precision == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert found.f1 == pytest.approx((2 / 3 + 0.8 + 0) / 3)


def test_what_a_play_costs_is_worked_out_once():
    one = report("one")
    trace = replace(
        one.trace, replies=tuple(replace(reply, tokens=Tokens(10, 100, 5, 1)) for reply in one.trace.replies)
    )
    counted = replace(one, trace=trace)
    (found,) = assess([play(counted), play(report("gone", fault=HARNESS))])
    assert found.costs == costs_of([counted])
    assert (found.costs.case, found.costs.belt) == (2 * 106, 10)
    assert assess(outcomes("+"))[0].costs is None


def test_the_probe_says_what_words_alone_pass_and_what_is_left_beyond_them():
    words = outcomes("++--", Condition("lexical"))
    found = {one.condition.model: one for one in assess([*outcomes("++++-"), *words])}
    probe = found["scripted"].probe
    assert (probe.passed.part, probe.passed.whole) == (2, 4)
    assert (probe.beyond.part, probe.beyond.whole) == (2, 2)
    assert found["lexical"].probe is None
    assert assess(outcomes("+"))[0].probe is None


def test_conditions_that_differ_in_one_thing_are_compared_and_corrected_together():
    played = [
        *outcomes("-" * 8),
        *outcomes("+" * 8, PACKED),
        *outcomes("+" * 8, Condition("other", "packed")),
    ]
    layouts, models = contrasts([*played, *outcomes("+" * 8, Condition("lexical"))])
    assert (layouts.before, models.before) == ("layout", "model")
    (better,), (same,) = layouts.pairings, models.pairings
    assert (better.before.layout, better.after.layout) == ("promoted", "packed")
    assert (same.before.model, same.after.model) == ("scripted", "other")
    assert (better.finding, same.finding) == (Finding.BETTER, Finding.INCONCLUSIVE)
    assert better.p == pytest.approx(2 / 2**8)
    assert same.needed is None


def test_the_pairs_that_are_needed_are_more_than_there_were_and_more_among_several():
    layouts = [("promoted", "+++++"), ("packed", "-----"), ("flat", "++---")]
    played = [one for name, text in layouts for one in outcomes(text, Condition(layout=name))]
    (found,) = contrasts(played)
    needed = [one.needed for one in found.pairings]
    assert [one.finding for one in found.pairings] == [Finding.INCONCLUSIVE] * 3
    assert needed[0] == 7  # 5 of 5 lost: 2 / 2**7 is the first below 0.05 / 3
    assert min(needed[1:]) > 7
    (two,) = contrasts(played[:10])
    assert two.pairings[0].needed == 6  # 2 / 2**6 is the first below 0.05


def test_several_layouts_are_corrected_together():
    flat = Condition(layout="flat")
    (found,) = contrasts([*outcomes("-" * 8), *outcomes("+" * 8, PACKED), *outcomes("-" * 8, flat)])
    # the raw values are 2/2**8, 1 and 2/2**8; the smallest two count threefold
    assert [one.p for one in found.pairings] == pytest.approx([3 / 2**7, 1, 3 / 2**7])
    assert [one.finding for one in found.pairings] == [Finding.BETTER, Finding.INCONCLUSIVE, Finding.WORSE]


def test_a_mutation_is_compared_with_what_breaks_nothing_and_not_with_another():
    broken = [Condition(mutation=name) for name in ("null", "repack-handoffs", "open-raw-tools")]
    (found,) = contrasts([*outcomes("++", broken[0]), *outcomes("+-", broken[1]), *outcomes("-+", broken[2])])
    assert [(one.before.mutation, one.after.mutation) for one in found.pairings] == [
        ("null", "repack-handoffs"), ("null", "open-raw-tools")
    ]  # fmt: skip


def test_two_sides_are_compared_condition_by_condition_and_changed_cases_left_out():
    old = [*outcomes("+" * 8), *outcomes("-", PACKED), play(report("moved", expect=("b",)))]
    new = [*outcomes("-" * 8), play(report("moved", expect=("a",)))]
    found = compare(Side("old", old), Side("new", new))
    (only,) = found.pairings
    assert (only.finding, only.contrast.pairs, found.changed) == (Finding.WORSE, 8, ("s/moved",))
    assert found.worse


def test_two_sides_of_one_condition_each_are_compared_though_it_is_another():
    (only,) = compare(Side("a", outcomes("+-")), Side("b", outcomes("++", PACKED))).pairings
    assert (only.before.layout, only.after.layout, only.contrast.difference) == ("promoted", "packed", 0.5)
    with pytest.raises(NoCasesError, match="no condition in common"):
        compare(Side("a", outcomes("+")), Side("b", [*outcomes("+", PACKED), *outcomes("+", Condition("x"))]))


def test_coverage_names_what_no_case_asks_for(seed, controls, embedded):
    cases = [*seed.cases, *controls.cases]
    found = coverage(embedded, [seed, controls])
    assert (found.cases, found.no_tool) == (len(cases), sum(not case.expect for case in cases))
    asked = sum(any("setup_skills" in step for step in case.expect) for case in cases)
    assert found.hand_offs.cases["setup_skills"] == asked
    assert "do_crypto" in found.hand_offs.missing
    assert not {"setup_skills", "run_skill", "delegate_to_orchestrator"} & set(found.hand_offs.missing)
    assert found.asked.cases == {"orchestrator": len(cases)}
    assert set(found.asked.missing) == {"planner", "skill_executor"}
    assert {"skills", "integrations"} <= set(found.packs.cases)
    assert found.tags["seed"] == len(seed.cases)


def test_coverage_of_a_workspace_by_hand(one, written):
    from packbelt.evals import Case, Message, Suite

    workspace = make_workspace(
        tools=[native("clock"), native("calc"), native("hidden")],
        packs=[pack("time", ["clock"]), pack("maths", ["calc"]), pack("off", ["hidden"], exposure="off")],
        agents=[agent("keeper", handoff="to_keeper")],
    )
    case = Case("one", "orchestrator", (Message("user", "What time is it?"),), (("clock",),), tags=("t",))
    found = coverage(workspace, [Suite("s", (case,))])
    assert (found.packs.cases, found.packs.missing) == ({"time": 1}, ("maths",))
    assert (found.hand_offs.cases, found.hand_offs.missing, found.tags) == ({}, ("to_keeper",), {"t": 1})
