"""What is said of a run of `packbelt eval`, for people."""

from packbelt.cli.eval_judgement import Judged
from packbelt.cli.output import Column, Span, Table, draw, say, several, title
from packbelt.evals.judge.assessment import Assessment
from packbelt.evals.judge.compare import Comparison, Pairing
from packbelt.evals.judge.gate import named
from packbelt.evals.judge.intervals import Estimate
from packbelt.evals.judge.paired import Discordant, Finding
from packbelt.evals.judge.regression import Regressions
from packbelt.model.text import few

_STYLE = {Finding.BETTER: "good", Finding.WORSE: "bad", Finding.INCONCLUSIVE: "odd"}
_MOST = 12
"""Cases that a line names."""


def show_rates(judged: Judged) -> None:
    """The rates of each condition with their intervals, then the conditions against each other."""
    _rates(judged.assessments)
    for comparison in judged.own:
        _comparison(comparison)


def show_findings(judged: Judged) -> None:
    """What another run was compared with, what became of the baseline, and why the run failed."""
    if judged.other is not None:
        _comparison(judged.other)
    if judged.regressions is not None:
        _regressions(judged.regressions)
    if judged.failed:
        title("failed")
    for one in judged.failed or ():
        say("  ", (one.rule.text, "bad"), f": {few(one.of, most=_MOST)}")


def _rates(found: tuple[Assessment, ...]) -> None:
    title("rates", ", a case counting once, with Wilson's 95 % interval")
    repeated = any(len(one.all_of) > 1 for one in found)
    table = Table(
        (
            Column("condition"),
            Column("cases", align="right"),
            Column("within steps"),
            Column("first step"),
            *((Column("all plays of a case"),) if repeated else ()),
            Column("over-call"),
            Column("hand-offs: recall, precision"),
            Column("worst"),
        )
    )
    for one in found:
        hand_offs = one.hand_offs
        table.add(
            named(one.condition),
            str(one.within.whole),
            _estimate(one.within),
            _estimate(one.first),
            *((f"{percent(one.all_of[-1])} of {len(one.all_of)}" if one.all_of else "",) if repeated else ()),
            f"{percent(one.over_call.rate)} of {one.over_call.whole}" if one.over_call.whole else "",
            f"{percent(hand_offs.recall)}, {percent(hand_offs.precision)}" if hand_offs.each else "",
            _worst(one),
        )
    draw(table)
    for one in found:
        if one.errors:
            words = f"{several(one.plays, 'play')}: {one.passed} passed, {one.failed} failed, "
            say(f"  {named(one.condition)}: {words}", (f"{one.errors} not judged", "odd"))
        if one.probe is not None:
            passed, beyond = percent(one.probe.passed.rate), percent(one.probe.beyond.rate)
            say(f"  {named(one.condition)}: words alone pass {passed}; of the other cases it passes {beyond}")


def _worst(one: Assessment) -> str:
    worst = one.worst
    if worst is None or worst.within.rate in (None, 1):
        return ""
    return f"{worst.kind} {worst.name}: {percent(worst.within.rate)} of {worst.within.whole}"


def _estimate(one: Estimate) -> str:
    if one.interval is None:
        return "no case"
    return f"{percent(one.rate)} ({100 * one.interval.low:.0f} to {100 * one.interval.high:.0f})"


def percent(share: float | None) -> str:
    """A share as a figure; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.0f} %"


def _comparison(found: Comparison) -> None:
    if found.before == found.after:
        title(f"{found.before}s", ": the same cases, McNemar's exact test adjusted by Holm")
    else:
        title(f"{found.before} and {found.after}", ": the same cases, McNemar's exact test adjusted by Holm")
    table = Table(
        (
            Column("before"),
            Column("after"),
            Column("pairs", align="right"),
            Column("rates"),
            Column("difference"),
            Column("gained : lost", align="right"),
            Column("p", align="right"),
            Column("finding"),
        )
    )
    for one in found.pairings:
        it = one.contrast
        table.add(
            named(one.before),
            named(one.after),
            str(it.pairs),
            f"{percent(it.before)}, {percent(it.after)}",
            f"{100 * it.difference:+.0f} ({100 * it.interval.low:+.0f} to {100 * it.interval.high:+.0f})",
            f"{len(it.gained)} : {len(it.lost)}",
            f"{one.p:.2g}",
            (str(one.finding), _STYLE[one.finding]),
        )
    draw(table)
    for one in found.pairings:
        _cases(one)
    if found.changed:
        say(f"  not compared, since they ask something else: {few(found.changed, most=_MOST)}")


def _cases(one: Pairing) -> None:
    it = one.contrast
    name = named(one.before) if one.before == one.after else f"{named(one.before)} > {named(one.after)}"
    for words, cases in (("gained", it.gained), ("lost", it.lost)):
        if cases:
            say(f"  {name}: {words} {few(list(map(_case, cases)), most=_MOST)}")
    if one.finding is Finding.INCONCLUSIVE:
        told: Span = "as many gained as lost" if it.gained else "no case differs"
        if one.needed is not None:
            told = f"about {one.needed} pairs would tell such a difference"
        say(f"  {name}: {told}")
    if it.unpaired:
        say(f"  {name}: on one side only: {few(it.unpaired, most=_MOST)}")


def _case(one: Discordant) -> str:
    whole = {one.before, one.after} <= {0.0, 1.0}
    shares = "" if whole else f" ({percent(one.before)}, {percent(one.after)})"
    return f"{one.suite}/{one.case}{shares}"


def _regressions(found: Regressions) -> None:
    title("baseline", f": {several(found.compared, 'case')} compared")
    for one in found.broken:
        outcomes = ", ".join(f"{result} {count}" for result, count in one.outcomes.items())
        say("  ", ("regression", "bad"), f" {one.suite}/{one.case} ({named(one.condition)}): {outcomes}")
    for declined in found.declined:
        counts = f"{len(declined.lost)} lost, {len(declined.gained)} gained, p = {declined.p:.2g}"
        say("  ", ("regression", "bad"), f" {named(declined.condition)}: {counts}")
        say(f"    lost {few(declined.lost, most=_MOST)}")
    if not found.any:
        say("  ", ("no regression", "good"))
    for words, cases in (
        ("not judged now", found.unjudged),
        ("not compared, since they ask something else", found.changed),
        ("new", found.new),
    ):
        if cases:
            say(f"  {words}: {few(cases, most=_MOST)}")
