"""`packbelt dump` without an agent, for people: every agent in one table, and where to look next."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from packbelt.catalog.registry import Registry
from packbelt.cli.json_forms import refusal
from packbelt.cli.output import LEVEL_STYLE, Column, Table, draw, number, say, several, title
from packbelt.cli.words import CONNECT, not_connected, place, show_servers
from packbelt.cost import Method
from packbelt.model import Diagnostic, Level, PackbeltError

if TYPE_CHECKING:
    from packbelt.turn import Turn


def show_fleet(registry: Registry, turns: Mapping[str, "Turn | PackbeltError"], method: Method) -> None:
    """Every agent; one that cannot start with the reasons."""
    say((several(len(turns), "agent"), "title"), (f"  {place(registry)}", "dim"))
    show_servers(registry, registry.servers)
    say("")
    columns = ("sent", "packed", "withheld", "tokens", "if unpacked")
    figures = (Column(name, "right") for name in columns)
    table = Table((Column("agent"), *figures, Column("remarks", wraps=True)))
    refused = {name: refusal(name, turn) for name, turn in turns.items() if isinstance(turn, PackbeltError)}
    remarks = False
    for name, turn in turns.items():
        if isinstance(turn, PackbeltError):
            table.add(name, "-", "-", "-", "-", "-", ("refused", "bad"))
            continue
        belt, cost = turn.belt, turn.measure(method)
        packed = belt.packed.bit_count()
        withheld = len(belt.withheld) - packed
        counts = (len(turn.tools), packed, withheld, cost.total, cost.if_unpacked + cost.sections)
        remarks = remarks or bool(turn.diagnostics)
        table.add(name, *(number(count) for count in counts), _levels(turn.diagnostics))
    draw(table)
    _refused(refused)
    _next(registry, remarks=remarks or bool(refused))


def _levels(diagnostics: tuple[Diagnostic, ...]) -> tuple[str, str]:
    count = Counter(one.level for one in diagnostics)
    worst = next((level for level in Level if count[level]), Level.NOTE)
    return ", ".join(several(count[level], level) for level in Level if count[level]), LEVEL_STYLE[worst]


def _refused(refused: Mapping[str, Sequence[Diagnostic]]) -> None:
    if not refused:
        return
    title("Refused")
    for name, reasons in refused.items():
        for one in reasons:
            where = f"{one.where}: " if one.where else ""
            mend = f"; {one.mend}" if one.mend else ""
            say("  ", (name, "bad"), "  ", (where, "dim"), one.message + mend)


def _next(registry: Registry, *, remarks: bool) -> None:
    root = registry.workspace.orchestrator
    table = Table((Column(), Column()))
    table.add(f"packbelt dump {root}", ("one belt in full", "dim"))
    table.add(f"packbelt explain {root} TOOL", ("why a tool is or is not on it", "dim"))
    if remarks or registry.workspace.diagnostics:
        table.add("packbelt check", ("what is wrong, where, and the mend", "dim"))
    if not_connected(registry, registry.servers):
        table.add(CONNECT, ("start the servers, keep what they offer", "dim"))
    title("Next")
    draw(table)
