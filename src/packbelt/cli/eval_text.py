"""`packbelt eval` for people: a line for each case, the rates, and the calls where they are asked for."""

from packbelt.cli.output import Column, Span, Table, draw, say, several, title
from packbelt.evals import CaseReport, Condition, Made, Rate, Result, SuiteReport
from packbelt.model.encode import compact
from packbelt.model.text import cut, one_line

_STYLE = {Result.REACHED: "good", Result.REACHED_LATE: "away", Result.HARNESS_ERROR: "odd"}
_ANSWER = 200
"""Bytes of an answer that a trace shows."""


def show(
    report: SuiteReport, summary: str, condition: Condition, repeat: int, *, trace: bool, first: bool
) -> None:
    """One suite, played once."""
    again = f", repeat {repeat}" if repeat else ""
    title(f"{report.suite}", f": {words_of(condition)}{again}", first=first)
    if summary:
        say(f"  {summary}")
    table = Table((Column("case"), Column("result"), Column("expected"), Column("called", wraps=True)))
    for case in report.cases:
        table.add(case.id, (str(case.result), _STYLE.get(case.result, "bad")), _expected(case), _called(case))
    draw(table)
    say(
        f"  first step {rate(report.first_step)}, within their steps {rate(report.within)}",
        _unjudged(report),
    )
    for case in report.cases:
        if trace:
            _show_trace(case)
        if case.trace.error:
            say(f"  {case.id}: ", (case.trace.error, "bad"))


def words_of(condition: Condition) -> str:
    """A condition in a few words."""
    broken = () if condition.mutation is None else (condition.mutation,)
    return ", ".join((condition.model, condition.layout, *broken))


def rate(share: Rate) -> str:
    """A share in words."""
    return f"{share.part} of {share.whole}"


def _unjudged(report: SuiteReport) -> Span:
    count = len(report.cases) - len(report.judged)
    return (f" ({several(count, 'case')} not judged: the eval itself failed)", "odd") if count else ""


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


def _show_trace(case: CaseReport) -> None:
    title(f"  {case.id}", f": {one_line(case.request)}")
    for number, reply in enumerate(case.trace.replies, 1):
        if reply.text:
            say(f"    {number}. says: {one_line(reply.text)}")
        for call in reply.calls:
            given = call.arguments if isinstance(call.arguments, str) else compact(call.arguments)
            say(f"    {number}. {call.name}({one_line(given)})", (f" {call.refused or call.outcome}", "dim"))
            say(f"       {cut(one_line(call.answer), _ANSWER)}")
