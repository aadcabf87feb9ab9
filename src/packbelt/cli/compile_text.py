"""`packbelt compile` for people: what a target does with a belt, what packbelt adds, and what stays open."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout

from packbelt.cli.output import Column, Span, Table, draw, number, say, several, title
from packbelt.providers import Axis, Cell, Form
from packbelt.turn import Turn
from packbelt.turn.matrix import Row

NAMES = {
    Axis.VISIBLE: "visible",
    Axis.CALLABLE: "callable",
    Axis.AUTO_APPROVED: "approved",
    Axis.DENIED: "denied",
    Axis.UNKNOWN: "unknown",
    Axis.LATE: "late",
}
"""Short names of the axes."""
MARKS = {"target": "good", "guard": "good", "open": "odd"}
"""Who sees to an axis, and the style of that word."""


def show_form(turn: Turn, form: Form) -> None:
    """The enforcement of one form, on standard error, beside the JSON on standard output."""
    enforcement = form.enforcement
    with redirect_stdout(sys.stderr):
        sent = several(len(enforcement.plan), "tool")
        title(f"{turn.agent} in {enforcement.target.title}", f"  {sent}, proved on {enforcement.proved_on}")
        _sentences(enforcement.cells)
        _besides(enforcement.residue)


def show_matrix(turn: Turn, rows: Sequence[Row], *, everything: bool) -> None:
    """Every target against every axis, then what stays open."""
    if everything:
        for row in rows:
            if row.form is not None:
                title(row.target.title, f"  {row.target.name}, {row.proved_on}", first=row is rows[0])
                _sentences(row.form.enforcement.cells)
        say("")
    title(f"{turn.agent} on every target", first=not everything)
    _grid(rows)
    say("")
    say("  target: the target itself sees to it; guard: packbelt does; open: something stays open")
    for row in rows:
        _findings(row, sentences=not everything)
    if not everything:
        say("")
        say("  --all has every sentence; packbelt compile ", turn.agent, " --for TARGET has the form")


def _grid(rows: Iterable[Row]) -> None:
    columns = [Column("target"), Column("tools", "right"), *(Column(NAMES[axis]) for axis in Axis)]
    table = Table([*columns, Column("proved on", wraps=True)])
    for row in rows:
        if row.form is None:
            table.add(row.target.name, ("none", "bad"))
            continue
        cells = row.form.enforcement.cells
        marks = [_mark(cells[axis]) for axis in Axis]
        table.add(row.target.name, number(len(row.form.enforcement.plan)), *marks, (row.proved_on, "dim"))
    draw(table)


def _mark(cell: Cell) -> Span:
    mark = "open" if cell.open else "guard" if cell.guard else "target"
    return mark, MARKS[mark]


def _findings(row: Row, *, sentences: bool) -> None:
    """What a person should know of a target: what it has not, what it has besides, and what stays open."""
    if row.form is None:
        title(row.target.name, f"  {row.target.title}")
        say("  ", ("refused", "bad"), f"  {row.refused}")
        return
    enforcement = row.form.enforcement
    table = Table([Column(), Column(wraps=True)])
    for name, why in row.left_out:
        table.add((f"without {name}", "bad"), why)
    if sentences:
        for axis, cell in enforcement.cells.items():
            if cell.open:
                table.add((NAMES[axis], "odd"), cell.open)
    if table.rows or enforcement.residue:
        title(row.target.name, f"  {row.target.title}, proved on {row.proved_on}")
        draw(table)
        _besides(enforcement.residue)


def _besides(residue: Sequence[str]) -> None:
    if residue:
        say("  ", ("shown besides", "odd"), f"  {', '.join(residue)}")


def _sentences(cells: Mapping[Axis, Cell]) -> None:
    table = Table(
        [
            Column("axis"),
            Column("the target itself", wraps=True),
            Column("packbelt", wraps=True),
            Column("stays open", wraps=True),
        ]
    )
    for axis in Axis:
        cell = cells[axis]
        table.add(NAMES[axis], cell.target, (cell.guard, "good"), (cell.open, "odd"))
    draw(table)
