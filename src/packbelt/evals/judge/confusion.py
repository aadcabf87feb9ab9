"""Which tool was expected, and which was called: a matrix, and recall and precision of each hand-off."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from packbelt.evals.judge.cells import Cell
from packbelt.evals.report import CaseReport
from packbelt.evals.trace import Made
from packbelt.model import HintClass

NONE, INVENTED, MALFORMED = "none", "invented", "malformed"
"""Columns that are no tool: nothing was called; a name that does not exist; a call that means no tool."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A matrix of plays.

    Attributes:
        rows: what was expected: an identity, several with ` or ` between them, or `none`.
        columns: what was called; the rows come first, and `none` and `invented` are always there.
        counts: plays, a row for each row.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(among: Sequence[Cell], which: Literal["first", "last"] = "first") -> Confusion:
    """What was called first or at last, against the first or last call that was expected.

    Opening a pack and searching call nothing, so that they are passed over. A call counts whether the gate
    let it through or not: this says what the model chose.

    Args:
        among: cells of one condition; what the harness failed in is left out.
        which: the first choice, or the last.
    """
    at = 0 if which == "first" else -1
    plays = [one for cell in among for one in cell.judged]
    counted = Counter((_row(one, at), _column(one, at)) for one in plays)
    rows = tuple(sorted({row for row, _ in counted}, key=lambda name: (name == NONE, name)))
    special = [NONE, INVENTED, *([MALFORMED] if any(to == MALFORMED for _, to in counted) else [])]
    other = sorted({to for _, to in counted} - {*rows, *special})
    columns = (*(row for row in rows if row != NONE), *other, *special)
    return Confusion(rows, columns, tuple(tuple(counted[row, to] for to in columns) for row in rows))


def _row(one: CaseReport, at: int) -> str:
    return " or ".join(one.expected.steps[at]) if one.expected.steps else NONE


def _column(one: CaseReport, at: int) -> str:
    calls = [call for call in one.trace.calls if not call.looked]
    if not calls:
        return NONE
    called = _called(calls[at])
    return _row(one, at) if one.expected.steps and called in one.expected.steps[at] else called


def _called(call: Made) -> str:
    if call.tool is not None:
        return call.tool
    return INVENTED if call.refused in (HintClass.UNKNOWN, HintClass.AMBIGUOUS) else MALFORMED


@dataclass(frozen=True, slots=True)
class HandOff:
    """How well one hand-off was chosen.

    Attributes:
        identity: which.
        expected: plays in which it was.
        called: plays in which it was called, and let through.
        right: plays in which it was both.
    """

    identity: str
    expected: int
    called: int
    right: int

    @property
    def recall(self) -> float | None:
        """Of the plays that expected it, those that called it; None where none did."""
        return self.right / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        """Of the plays that called it, those that expected it; None where none did."""
        return self.right / self.called if self.called else None

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 0 where it was never right."""
        return 2 * self.right / (self.expected + self.called) if self.expected + self.called else 0.0


@dataclass(frozen=True, slots=True)
class HandOffs:
    """All hand-offs that were expected or called.

    Attributes:
        each: by identity.
        recall, precision, f1: the means over those that were expected, each hand-off alike; one that was
            never called has a precision of 0. None where no hand-off was expected.
    """

    each: tuple[HandOff, ...]
    recall: float | None
    precision: float | None
    f1: float | None


def hand_offs(among: Sequence[Cell]) -> HandOffs:
    """Recall and precision of each hand-off, over the plays of some cells of one condition.

    Where any one of several was expected, the one that was called counts as expected, or all where none was.
    """
    expected: Counter[str] = Counter()
    called: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in (one for cell in among for one in cell.judged):
        made = {call.tool for call in one.trace.calls if call.target and call.tool and call.refused is None}
        wanted = set(_wanted(one, made))
        expected.update(wanted)
        called.update(made)
        right.update(wanted & made)
    each = tuple(
        HandOff(name, expected[name], called[name], right[name]) for name in sorted({*expected, *called})
    )
    asked = [one for one in each if one.expected]
    if not asked:
        return HandOffs(each, None, None, None)
    return HandOffs(
        each,
        mean(one.recall or 0.0 for one in asked),
        mean(one.precision or 0.0 for one in asked),
        mean(one.f1 for one in asked),
    )


def _wanted(one: CaseReport, made: set[str]) -> Iterator[str]:
    for step in one.expected.steps:
        handed = [name for name in step if name.startswith("handoff:")]
        taken = [name for name in handed if name in made]
        yield from taken or (handed if len(handed) == len(step) or not _other(one, step) else ())


def _other(one: CaseReport, step: tuple[str, ...]) -> bool:
    """Whether a step was taken by a tool that is no hand-off."""
    return any(call.tool in step and call.refused is None for call in one.trace.calls)
