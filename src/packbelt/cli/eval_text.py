"""`packbelt eval` for people: a line for each case, the rates, and the calls where they are asked for."""

from collections import Counter
from collections.abc import Sequence

from packbelt.cli.output import Column, Span, Table, draw, say, several, title
from packbelt.evals import CaseReport, Condition, Made, Played, Result
from packbelt.evals.judge.cells import Cell, mean
from packbelt.evals.judge.intervals import Estimate
from packbelt.model.encode import compact
from packbelt.model.text import cut, one_line

_STYLE = {Result.REACHED: "good", Result.REACHED_LATE: "away", Result.HARNESS_ERROR: "odd"}
_ANSWER = 200
"""Bytes of an answer that a trace shows."""


def show(own: Sequence[Cell], summary: str, *, trace: bool, first: bool) -> None:
    """One suite under one condition, a line for each case whatever its repeats.

    Of several plays of a case the calls are those of the first that did not pass.
    """
    plays = max(len(cell.plays) for cell in own)
    often = f", {plays} plays of each case" if plays > 1 else ""
    title(own[0].suite, f": {words_of(own[0].condition)}{often}", first=first)
    if summary:
        say(f"  {summary}")
    table = Table((Column("case"), Column("result"), Column("expected"), Column("called", wraps=True)))
    for cell in own:
        table.add(cell.case, _result(cell), _expected(cell.report), _called(_telling(cell)))
    draw(table)
    rates = mean(own, lambda one: one.verdict.first), mean(own)
    say("  first step {}, within their steps {}".format(*map(_rate, rates)), _unjudged(own))
    for cell in own:
        if trace:
            for play in cell.plays:
                _show_trace(play)
        for error in dict.fromkeys(play.report.trace.error for play in cell.plays):
            if error:
                say(f"  {cell.case}: ", (error, "bad"))


def words_of(condition: Condition) -> str:
    """A condition in a few words."""
    broken = () if condition.mutation is None else (condition.mutation,)
    return ", ".join((condition.model, condition.layout, *broken))


def _result(cell: Cell) -> Span:
    """The outcome, or how often each was."""
    counted = Counter(play.report.result for play in cell.plays)
    if len(cell.plays) == 1:
        (result,) = counted
        return str(result), _STYLE.get(result, "bad")
    words = ", ".join(f"{result} {counted[result]}" for result in Result if counted[result])
    return words, "good" if cell.always else "bad" if cell.judged else "odd"


def _telling(cell: Cell) -> CaseReport:
    """The first play that did not pass, or the first of all."""
    return next((one for one in cell.judged if not one.passed), cell.report)


def _rate(share: Estimate) -> str:
    return f"{round(share.part, 2):g} of {share.whole}"


def _unjudged(own: Sequence[Cell]) -> Span:
    count = sum(len(cell.plays) - len(cell.judged) for cell in own)
    return (f" ({several(count, 'play')} not judged: the eval itself failed)", "odd") if count else ""


def _expected(case: CaseReport) -> str:
    steps = (" or ".join(map(_plain, step)) for step in case.expected.steps)
    return ", ".join(steps) or "no tool"


def _plain(identity: str) -> str:
    """An identity as a case would name it."""
    return identity.removeprefix("handoff:").removeprefix("native:").removeprefix("server:")


def _called(case: CaseReport) -> str:
    return ", ".join(_call(call) for call in case.trace.calls) or "nothing"


def _call(call: Made) -> str:
    """A call in one word, in brackets where it only looked, with a mark where it was refused."""
    if call.looked:
        return f"({call.name})"
    inside = _plain(call.tool) if call.tool else call.name
    through = "" if inside.rpartition("/")[2] in call.name else f"{call.name} > "
    return f"{through}{inside}{' (refused)' if call.refused else ''}"


def _show_trace(play: Played) -> None:
    case, repeat = play.report, play.trial.repeat
    title(f"  {case.id}", f"{f', repeat {repeat}' if repeat else ''}: {one_line(case.request)}")
    for number, reply in enumerate(case.trace.replies, 1):
        if reply.text:
            say(f"    {number}. says: {one_line(reply.text)}")
        for call in reply.calls:
            given = call.arguments if isinstance(call.arguments, str) else compact(call.arguments)
            say(f"    {number}. {call.name}({one_line(given)})", (f" {call.refused or call.outcome}", "dim"))
            say(f"       {cut(one_line(call.answer), _ANSWER)}")
