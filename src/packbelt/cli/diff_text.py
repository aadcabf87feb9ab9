"""`packbelt diff` for people: a table of the agents that differ, then what changed, grouped by its cause."""

from collections.abc import Sequence

from packbelt.checks.difference import AgentDiff, Diff, Kind
from packbelt.checks.worse import Worse
from packbelt.cli.diff_words import (
    KINDS,
    MOST,
    UNASKED,
    Group,
    approvals,
    arrival,
    breaks,
    cause_of,
    change_of,
    groups,
    kept_of,
    life_of,
    listed,
    place_of,
    tokens_of,
    unfelt,
    verdict,
)
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
)
from packbelt.model import Diagnostic

_TOOLS = 6
"""Tools that one line names."""

_AGENTS = 4
"""Agents that one line names."""


def tools_of(group: Group, *, everything: bool) -> str:
    """A group's tools."""
    return listed(group.tools, _TOOLS, everything=everything)


def agents_of(group: Group, *, everything: bool) -> str:
    """A group's agents."""
    return listed(group.agents, _AGENTS, everything=everything)


def show_diff(old: str, new: str, found: Diff, failed: Sequence[Worse], *, everything: bool) -> None:
    """A difference.

    Args:
        old: what the one side is called.
        new: what the other is called.
        found: the difference.
        failed: the conditions of `--fail-on` that hold.
        everything: whether nothing is cut.
    """
    differing = found.differing
    alike = len(found.agents) - len(differing)
    say((f"{old} → {new}", "title"))
    if found.empty:
        say("  no difference that packbelt knows of")
    else:
        verb = "differs" if len(differing) == 1 else "differ"
        say(f"  {several(len(differing), 'agent')} {verb}, {alike} alike")
    _agents(differing, everything=everything)
    for kind, heading, style in KINDS:
        _changes(differing, kind, heading, style, everything=everything)
    _approvals(differing, everything=everything)
    _tools(found, everything=everything)
    _breaks(differing, everything=everything)
    _arrivals(differing, everything=everything)
    for heading, some in (("New findings", found.found), ("Vanished findings", found.mended)):
        _findings(heading, some, everything=everything)
    if failed:
        title(("Fails on", "bad"))
        for line in verdict(failed):
            say("  ", line)


def _agents(differing: Sequence[AgentDiff], *, everything: bool) -> None:
    if not differing:
        return
    say("")
    figures = (Column("lost", "right"), Column("gained", "right"), Column("moved", "right"))
    cost = (Column("tokens", "right"), Column("", "right"), Column("cache keeps", wraps=True))
    table = Table((Column("agent", wraps=True), *figures, *cost))
    for one in differing if everything else [one for one in differing if one.felt]:
        counts = [number(len(one.of(kind))) if one.of(kind) else "-" for kind, _, _ in KINDS]
        last: Span = kept_of(one.prefix)
        if life_of(one):
            last = (life_of(one), "bad" if one.after != "starts" else "good")
        table.add(one.agent, *counts, tokens_of(one), change_of(one), last)
    draw(table)
    if not everything and (line := unfelt(differing)):
        say((f"  {line}  (--all)", "dim"))


def _changes(
    differing: Sequence[AgentDiff], kind: Kind, heading: str, style: str, *, everything: bool
) -> None:
    found = groups(differing, kind)
    if not found:
        return
    title((heading, style))
    for group in found:
        before, after = str(group.like.before), str(group.like.after)
        way = (before, STATE_STYLE[before]), " → ", (after, STATE_STYLE[after])
        mark: Span = ("  (widened)", "odd") if group.like.widened else ""
        say("  ", tools_of(group, everything=everything), "  ", *way, mark)
        say(("      for ", "dim"), agents_of(group, everything=everything))
        place = place_of(group)
        say((f"      {cause_of(group)}{f', {place}' if place else ''}", "dim"))


def _approvals(differing: Sequence[AgentDiff], *, everything: bool) -> None:
    found = approvals(differing)
    if found:
        title("Approval")
    for tools, agents, now in found:
        words: Span = ("a person approves each call now", "dim") if now else (UNASKED, "odd")
        say(f"  {listed(tools, _TOOLS, everything=everything)}  ", words)
        say(("      for ", "dim"), listed(agents, _AGENTS, everything=everything))


def _tools(found: Diff, *, everything: bool) -> None:
    rows = (("new", found.tools_new), ("gone", found.tools_gone), ("defined anew", found.tools_changed))
    if not any(names for _, names in rows):
        return
    title("Tools")
    table = Table((Column(), Column("", "right"), Column(wraps=True)))
    for word, names in rows:
        if names:
            table.add(word, number(len(names)), listed(names, _TOOLS, everything=everything))
    draw(table)


def _breaks(differing: Sequence[AgentDiff], *, everything: bool) -> None:
    lines = breaks(differing)
    if lines:
        title("Prompt cache", (", of a session that begins now", "dim"))
    for line, agents in lines.items():
        say(f"  {listed(agents, _AGENTS, everything=everything)}: ", (line, "dim"))


def _arrivals(differing: Sequence[AgentDiff], *, everything: bool) -> None:
    """Agents that came, went, or start on one side only."""
    some = [one for one in differing if life_of(one)]
    if not some:
        return
    title("Agents that came or went")
    for one in some:
        tools = listed([change.tool for change in one.changes], _TOOLS, everything=everything)
        style = "good" if one.after == "starts" else "bad"
        say(f"  {one.agent}: ", (life_of(one), style), arrival(one, tools))
        for reason in one.refused:
            say("      ", (spot_of(reason), "dim"), reason.message)


def _findings(heading: str, found: Sequence[Diagnostic], *, everything: bool) -> None:
    if not found:
        return
    title(heading, (f": {len(found)}", "dim"))
    shown = found if everything else found[:MOST]
    for one in shown:
        level = (f"{one.level} ", LEVEL_STYLE[one.level])
        say("  ", level, (spot_of(one), "dim"), one.message, (f"  [{one.code}]", "dim"))
    if len(found) > len(shown):
        say((f"  and {len(found) - len(shown)} more; --all shows them", "dim"))
