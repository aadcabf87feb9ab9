"""`packbelt plan` for people and for programs."""

from collections.abc import Sequence
from typing import Any

from packbelt.checks.difference import Diff
from packbelt.checks.plan_answer import AgentPlan, Move, Plan
from packbelt.checks.plan_edits import Edit, patch
from packbelt.cli.output import STATE_STYLE, Column, Table, draw, number, say, several, title

NO_DATA = "not enough data"


def plan_json(found: Plan, difference: Diff, changed: Sequence[Edit]) -> dict[str, Any]:
    """A plan as JSON. Costs are tokens a turn, at the price of an uncached one."""
    tokens = {one.agent: (one.tokens, one.tokens_now) for one in difference.agents}
    return {
        "agents": [
            {
                "agent": one.agent,
                "turns": round(one.turns),
                "runs": round(one.runs, 1),
                "enough_data": one.enough,
                "cost": round(one.before, 1),
                "cost_planned": round(one.after, 1),
                "tokens": tokens[one.agent][0],
                "tokens_planned": tokens[one.agent][1],
                "opened": list(one.opened),
                "moves": [_move_json(move) for move in one.moves],
            }
            for one in found.agents
        ],
        "packs": {pack: sorted(names) for pack, names in found.direct.items()},
        "tools": {agent: list(names) for agent, names in found.named.items()},
        "gap": round(found.gap, 1),
        "unknown_agents": sorted(found.unknown),
        "files": [one.file for one in changed],
        "patch": patch(changed),
    }


def _move_json(move: Move) -> dict[str, Any]:
    return {
        "tool": move.item.wire_name,
        "pack": move.item.pack,
        "to": move.to,
        "for": "agent" if move.alone else "all",
        "tokens": move.item.tokens,
        "uses": round(move.uses, 1),
    }


def show_plan(
    found: Plan, difference: Diff, changed: Sequence[Edit], *, written: bool, everything: bool
) -> None:
    """A plan.

    Args:
        found: the plan.
        difference: what it does to the belts.
        changed: its edits.
        written: whether they were written.
        everything: whether every agent is named.
    """
    saved = sum(one.turns * (one.before - one.after) for one in found.agents)
    whole = sum(one.turns * one.before for one in found.agents)
    if found.empty:
        say(("nothing to move: no other placement is surely cheaper", "title"))
    else:
        share = f" ({100 * saved / whole:.1f} %)" if whole else ""
        say((f"saves {number(round(saved))} tokens{share} over what was observed", "title"))
        say("  of what the packs' tools cost, in tokens at the price of an uncached one")
    _agents(found.agents, difference, everything=everything)
    _moves(found.agents)
    if found.gap >= 1:
        say("")
        more = number(round(found.gap))
        say((f"  with a limit of direct tools; a better plan saves {more} more at most", "dim"))
    for name in sorted(found.unknown):
        say((f"  calls of {name!r}, which is no agent that can start, are left aside", "dim"))
    if changed:
        files = ", ".join(one.file for one in changed)
        say("")
        say(f"  {'wrote' if written else 'would change'} {files}")
        if not written:
            say(("  --patch prints the patch for git apply, --write makes the change", "dim"))


def _agents(agents: Sequence[AgentPlan], difference: Diff, *, everything: bool) -> None:
    sent = {one.agent: (one.tokens, one.tokens_now) for one in difference.agents}
    shown = [one for one in agents if everything or one.moves or one.turns]
    if not shown:
        return
    say("")
    figures = (Column("turns", "right"), Column("runs", "right"), Column("a turn", "right"))
    rest = (
        Column("planned", "right"),
        Column("saves", "right"),
        Column("sent", "right"),
        Column("", wraps=True),
    )
    table = Table((Column("agent", wraps=True), *figures, *rest))
    for one in shown:
        before, after = sent[one.agent]
        tokens = number(before or 0) if before == after else f"{number(before or 0)} → {number(after or 0)}"
        said = NO_DATA if not one.enough else f"opens {', '.join(one.opened)}" if one.opened else ""
        saves = one.before - one.after
        table.add(
            one.agent,
            number(round(one.turns)),
            number(round(one.runs)),
            number(round(one.before)),
            number(round(one.after)),
            number(round(saves)) if one.moves else "-",
            tokens,
            (said, "odd" if not one.enough else "dim"),
        )
    draw(table)
    left = len(agents) - len(shown)
    if left:
        more = several(left, "agent")
        say((f"  {more} more, of which nothing was observed and nothing is moved  (--all)", "dim"))


def _moves(agents: Sequence[AgentPlan]) -> None:
    for to, heading in (("direct", "Promoted"), ("packed", "Put away")):
        groups: dict[tuple[str, str, bool, int], list[tuple[str, float]]] = {}
        for one in agents:
            for move in one.moves:
                if move.to == to:
                    key = move.item.wire_name, move.item.pack, move.alone, move.item.tokens
                    groups.setdefault(key, []).append((one.agent, move.uses))
        if not groups:
            continue
        title((heading, STATE_STYLE[to]))
        table = Table(
            (Column("tool"), Column("pack"), Column("tokens", "right"), Column("used in runs", wraps=True))
        )
        for (tool, pack, alone, tokens), users in sorted(groups.items()):
            said = ", ".join(f"{agent} {uses:.0f}" for agent, uses in users)
            table.add(tool, pack, number(tokens), f"{said}{'  (named in its own tools)' if alone else ''}")
        draw(table)
