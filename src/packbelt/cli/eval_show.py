"""`packbelt eval`: what was played, for people or programs, and the exit code that it comes to."""

from packbelt.cli.eval_judgement import Judged
from packbelt.cli.eval_judgement_text import show_judged
from packbelt.cli.eval_run import Done
from packbelt.cli.eval_table import show_score, show_summaries, show_tokens
from packbelt.cli.eval_text import show as show_suite
from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.output import write_json
from packbelt.evals import Score, Summary, score, summaries


def show(done: Done, judged: Judged, *, trace: bool, as_json: bool) -> int:
    """Show it, and give the exit code.

    Args:
        done: what was played.
        judged: what is said of it.
        trace: whether each call is shown.
        as_json: whether it is for programs.
    """
    found = summaries(done.played)
    scored = score(done.played) if done.asked.scored else None
    if as_json:
        data = {"conditions": [one.to_json() for one in found], "judgement": judged.to_json()}
        write_json(data if scored is None else {"mutation_score": scored.to_json(), **data})
    else:
        _show(done, found, scored, trace=trace)
        if scored is None:
            show_judged(judged)
    if judged.failed is not None:
        return FINDINGS if judged.failed else FINE
    passed = all(one.passed for one in found) if scored is None else scored.passed
    return FINE if passed else FINDINGS


def _show(done: Done, found: tuple[Summary, ...], scored: Score | None, *, trace: bool) -> None:
    about = {suite.id: suite.summary for suite in done.suites}
    first = True
    if trace or (len(found) == 1 and scored is None):
        for summary in found:
            for repeat, suite in summary.suites():
                show_suite(suite, about[suite.suite], summary.condition, repeat, trace=trace, first=first)
                first = False
    if scored is not None:
        show_score(scored, first=first)
    elif len(found) > 1 or done.asked.repeats > 1:
        show_summaries(found, first=first)
    else:
        show_tokens(found[0])
