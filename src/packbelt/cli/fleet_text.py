"""`packbelt dump` without an agent, for people: every agent in one table, and where to look next."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from packbelt.catalog.registry import Registry
from packbelt.cli.json_forms import refusal
from packbelt.cli.output import (
    LEVEL_STYLE,
    Column,
    Table,
    draw,
    number,
    say,
    several,
    spot_of,
    title,
    words_of,
)
from packbelt.cli.words import CONNECT, not_connected, place, show_servers
from packbelt.cost import Method
from packbelt.model import Code, Diagnostic, Level, PackbeltError

if TYPE_CHECKING:
    from packbelt.turn import Turn

_IDLE = 8
"""Agents that can call nothing, from more than which they share a line."""
_IDLE_NAMED = 6
"""Such agents that the line names."""


def show_fleet(
    registry: Registry,
    turns: Mapping[str, "Turn | PackbeltError"],
    method: Method,
    *,
    everything: bool,
    given: str = "",
) -> None:
    """Every agent; one that cannot start with the reasons.

    Args:
        registry: what is known.
        turns: each agent's turn, or why it has none.
        method: how tokens are counted.
        everything: whether each of many agents that can call nothing gets a row too.
        given: the options that named workspace and snapshot, for the next commands.
    """
    say((several(len(turns), "agent"), "title"), (f"  {place(registry)}", "dim"))
    _remarks(registry, turns)
    idle = [] if everything else _idle(registry, turns)
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
        if name in idle:
            continue
        belt, cost = turn.belt, turn.measure(method)
        packed = belt.packed.bit_count()
        withheld = len(belt.withheld) - packed
        counts = (len(turn.tools), packed, withheld, cost.total, cost.if_unpacked + cost.sections)
        remarks = remarks or bool(turn.diagnostics)
        table.add(name, *(number(count) for count in counts), _levels(turn.diagnostics))
    draw(table)
    if idle:
        more = ", ..." if len(idle) > _IDLE_NAMED else ""
        names = ", ".join(idle[:_IDLE_NAMED])
        say(f"  {several(len(idle), 'agent')} without a known tool: {names}{more}", ("  (--all)", "dim"))
    _refused(refused)
    _next(registry, given, remarks=remarks or bool(refused))


def _remarks(registry: Registry, turns: Mapping[str, "Turn | PackbeltError"]) -> None:
    """What holds for the whole table."""
    workspace = registry.workspace
    root = workspace.agents.get(workspace.orchestrator)
    if root is not None and not root.file:
        say(f"  {root.name} is implied: packbelt's own root, every agent is its delegate")
    started = [turn for turn in turns.values() if not isinstance(turn, PackbeltError)]
    if any(one.code is Code.AGENT_BUILTIN for turn in started for one in turn.diagnostics):
        say("  Claude Code's own tools (Bash, Read, ...) are not counted here")


def _idle(registry: Registry, turns: Mapping[str, "Turn | PackbeltError"]) -> list[str]:
    """Agents that can call nothing, if they are many; never the root."""
    names = [
        name
        for name, turn in turns.items()
        if not isinstance(turn, PackbeltError)
        and not turn.belt.callable
        and name != registry.workspace.orchestrator
    ]
    return names if len(names) > _IDLE else []


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
            say("  ", (name, "bad"), "  ", (spot_of(one), "dim"), words_of(one))


def _next(registry: Registry, given: str, *, remarks: bool) -> None:
    root = registry.workspace.orchestrator
    more = f" {given}" if given else ""
    table = Table((Column(), Column()))
    table.add(f"packbelt dump {root}{more}", ("one belt in full", "dim"))
    table.add(f"packbelt explain {root} TOOL{more}", ("why a tool is or is not on it", "dim"))
    if remarks or registry.workspace.diagnostics:
        table.add(f"packbelt check{more}", ("what is wrong, where, and the mend", "dim"))
    if not_connected(registry, registry.servers):
        table.add(f"{CONNECT}{more}", ("start the servers, keep what they offer", "dim"))
    title("Next")
    draw(table)
