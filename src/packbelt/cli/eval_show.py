"""`packbelt eval`: what was played, for people or programs, and the exit code that it comes to."""

from typing import Any

from packbelt.cli.eval_judgement import Judged
from packbelt.cli.eval_judgement_text import show_findings, show_rates
from packbelt.cli.eval_run import Done
from packbelt.cli.eval_table import show_conditions, show_score, show_tokens
from packbelt.cli.eval_text import show as show_suite
from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.output import write_json
from packbelt.evals import Condition, Score, SuiteReport, reports, score
from packbelt.evals.judge.cells import Cell, cells
from packbelt.evals.judge.gate import failed, rules


def show(done: Done, judged: Judged, *, trace: bool, as_json: bool) -> int:
    """Show it, and give the exit code.

    Args:
        done: what was played.
        judged: what is said of it.
        trace: whether each call is shown.
        as_json: whether it is for programs.
    """
    scored = score(done.played) if done.asked.scored else None
    if as_json:
        played = [_data(condition, suites) for condition, suites in reports(done.played).items()]
        data = {"conditions": played, "judgement": judged.to_json()}
        write_json(data if scored is None else {"mutation_score": scored.to_json(), **data})
    else:
        _show(done, judged, scored, trace=trace)
    if judged.failed is not None:
        return FINDINGS if judged.failed else FINE
    passed = not failed(rules("failed"), judged.assessments) if scored is None else scored.passed
    return FINE if passed else FINDINGS


def _show(done: Done, judged: Judged, scored: Score | None, *, trace: bool) -> None:
    several = len(judged.assessments) > 1
    first = True
    if trace or (not several and scored is None):
        about = {suite.id: suite.summary for suite in done.suites}
        for own in _suites(cells(done.played)):
            show_suite(own, about[own[0].suite], trace=trace, first=first)
            first = False
    if scored is not None:
        show_score(scored, first=first)
    elif several:
        show_conditions(judged.assessments, first=first)
    else:
        show_tokens(judged.assessments[0])
    if scored is None:
        show_rates(judged)
    show_findings(judged)


def _suites(among: tuple[Cell, ...]) -> list[list[Cell]]:
    """The cells of each suite under each condition."""
    found: dict[tuple[Condition, str], list[Cell]] = {}
    for one in among:
        found.setdefault((one.condition, one.suite), []).append(one)
    return list(found.values())


def _data(condition: Condition, suites: tuple[tuple[int, SuiteReport], ...]) -> dict[str, Any]:
    """What was played under a condition, traces included; `read_report` reads each of `suites` back."""
    return {
        "model": condition.model,
        "layout": condition.layout,
        "mutation": condition.mutation,
        "suites": [{"repeat": repeat, **report.to_json()} for repeat, report in suites],
    }
