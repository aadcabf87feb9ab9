"""The small fleet of evals/small: it says what the embedded one says, and asks what that is asked."""

from pathlib import Path

import pytest

from packbelt.catalog.load import load
from packbelt.evals import LAYOUTS, model_named, read_suites

SMALL = Path(__file__).parents[2] / "evals/small"


@pytest.fixture(scope="module")
def small():
    return load(SMALL)


def test_its_hand_offs_and_tools_say_what_those_of_the_embedded_fleet_say(small, embedded):
    assert not small.diagnostics
    for name, agent in small.agents.items():
        whole = embedded.agents[name]
        assert (agent.description, agent.handoff) == (whole.description, whole.handoff)
    mine, whole = ({tool.name: tool for tool in workspace.tools} for workspace in (small, embedded))
    assert mine
    for name, tool in mine.items():
        assert (tool.description, tool.input_schema) == (whole[name].description, whole[name].input_schema)


def test_its_requests_are_those_of_the_embedded_suites(small, embedded):
    whole = {case.id: case for suite in read_suites(embedded) for case in suite.cases}
    suites = read_suites(small)
    cases = [case for suite in suites for case in suite.cases]
    assert {suite.id for suite in suites} == {"small", "small-unseen"}
    assert len(cases) >= 60
    for case in cases:
        assert (case.request, case.tags) == (whole[case.id].request, whole[case.id].tags)
        assert case.snapshot.to_data() == whole[case.id].snapshot.to_data()
        pairs = zip(case.expect, whole[case.id].expect, strict=True)
        assert all(set(narrow) <= set(wide) for narrow, wide in pairs)


def test_each_request_is_met_when_promoted_and_a_habit_of_raw_tools_misses_some_when_packed(small, play):
    for suite in read_suites(small):
        for layout in ("promoted", "packed"):
            assert play(LAYOUTS[layout](small), suite, model_named("scripted")).passed == (
                layout == "promoted"
            )
