"""One turn in every target's form: what each leaves out, and what stays open there."""

from dataclasses import dataclass

from packbelt.catalog.registry import pick
from packbelt.model import PackbeltError
from packbelt.providers import TARGETS, Axis, Form, Target, target
from packbelt.turn.turn import Turn


@dataclass(frozen=True, slots=True)
class Row:
    """One target.

    Attributes:
        target: the target.
        form: the belt in its form, without what cannot be said there; None where it refuses the whole.
        left_out: what is left out, by wire name, and why.
        refused: why there is no form.
    """

    target: Target
    form: Form | None
    left_out: tuple[tuple[str, str], ...] = ()
    refused: str = ""

    @property
    def proved_on(self) -> str:
        """Package and version that what is said of the target was proved on."""
        return f"{self.target.package} {self.target.proved_on}".strip()

    @property
    def is_open(self) -> bool:
        """Whether something stays open, is shown besides, or is left out."""
        return (
            self.form is None
            or bool(self.left_out)
            or bool(self.form.enforcement.residue)
            or bool(open_axes(self.form))
        )


def open_axes(form: Form) -> tuple[Axis, ...]:
    """The axes on which something stays open in a form's target."""
    return tuple(axis for axis, cell in form.enforcement.cells.items() if cell.open)


def left_out(turn: Turn, form: Form) -> tuple[tuple[str, str], ...]:
    """The tools of a turn that its form has not, by wire name, and why; its own search has the packed."""
    belt = turn.belt
    ways_in = (belt.opener, belt.finder) if form.search else ()  # its own search has their place
    said = {*form.names.shown, *(tool.wire_name for tool in ways_in if tool)}
    away = pick(belt.registry.tools, belt.packed | belt.deferred) if form.search else ()
    why = {one.name: one.message.removesuffix("; it is left out") for one in form.diagnostics}
    missing = [tool.wire_name for tool in (*turn.tools, *away) if tool.wire_name not in said]
    return tuple((name, why.get(name, "")) for name in missing)


def matrix(turn: Turn) -> tuple[Row, ...]:
    """A turn in every target's form, without what cannot be said there."""
    return tuple(_row(turn, target(name)) for name in TARGETS)


def _row(turn: Turn, found: Target) -> Row:
    try:
        form = turn.compile(found.name, strict=False)
    except PackbeltError as error:
        return Row(found, None, refused=str(error))
    return Row(found, form, left_out(turn, form))
