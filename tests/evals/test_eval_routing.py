"""The suites `routing` and `unseen`: their spread, and that a script plays them to the end under each layout."""

from collections import Counter

import pytest

from packbelt.evals import LAYOUTS, choose, model_named, read_suites

JOBS = {"setup_skills": 9, "run_skill": 7, "use_mcp_server": 13, "setup_mcp_server": 8}


@pytest.fixture(scope="module")
def routing(embedded):
    return choose(read_suites(embedded), "routing")[0]


def test_it_has_sixty_requests_and_more_spread_over_the_jobs(routing):
    assert len(routing.cases) >= 60
    tags = Counter(tag for case in routing.cases for tag in case.tags)
    assert all(tags[job] >= least for job, least in JOBS.items())
    assert all(tags[kind] >= 5 for kind in ("other", "direct", "near_miss", "no_tool", "implicit", "packed"))
    assert tags["report"] == 5
    assert len({case.request for case in routing.cases}) == len(routing.cases)


def test_each_case_is_for_tuning_or_held_back(routing):
    halves = Counter(tag for case in routing.cases for tag in case.tags if tag in ("dev", "held"))
    assert sum(halves.values()) == len(routing.cases)
    assert min(halves.values()) >= 30
    assert all(len({"dev", "held"} & set(case.tags)) == 1 for case in routing.cases)


def test_one_snapshot_serves_all_so_that_a_layout_s_tools_are_read_once(routing):
    first = routing.cases[0].snapshot
    assert all(case.snapshot == first for case in routing.cases)
    assert set(first.servers) == {"linear", "trains", "uuid", "warehouse"}


def test_unseen_has_other_requests_for_the_same_jobs_on_the_same_snapshot(embedded, routing, play):
    unseen = choose(read_suites(embedded), "unseen")[0]
    assert not {case.request for case in unseen.cases} & {case.request for case in routing.cases}
    now = routing.cases[0].snapshot
    assert all(case.snapshot.to_data() == now.to_data() for case in unseen.cases)
    tags = Counter(tag for case in unseen.cases for tag in case.tags)
    assert all(tags[job] >= 4 for job in JOBS)
    assert play(embedded, unseen, model_named("scripted")).passed


def test_its_requests_are_the_seed_s_own_where_they_say_so(embedded, seed, routing):
    reported = {case.request for case in routing.cases if "report" in case.tags}
    assert reported == {case.request for case in seed.cases}


def test_the_script_gets_every_request_there_and_the_habit_of_the_report_does_not_when_packed(
    embedded, routing, play
):
    promoted = play(embedded, routing, model_named("scripted"))
    assert promoted.passed
    packed = play(LAYOUTS["packed"](embedded), routing, model_named("bot:raw"))
    mine = [case for case in packed.cases if set(case.tags) & set(JOBS)]
    assert not any(case.passed for case in mine if "two_steps" in case.tags or "setup_skills" in case.tags)


def test_words_alone_lead_to_less_than_half_of_them(embedded, routing, play):
    report = play(embedded, routing, model_named("lexical"))
    assert report.within.part < len(routing.cases) / 2
