"""Rows as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.clock import Figure

NS = {"µs": 1e3, "ms": 1e6}


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        work: what was done.
        value: the figure in `unit`.
        bar: at most this (at least, where `least`); None where the design sets none.
        note: what to know about it.
        best: the quickest sample in `unit`: what a quieter machine would come near.
    """

    work: str
    value: float | None
    unit: str
    bar: float | None = None
    least: bool = False
    note: str = ""
    best: float | None = None

    @property
    def verdict(self) -> str:
        """`ok`, `over` (or `under`), or nothing without a bar."""
        if self.value is None:
            return "not measured"
        if self.bar is None:
            return ""
        if self.least:
            return "ok" if self.value >= self.bar else "under"
        return "ok" if self.value <= self.bar else "over"

    def cells(self) -> tuple[str, ...]:
        """As text."""
        bar = "" if self.bar is None else f"{'≥' if self.least else '≤'} {number(self.bar)} {self.unit}"
        value = "-" if self.value is None else f"{number(self.value)} {self.unit}"
        best = "" if self.best is None else number(self.best)
        return (self.work, value, bar, self.verdict, best, self.note)


def timed(
    work: str, figure: Figure, unit: str, bar: float | None = None, *, per: int = 1, note: str = ""
) -> Row:
    """A row of a median, for each of `per` things done in one call."""
    size = NS[unit] * per
    return Row(work, figure.median / size, unit, bar, note=note, best=figure.best / size)


def number(value: float) -> str:
    """Three digits that matter."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up as plain text too."""
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]

    def text(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([text(head), rule, *map(text, lines)])
