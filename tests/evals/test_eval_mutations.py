"""Mutations: what each breaks is really broken, nothing else is, and the suite `seed` notices each."""

import pytest

import packbelt
from packbelt.catalog.snapshot import Snapshot
from packbelt.evals import Bench, Condition, Job, Local, Played, Result, Trial, run_trials, score
from packbelt.evals.mutations import MUTATIONS, NULL, mutation_named, mutations_of
from packbelt.evals.mutations.answers import no_hints, permission_before_existence
from packbelt.evals.outcomes import Verdict
from packbelt.evals.report import CaseReport
from packbelt.evals.trace import Expected, Made, Trace
from packbelt.model import HintClass, Outcome, State

CAUSES = {
    "repack-handoffs": "skill-find-install-run",
    "open-raw-tools": "mcp-use-connected",
    "direct-first": "mcp-set-up-and-use",
    "static-sections": "skill-install-by-purpose",
    "permission-before-existence": "skill-install-from-source",
}
"""The report's causes, and of the seed's cases the one that leans on what each takes away."""


@pytest.fixture(scope="module")
def bench():
    return Bench(Job(suite="seed"))


@pytest.fixture
def mutated(bench):
    def under(*names, model="scripted"):
        trials = bench.trials([Condition(model, "promoted", name) for name in names])
        return run_trials(bench.job, trials, Local(bench=bench))

    return under


@pytest.fixture
def turn_under(embedded, seed):
    def turn(name, agent="orchestrator", snapshot=None):
        return packbelt.turn(
            mutation_named(embedded, name).workspace(embedded), snapshot or seed.cases[0].snapshot, agent
        )

    return turn


@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_fails_the_case_that_leans_on_what_it_takes_away(mutated, name):
    failed = {one.trial.case: one.report.result for one in mutated(name) if not one.report.passed}
    assert CAUSES[name] in failed
    assert not set(failed.values()) & {Result.HARNESS_ERROR, Result.AGENT_ERROR}
    assert all(one.report.passed for one in mutated(NULL))


@pytest.mark.parametrize("model", ["bot:raw", "bot:guess", "bot:web", "bot:loop"])
def test_the_null_mutant_plays_as_no_mutation_does(bench, mutated, model):
    plain = run_trials(bench.job, bench.trials([Condition(model)]), Local(bench=bench))
    assert [one.report for one in mutated(NULL, model=model)] == [one.report for one in plain]


def test_repacked_hand_offs_are_packed_and_the_raw_tools_stay_reserved(turn_under):
    belt = turn_under("repack-handoffs").belt
    promoted = ("setup_skills", "run_skill", "use_mcp_server", "setup_mcp_server")
    assert {belt[name].state for name in promoted} == {State.PACKED}
    assert belt["skill_registry_search"].state is State.RESERVED
    belt = turn_under("repack:run_skill").belt
    assert [belt[name].state for name in promoted] == [State.DIRECT, State.PACKED, State.DIRECT, State.DIRECT]


def test_opened_raw_tools_can_be_called_and_the_hand_offs_stay_in_front(turn_under):
    belt = turn_under("open-raw-tools").belt
    assert belt["skill_registry_search"].state is belt["mcp_registry_status"].state is State.PACKED
    assert belt["setup_skills"].state is belt["use_mcp_server"].state is State.DIRECT


def test_static_sections_name_one_hand_off_even_where_it_cannot_be_called(turn_under, embedded, seed):
    off = Snapshot.from_data({**seed.cases[0].snapshot.to_data(), "disabled_agents": ["mcp_agent"]})
    plain = packbelt.turn(embedded, off, "orchestrator")
    static = turn_under("static-sections", snapshot=off)
    assert "use_mcp_server" not in plain.sections.get("connected_mcp_servers", "")
    assert "You MUST delegate with `use_mcp_server`" in static.sections["connected_mcp_servers"]
    assert static.belt["use_mcp_server"].state is State.UNAVAILABLE
    assert "setup_skills" in packbelt.turn(embedded, off, "orchestrator").sections["installed_skills"]
    assert static.sections["installed_skills"].endswith('\n- changelog: "Writes a changelog from commits."')
    assert "setup_skills" not in static.sections["installed_skills"]
    assert static.belt.tools == plain.belt.tools


