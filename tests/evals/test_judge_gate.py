"""Baselines, the rules that fail a run, and JUnit XML that real readers take."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from judged_plays import HARNESS, call, outcomes, play, repeated, report
from junitparser import Error, Failure, JUnitXml
from lxml import etree

from packbelt.evals import Result
from packbelt.evals.judge.assessment import assess
from packbelt.evals.judge.baseline import BaselineError, baseline_of, read_baseline
from packbelt.evals.judge.cells import NoCasesError
from packbelt.evals.judge.compare import Side, compare
from packbelt.evals.judge.gate import RULES, failed, rules
from packbelt.evals.judge.junit import junit
from packbelt.evals.judge.regression import deterministic, regressions
from packbelt.evals.trials import Condition
from packbelt.model import PackbeltError

XSD = Path(__file__).parents[1] / "fixtures/junit-10.xsd"
LIVE = Condition("some-endpoint")


@pytest.fixture
def kept(tmp_path):
    """A baseline, through its file."""

    def write(played):
        file = tmp_path / "baseline.json"
        file.write_text(json.dumps(baseline_of(played).to_json()))
        return read_baseline(file)

    return write


def test_a_baseline_is_read_as_it_was_written(kept):
    played = [*repeated(["++", "+-", "e+"]), *outcomes("+", LIVE)]
    found = kept(played)
    assert found == baseline_of(played)
    first = found.conditions[0]
    assert [(one.case, one.passes) for one in first.cases] == [
        ("case0", (True, True)),
        ("case1", (True, False)),
        ("case2", (True,)),
    ]
    assert first.within == pytest.approx((1 + 0.5 + 1) / 3)
    assert first.cases[1].outcomes == {Result.REACHED: 1, Result.WRONG_HANDOFF: 1}


def test_the_digest_of_the_cases_depends_on_what_they_ask_and_not_on_what_came_of_them():
    assert baseline_of(outcomes("+-")).cases == baseline_of(outcomes("-+")).cases
    assert baseline_of(outcomes("+-")).cases != baseline_of(outcomes("+-+")).cases
    other = [play(report("case0", expect=("b",))), *outcomes("+-")[1:]]
    assert baseline_of(outcomes("+-")).cases != baseline_of(other).cases


def test_a_case_that_always_passed_and_fails_now_is_a_regression_of_a_model_that_does_the_same_each_time(
    kept,
):
    found = regressions(kept(outcomes("++-+")), outcomes("+--+"))
    assert [(one.case, one.outcomes) for one in found.broken] == [("case1", {Result.WRONG_HANDOFF: 1})]
    assert (found.any, found.compared) == (True, 4)
    assert not regressions(kept(outcomes("+--")), outcomes("++-")).any


def test_one_case_less_is_chance_in_a_sampled_model_and_six_are_not(kept):
    before = kept(outcomes("+" * 10, LIVE))
    assert not regressions(before, outcomes("-" + "+" * 9, LIVE)).any
    assert not regressions(before, outcomes("-" * 5 + "+" * 5, LIVE)).any  # p = 2 / 2**5
    found = regressions(before, outcomes("-" * 6 + "+" * 4, LIVE))
    assert (found.broken, len(found.declined)) == ((), 1)
    assert (len(found.declined[0].lost), found.declined[0].p) == (6, pytest.approx(2 / 2**6))


def test_a_sampled_model_that_is_played_more_often_than_its_baseline_is_not_declined_for_that(kept):
    before = kept(repeated(["+"] * 20, LIVE))
    assert not regressions(before, repeated(["+++++-"] * 20, LIVE)).any
    often = kept(repeated(["-+++++"] * 20, LIVE))
    assert not regressions(often, repeated(["-"] * 20, LIVE)).any
    assert regressions(often, repeated(["--"] * 20, LIVE)).any


def test_which_models_do_the_same_each_time():
    assert all(map(deterministic, ("scripted", "lexical", "bot:raw", "replay:kept.jsonl")))
    assert not deterministic("openai:some-model")


def test_what_cannot_be_compared_is_named_and_blames_nobody(kept):
    before = kept([*outcomes("+++"), play(report("moved", expect=("b",), calls=("b",)))])
    now = [*outcomes("+e"), play(report("moved")), play(report("fresh"))]
    found = regressions(before, now)
    assert (found.any, found.compared) == (False, 1)
    assert (found.unjudged, found.changed, found.new) == (("s/case1", "s/case2"), ("s/moved",), ("s/fresh",))


def test_ev17_a_baseline_of_which_nothing_was_judged_is_an_error(kept):
    with pytest.raises(NoCasesError, match="none of these cases"):
        regressions(kept(outcomes("+")), outcomes("e"))
    with pytest.raises(NoCasesError, match="none of these cases"):
        regressions(kept(outcomes("+")), outcomes("+", LIVE))
    with pytest.raises(NoCasesError):
        assess([])
    with pytest.raises(NoCasesError):
        junit([])


@pytest.mark.parametrize(
    ("text", "said"), [("", "is no baseline"), ("[1]", "is no baseline"), (None, "cannot be read")]
)
def test_a_file_that_is_no_baseline_is_refused_in_one_line(tmp_path, text, said):
    file = tmp_path / "baseline.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(BaselineError, match=said) as caught:
        read_baseline(file)
    assert "--update-baseline" in str(caught.value)
    assert "baseline.json" in str(caught.value)


def test_a_baseline_of_another_form_is_refused(tmp_path):
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps({**baseline_of(outcomes("+")).to_json(), "format": 2}))
    with pytest.raises(BaselineError, match="form 2, not 1"):
        read_baseline(file)


def verdict(text, played, **more):
    return [one.rule.name for one in failed(rules(text), assess(played), **more)]


def test_each_rule_fails_on_its_own_ground(kept):
    every = "failed,error,regression,worse,floor:0.8"
    assert verdict(every, outcomes("+" * 30)) == []
    assert verdict(every, outcomes("+" * 29 + "-")) == ["failed"]
    assert verdict(every, outcomes("+" * 30 + "e")) == ["failed", "error"]
    before = kept(outcomes("+" * 30))
    now = outcomes("+" * 29 + "-")
    assert verdict("regression,error", now, regressions=regressions(before, now)) == ["regression"]
    bad = outcomes("-" * 30)
    worse = compare(Side("old", outcomes("+" * 30)), Side("new", bad))
    assert verdict("worse", bad, comparison=worse) == ["worse"]
    assert verdict("regression,worse", bad) == []


def test_the_floor_is_on_the_lower_bound_and_not_on_the_rate():
    # 9 of 10 passed: Wilson's interval is 0.596 to 0.982 (scipy.stats.binomtest(9, 10).proportion_ci)
    assert verdict("floor:0.8", outcomes("+" * 9 + "-")) == ["floor"]
    assert verdict("floor:0.59", outcomes("+" * 9 + "-")) == []
    assert verdict("floor:0.1", outcomes("ee")) == ["floor"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("regresion", "regression"), ("floor:80", "floor:0.8"), ("floor", "floor:0.8"), ("x", "failed")],
)
def test_a_rule_that_is_none_is_refused_with_the_mend(text, said):
    with pytest.raises(PackbeltError) as caught:
        rules(text)
    assert said in str(caught.value)


def test_every_rule_has_its_meaning():
    assert {one.name for one in rules("failed,error,regression,worse,floor:0.5")} == set(RULES)


def wild():
    return report(
        "<&\"'>\x00\x1b[31m", calls=(call("x\x07", arguments={"a": "]]>\ufffe"}),), text="</failure>"
    )


def test_junit_is_what_its_readers_take():
    played = [
        *repeated(["+-", "++", "ee", "+e"]),
        *outcomes("-", Condition("bot:raw", "packed", "open-raw-tools")),
        play(wild(), condition=LIVE),
        play(report("lost", fault=HARNESS), condition=LIVE, seconds=1234.5),
    ]
    text = junit(played)
    schema = etree.XMLSchema(etree.parse(XSD))
    schema.assertValid(etree.fromstring(text.encode()))
    read = JUnitXml.fromstring(text.encode())
    by = {(suite.name, case.name): case.result for suite in read for case in suite}
    plain = "s (scripted, promoted)"
    assert [type(one) for one in by[plain, "case0"]] == [Failure]
    assert by[plain, "case0"][0].type == "wrong_handoff"
    assert "1 x reached, 1 x wrong_handoff" in by[plain, "case0"][0].message
    assert by[plain, "case1"] == []
    assert [(type(one), one.type) for one in by[plain, "case2"]] == [(Error, "harness_error")]
    assert [type(one) for one in by[plain, "case3"]] == [Error]
    assert (read.tests, read.failures, read.errors) == (7, 3, 3)
    (suite,) = [one for one in read if "open-raw-tools" in one.name]
    assert {one.name: one.value for one in suite.properties()} == {
        "model": "bot:raw", "layout": "packed", "mutation": "open-raw-tools"
    }  # fmt: skip


def test_junit_holds_any_text_and_the_whole_trace():
    case = ET.fromstring(junit([play(wild())])).find(".//testcase")
    assert case.get("name") == "<&\"'>\ufffd\ufffd[31m"
    assert "]]>" in case.find("failure").text
    assert "says: </failure>" in case.find("failure").text
    agent_error = replace(report("one"), verdict=replace(report("one").verdict, result=Result.AGENT_ERROR))
    assert ET.fromstring(junit([play(agent_error)])).find(".//failure").get("type") == "agent_error"
