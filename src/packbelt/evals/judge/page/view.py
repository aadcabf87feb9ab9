"""What the page shows, worked out: the template only writes it down."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packbelt.evals.judge.assessment import assess
from packbelt.evals.judge.cells import Cell, Key, cells, conditions, under
from packbelt.evals.judge.compare import Comparison
from packbelt.evals.judge.confusion import Confusion, confusion
from packbelt.evals.judge.gate import named
from packbelt.evals.outcomes import Result
from packbelt.evals.trials import Played


@dataclass(frozen=True, slots=True)
class Square:
    """A cell of the grid.

    Attributes:
        index: its place in the traces.
        mark: what it says: a tick, a cross, a share or `error`.
        kind: `good`, `part`, `bad` or `odd`.
        results: its outcomes, for the reader.
    """

    index: int
    mark: str
    kind: str
    results: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the grid.

    Attributes:
        key: suite and case.
        tags: of the case.
        request: of the case.
        squares: one for each condition; None where it was not played.
        differs: whether the conditions came out differently.
    """

    key: Key
    tags: tuple[str, ...]
    request: str
    squares: tuple[Square | None, ...]
    differs: bool


def view(played: Sequence[Played], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The parts of the page, by the names that the template has for them."""
    among = cells(played)
    found = assess(played)
    asked = conditions(among)
    counts = [one.outcomes for one in found]
    outcomes = [result for result in Result if any(result in one for one in counts)]
    return {
        "assessments": [(named(one.condition), one) for one in found],
        "names": [named(one) for one in asked],
        "outcomes": [
            (result, result.meaning, [(one.get(result, 0), sum(one.values())) for one in counts])
            for result in outcomes
        ],
        "matrices": [
            (named(one), [("first", _shaded(own, "first")), ("last", _shaded(own, "last"))])
            for one, own in ((one, under(among, one)) for one in asked)
            if any(cell.judged for cell in own)
        ],
        "lines": _lines(among),
        "comparisons": [one for one in comparisons if one.pairings],
        "named": named,
        "percent": _percent,
        "plain": plain,
    }


def _shaded(own: Sequence[Cell], which: Any) -> tuple[Confusion, list[int]]:
    """A matrix, and the largest count of each row."""
    found = confusion(own, which)
    return found, [max(1, *row) for row in found.counts]


def _lines(among: Sequence[Cell]) -> list[Line]:
    asked = conditions(among)
    index = {(one.key, one.condition): i for i, one in enumerate(among)}
    lines = []
    for key in dict.fromkeys(one.key for one in among):
        places = [index.get((key, condition)) for condition in asked]
        squares = tuple(None if i is None else _square(i, among[i]) for i in places)
        shares = {among[i].share for i in places if i is not None and among[i].judged}
        one = next(among[i] for i in places if i is not None).report
        lines.append(Line(key, one.tags, one.request, squares, len(shares) > 1))
    return lines


def _square(i: int, cell: Cell) -> Square:
    results = ", ".join(str(play.report.result) for play in cell.plays)
    if not cell.judged:
        return Square(i, "error", "odd", results)
    once = "✓" if cell.always else "✗"
    mark = f"{cell.passed}/{len(cell.judged)}" if len(cell.plays) > 1 else once
    kind = "good" if cell.always else "part" if cell.passed else "bad"
    return Square(i, mark, kind, results)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"  # noqa: RUF001 - a dash where there is no figure


def plain(identity: str) -> str:
    """An identity as a case would name it."""
    parts = identity.split(" or ")
    return " or ".join(
        part.removeprefix("handoff:").removeprefix("native:").removeprefix("server:") for part in parts
    )