def test_routing_rules_are_gone_or_the_report_s(turn_under):
    assert "routing" in turn_under(NULL).sections
    assert "routing" not in turn_under("no-routing-rows").sections
    assert "setup_skills" not in turn_under("direct-first").sections["routing"]


def made(name, arguments, refused, outcome=Outcome.REJECTED):
    return Made(name, arguments, None, None, (), False, refused, outcome, "")


def test_only_a_name_invented_inside_a_pack_is_answered_as_if_forbidden(mutated):
    inside = {"pack": "skills", "tool": "install_skill", "arguments": {}}
    said = "Tool install_skill is not allowed in the current session"
    assert permission_before_existence(made("use_pack", inside, HintClass.UNKNOWN), "x") == said
    for other in (
        made("install_skill", {}, HintClass.UNKNOWN),
        made("use_pack", {"pack": "no_such"}, HintClass.UNKNOWN),
        made("use_pack", {**inside, "tool": "skill_registry_search"}, HintClass.RESERVED),
        made("use_pack", {"pack": "skills"}, None, Outcome.OK),
    ):
        assert permission_before_existence(other, "x") == "x"
    (case,) = [one.report for one in mutated("permission-before-existence") if not one.report.passed]
    assert [call.answer for call in case.trace.calls][-1] == said  # and the model read it


def test_a_refusal_without_hints_says_no_more_than_that(mutated):
    assert no_hints(made("use_pack", {}, None, Outcome.OK), "Done.") == "Done."
    refused = [call for one in mutated("no-hints") for call in one.report.trace.calls if call.refused]
    assert {call.answer for call in refused} == {"This call was refused."}


def test_every_mutation_has_a_sentence_and_every_promotion_one_of_its_own(embedded):
    known = mutations_of(embedded)
    assert all(one.about.endswith(".") and name == one.name for name, one in known.items())
    assert list(known)[: len(MUTATIONS)] == list(MUTATIONS)
    assert next(iter(known)) == NULL
    assert {name.partition(":")[2] for name in known if ":" in name} == {
        "setup_skills",
        "run_skill",
        "use_mcp_server",
        "setup_mcp_server",
    }


def played(case, result, mutation, model="m", repeat=0):
    report = CaseReport(case, "a", "r", (), Expected(()), Verdict(result, True, 0, 0), Trace())
    return Played(Trial("s", case, Condition(model, "promoted", mutation), repeat), report)


def test_a_case_notices_what_it_passes_without_and_fails_with():
    found = score(
        [
            played("green", Result.REACHED, NULL),
            played("red", Result.LOOPED, NULL),
            played("lost", Result.REACHED, NULL),
            played("green", Result.REACHED, "one"),
            played("red", Result.LOOPED, "one"),  # it fails anyway
            played("lost", Result.HARNESS_ERROR, "one"),  # nobody knows
            played("green", Result.REACHED_LATE, "two"),
            played("green", Result.GAVE_UP, "two", repeat=1),
        ]
    )
    assert [(one.name, one.killed) for one in found.mutants] == [("one", False), ("two", True)]
    assert [who.cases for one in found.mutants for who in one.by] == [("s/green",)]
    assert [who.cases for who in found.failing] == [("s/red",)]
    assert (found.killed, found.errors, found.passed) == (1, 1, False)


def test_a_mutant_is_killed_by_any_of_the_models_and_each_is_held_against_its_own_null():
    found = score(
        [
            played("case", Result.REACHED, NULL, "blind"),
            played("case", Result.REACHED, "one", "blind"),
            played("case", Result.REACHED, NULL, "sharp"),
            played("case", Result.RAW_TOOL, "one", "sharp"),
        ]
    )
    assert found.passed
    assert [(who.condition.model, who.cases) for who in found.mutants[0].by] == [("sharp", ("s/case",))]
