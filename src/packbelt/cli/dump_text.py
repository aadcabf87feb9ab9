"""`packbelt dump` for people: one belt in full. Its lines add up to its total."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from packbelt.catalog.registry import bits
from packbelt.catalog.workspace import MCP
from packbelt.cli.output import (
    LEVEL_STYLE,
    STATE_STYLE,
    Column,
    Span,
    Table,
    draw,
    number,
    say,
    several,
    spot_of,
    title,
    words_of,
)
from packbelt.cli.words import instead, place, show_servers, source_words
from packbelt.cost import Cost, Method, line_tokens, shared_text
from packbelt.model import NOTHING_TO_DO, Code, Diagnostic, State
from packbelt.model.text import few

if TYPE_CHECKING:
    from packbelt.belt import Belt, BeltTool
    from packbelt.turn import Turn

_WITHHELD = (
    State.DEFERRED,
    State.RESERVED,
    State.OVER_CEILING,
    State.UNAVAILABLE,
    State.OFF_BELT,
    State.DENIED,
)
"""States of withheld tools but for the packed, which the packs show; what has a way to it first."""

_NAMED = 3
"""Families, or servers, that one line names."""

_WORTH_SAYING = 100
"""Tokens of repeated text from which it is mentioned."""


def show_turn(turn: "Turn", method: Method, *, everything: bool) -> None:
    """One agent's belt.

    Args:
        turn: the turn.
        method: how tokens are counted.
        everything: whether each tool that is put away or withheld gets a line.
    """
    belt = turn.belt
    cost = turn.cost if method == "json" else turn.measure(method)
    _head(turn, cost)
    show_servers(belt.registry, belt.subject.servers)
    _direct(turn, cost)
    _packs(belt, method, everything=everything)
    _withheld(belt, method, everything=everything)
    _sections(cost)
    _total(cost, away=bool(belt.packed or belt.deferred))
    _diagnostics(turn)


def _head(turn: "Turn", cost: Cost) -> None:
    belt = turn.belt
    say((turn.agent, "title"), (f"  {place(belt.registry)}", "dim"))
    counts = [f"{several(len(turn.tools), 'tool')} sent"]
    if belt.packed:
        counts.append(f"{number(belt.packed.bit_count())} put away")
    others = len(belt.withheld) - belt.packed.bit_count()
    if others:
        counts.append(f"{number(others)} withheld")
    say(", ".join(counts), "; ", (several(cost.total, "token"), "sum"))


def _direct(turn: "Turn", cost: Cost) -> None:
    if not turn.tools:
        title("Direct: no tool is sent")
        return
    title(f"Direct: {several(len(turn.tools), 'tool')}", (", in the order they are sent", "dim"))
    table = Table(
        (
            Column("tool", wraps=True),
            Column("from", wraps=True),
            Column("needs"),
            Column("tokens", "right"),
        )
    )
    marked = False
    for name, tokens in cost.lines:
        entry = turn.belt[name]
        marked = marked or entry.approve
        needs = f"{entry.permission}{' *' if entry.approve else ''}"
        table.add((name, "good"), source_words(turn.belt, entry), needs, number(tokens))
    if cost.overhead:
        table.add_sum("overhead of having tools", "", "", number(cost.overhead))
    table.add_sum(("tools", "sum"), "", "", (number(cost.tools), "sum"))
    draw(table)
    if marked:
        say(("  * a person approves each call", "dim"))
    repeated = shared_text(turn.tools)
    saved = sum(one.saved for one in repeated)
    if saved >= _WORTH_SAYING:
        most = repeated[0]
        text = f"the most: {most.tokens} tokens that stand {most.count} times, {most.sample}"
        say((f"  {number(saved)} tokens of it are repetitions; {text}", "dim"))


def _packs(belt: "Belt", method: Method, *, everything: bool) -> None:
    registry = belt.registry
    figures = (Column("tools", "right"), Column("tokens", "right"))
    table = Table((Column("pack"), *figures, Column("what it holds", wraps=True)))
    away = 0
    for pack in (*registry.workspace.packs, *(MCP + server for server in registry.servers)):
        inside = list(bits((registry.pack_mask(pack) or 0) & belt.packed))
        if not inside:
            continue
        tokens = {i: line_tokens(registry.tools[i], method) for i in inside}
        away += sum(tokens.values())
        summary = registry.pack(pack).summary or f"tools of server {pack.removeprefix(MCP)}"
        table.add((pack, "away"), number(len(inside)), number(sum(tokens.values())), (summary, "dim"))
        if everything:
            for i, one in tokens.items():
                table.add(f"  {registry.tools[i].wire_name}", "", (number(one), "dim"))
    if not table.rows:
        return
    count = belt.packed.bit_count()
    opener = registry.workspace.config.opener
    title(f"Packs: {several(count, 'tool')} put away", (f", called through {opener} or by name", "dim"))
    table.add_sum(("put away", "sum"), (number(count), "sum"), (number(away), "sum"))
    draw(table)


def _withheld(belt: "Belt", method: Method, *, everything: bool) -> None:
    entries = [entry for entry in belt.withheld if entry.state is not State.PACKED]
    if not entries:
        return
    title(f"Withheld: {several(len(entries), 'tool')}")
    groups = _groups(belt, entries)
    if everything:
        for group in groups:
            _each(belt, group, method)
        return
    table = Table(
        (
            Column("state"),
            Column("tools", "right"),
            Column("of", wraps=True),
            Column("by rule"),
            Column("instead", wraps=True),
        )
    )
    alike: dict[tuple[State, str, Span], list[BeltTool]] = {}
    for group in groups:
        first = group[0]
        rule = str(first.decision.reasons[0].rule)
        alike.setdefault((first.state, rule, instead(belt, first)), []).extend(group)
    for (state, rule, way), group in alike.items():
        mark: Span = (str(state), STATE_STYLE[state])
        table.add(mark, number(len(group)), _families(group), (rule, "dim"), way)
    draw(table)
    say(("  --all lists each of them; packbelt explain AGENT TOOL says why", "dim"))


def _groups(belt: "Belt", entries: Sequence["BeltTool"]) -> list[list["BeltTool"]]:
    """Withheld tools by state, rule, family and the way to them."""
    order = {name: place for place, name in enumerate(belt.registry.workspace.packs)}
    groups: dict[tuple[int, str, int, str, str], list[BeltTool]] = {}
    for entry in entries:
        rule = str(entry.decision.reasons[0].rule)
        family = _family(entry)
        way = str(instead(belt, entry))
        key = (_WITHHELD.index(entry.state), rule, order.get(family, len(order)), family, way)
        groups.setdefault(key, []).append(entry)
    return [groups[key] for key in sorted(groups)]


def _family(entry: "BeltTool") -> str:
    return "hand-offs" if entry.tool.target else entry.pack or "no pack"


def _families(group: Sequence["BeltTool"]) -> str:
    """What the tools of a group are, in a few words."""
    if len(group) == 1:
        return group[0].tool.wire_name
    return few(list(dict.fromkeys(_family(entry) for entry in group)), most=_NAMED)


def _each(belt: "Belt", group: Sequence["BeltTool"], method: Method) -> None:
    """One group with a line for each tool."""
    first = group[0]
    reason = first.decision.reasons[0]
    head = f", {number(len(group))} of {_family(first)}"
    say("  ", (str(first.state), STATE_STYLE[first.state]), head)
    where = f" ({reason.where})" if reason.where else ""
    details = {entry.decision.reasons[0].detail for entry in group}
    said = reason.detail if len(details) == 1 else reason.rule.meaning.rstrip(".")
    say((f"    {said}{where}", "dim"))
    way = instead(belt, first)
    if isinstance(way, str):
        say(f"    instead: {way}")
    table = Table((Column(wraps=True), Column(), Column("", "right")))
    for entry in group:
        table.add(entry.tool.wire_name, str(entry.permission), number(line_tokens(entry.tool, method)))
    draw(table, indent=6)


def _sections(cost: Cost) -> None:
    if not cost.section_lines:
        return
    title("Sections of the prompt")
    table = Table((Column("section"), Column("tokens", "right")))
    for name, tokens in cost.section_lines:
        table.add(name, number(tokens))
    table.add_sum(("sections", "sum"), (number(cost.sections), "sum"))
    draw(table)


def _total(cost: Cost, *, away: bool) -> None:
    parts = f" = {number(cost.tools)} tools + {number(cost.sections)} sections"
    title(f"Total: {several(cost.total, 'token')}", (parts, "dim"))
    if not cost.total:
        return
    say(f"  expect {number(cost.low)} to {number(cost.high)} on a provider's bill")
    if away:
        say(f"  {_saving(cost)}; with nothing put away the tools would cost {number(cost.if_unpacked)}")
    say((f"  {cost.encoding}, {cost.method}: {cost.about}", "dim"))


def _saving(cost: Cost) -> str:
    """What putting away saves on the tools, what is sent for it (the opener, the search) taken off."""
    net = cost.if_unpacked - cost.tools
    if net < 0:
        return f"putting away costs {several(-net, 'token')} more than it saves"
    share = f" ({100 * net / cost.if_unpacked:.0f} %)" if net else ""
    sections = ", the sections not counted" if cost.sections else ""
    return f"putting away saves {several(net, 'token')}{share} net of the opener{sections}"


def _diagnostics(turn: "Turn") -> None:
    """Remarks; failed servers stand at the top, and of what asks for nothing each kind has one line."""
    kinds: dict[str, list[Diagnostic]] = {}
    for count, one in enumerate(turn.diagnostics):
        if one.code is not Code.SERVER_FAILED:
            kinds.setdefault(one.code if one.mend == NOTHING_TO_DO else f"{count}", []).append(one)
    if not kinds:
        return
    title("Remarks")
    for one, *rest in kinds.values():
        more = f"; so with {few([other.name for other in rest], most=_NAMED)}" if rest else ""
        say("  ", (f"{one.level} ", LEVEL_STYLE[one.level]), (spot_of(one), "dim"), words_of(one, more))
