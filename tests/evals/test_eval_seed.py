"""The report's five requests, played: packed they never get there, promoted they do."""

from dataclasses import replace

import pytest

from packbelt.evals import LAYOUTS, Result, model_named
from packbelt.evals.layouts import packed
from packbelt.model import Access

SPECIALISTS = {
    "handoff:setup_skills": "skill_setup",
    "handoff:run_skill": "skill_executor",
    "handoff:use_mcp_server": "mcp_agent",
    "handoff:setup_mcp_server": "mcp_setup",
}
HANDOFFS = {"setup_skills", "run_skill", "use_mcp_server", "setup_mcp_server"}
OBEDIENT = ["scripted", "bot:raw", "bot:guess", "bot:web", "bot:loop"]


def handed(report):
    return {call.tool for case in report.cases for call in case.trace.calls if call.target}


@pytest.mark.parametrize("model", OBEDIENT)
def test_packed_the_failing_model_never_hands_off_and_promoted_it_always_does(embedded, seed, play, model):
    before = play(packed(embedded), seed, model_named(model))
    assert handed(before) == set()
    assert (before.first_step.part, before.within.part, before.within.whole) == (0, 0, 5)
    after = play(embedded, seed, model_named(model))
    assert handed(after) == {f"handoff:{name}" for name in HANDOFFS}
    straight = {Result.REACHED, Result.REACHED_LATE} if model == "scripted" else {Result.REACHED}
    assert {case.result for case in after.cases} == straight
    for call in (call for case in after.cases for call in case.trace.calls if call.target):
        assert call.answer.startswith(f"What agent {SPECIALISTS[call.tool]} says, in its own words:")


@pytest.mark.parametrize(
    ("model", "outcomes"),
    [
        ("bot:raw", {Result.RAW_TOOL}),
        ("bot:guess", {Result.INVENTED_NAME}),
        ("bot:web", {Result.WEB_INSTEAD}),
        ("bot:loop", {Result.LOOPED}),
        ("scripted", {Result.RAW_TOOL, Result.INVENTED_NAME, Result.LOOPED}),  # all that the report has
    ],
)
def test_each_habit_fails_packed_in_its_own_way(embedded, seed, play, model, outcomes):
    assert {case.result for case in play(packed(embedded), seed, model_named(model)).cases} == outcomes


@pytest.mark.parametrize("name", sorted(HANDOFFS))
def test_one_hand_off_put_back_into_its_pack_fails_the_cases_that_need_it_and_no_other(
    embedded, seed, play, name
):
    pack = next(pack for pack in embedded.packs.values() if name in pack.direct)
    put_back = replace(pack, direct=tuple(one for one in pack.direct if one != name), access=Access.OPEN)
    reverted = replace(embedded, packs={**embedded.packs, pack.id: put_back})
    report = play(reverted, seed, model_named("bot:web"))
    needing = {case.id for case in seed.cases if any(name in step for step in case.expect)}
    assert needing
    assert {case.id for case in report.cases if not case.passed} == needing


def test_raw_tools_opened_to_all_and_put_in_front_fail_the_raw_bot_though_hand_offs_are_promoted(
    embedded, seed, play
):
    report = play(LAYOUTS["flat"](embedded), seed, model_named("bot:raw"))
    assert {case.result for case in report.cases} == {Result.RAW_TOOL}


def test_the_disobedient_bot_is_refused_and_reads_the_way_out_of_the_refusal(embedded, seed, play):
    for case in play(embedded, seed, model_named("bot:disobedient")).cases:
        first = case.trace.calls[0]
        assert first.name not in case.trace.replies[0].advertised
        assert (str(first.refused), str(first.outcome)) == ("reserved", "rejected")
        assert case.result in (Result.REACHED_LATE, Result.UNADVERTISED_CALL)
        assert {call.name for call in case.trace.calls[1:]} & HANDOFFS


@pytest.mark.parametrize("model", ["scripted", "bot:raw"])
def test_the_controls_are_not_handed_over(embedded, controls, play, model):
    report = play(embedded, controls, model_named(model))
    assert report.passed
    assert handed(report) == {"handoff:review_code", "handoff:create_skill"}


def test_words_alone_do_not_solve_the_seed(embedded, seed, controls, play):
    report = play(embedded, seed, model_named("lexical"))
    assert not report.passed
    assert all(len(case.trace.calls) == 1 for case in report.cases)
    thanks, word = play(embedded, controls, model_named("lexical")).cases[-2:]
    assert {thanks.result, word.result} == {Result.OVER_CALL}


@pytest.mark.parametrize("layout", ["promoted", "packed"])
@pytest.mark.parametrize("model", ["scripted", "lexical", "bot:raw", "bot:disobedient"])
def test_the_same_model_does_the_same_again(embedded, seed, play, model, layout):
    laid_out = LAYOUTS[layout](embedded)
    again = [play(laid_out, seed, model_named(model)) for _ in range(2)]
    assert again[0] == again[1]
