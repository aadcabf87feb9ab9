"""Routes: reserved work that its reader can hand over, and capabilities that the root agent reaches."""

from collections import defaultdict
from collections.abc import Iterator

from packbelt.belt import Belt
from packbelt.catalog.registry import bits
from packbelt.checks.workbench import Workbench, by_pack, called, listed
from packbelt.model import Access, Code, Diagnostic, Level, Reason, State


def dead_ends(bench: Workbench) -> Iterator[Diagnostic]:
    """Reserved tools with no way in for an agent that has every other right to them, with what cuts it.

    An owner's pack without owners is a finding of its own and is not repeated here for each reader.
    """
    for name, belt in bench.belts.items():
        if name not in bench.reached:
            continue
        cut: dict[tuple[Reason, ...], list[tuple[str, int]]] = defaultdict(list)
        for pack_id, part in by_pack(bench, belt.fold.states[State.RESERVED]):
            pack = bench.registry.pack(pack_id or "")
            if pack.access is Access.OWNERS and not pack.owners:
                continue
            for i in bits(part):
                decision = belt.decision(i)
                if not decision.routes:
                    cut[decision.cuts].append((pack.id, i))
        for cuts, kept in cut.items():
            families = list(dict.fromkeys(called(pack_id) for pack_id, _ in kept))
            names = listed(bench.registry.tools[i].wire_name for _, i in kept)
            said = "; ".join(dict.fromkeys(reason.detail for reason in cuts))
            yield Diagnostic(
                bench.level(name, Level.ERROR),
                Code.RESERVED_DEAD_END,
                f"{listed(families, 4)} keep{'s' if len(families) == 1 else ''} {names} from agent {name!r}, "
                f"and no hand-off of its leads there: {said}",
                next((reason.where for reason in cuts if reason.where), None),
                "open the cut, let it delegate to an owner, or take the tools out of its `tools`",
                name,
            )


def unreachable(bench: Workbench) -> Iterator[Diagnostic]:
    """Enabled tools that no route from the root agent leads to, with the cut.

    An error where some agent can call the tool, so that the work is there and nobody can ask for it; a
    warning where no agent can. Not enabled, and left out: what is denied for all, what is off, and what is
    unavailable now. Hand-offs are spoken of as their agents are, tools of an unused pack with the pack.
    """
    belt = bench.belts.get(bench.root)
    if belt is None:
        return
    registry = bench.registry
    reached = belt.callable
    for way in bench.ways:
        reached |= way.mask
    everyone = registry.all
    for other in bench.belts.values():
        everyone &= other.fold.states[State.DENIED] | other.fold.states[State.UNAVAILABLE]
    disabled = bench.snapshot.disabled_agents
    enabled = {name: mask for name, mask in bench.callable_by.items() if name not in disabled}
    missing = registry.all & ~(reached | registry.handoffs | everyone)
    for pack_id, part in by_pack(bench, missing):
        whole = bench.packs.get(pack_id or "", 0)
        groups: dict[tuple[bool, str], list[int]] = defaultdict(list)
        for i in bits(part):
            callers = [name for name, mask in enabled.items() if mask >> i & 1]
            if not callers and whole and not whole & bench.callable_by_any:
                continue
            groups[bool(callers), _cut(bench, belt, i, callers)].append(i)
        for (can, cut), tools in groups.items():
            names = listed(registry.tools[i].wire_name for i in tools)
            yield Diagnostic(
                Level.ERROR if can else Level.WARNING,
                Code.UNREACHABLE,
                f"no route from {bench.root!r} leads to {names}: {cut}",
                registry.tools[tools[0]].where or bench.place(registry.tools[tools[0]].id.server or ""),
                "let an agent on the way delegate to it" if can else "grant it to an agent, or remove it",
                registry.tools[tools[0]].wire_name,
            )


def _cut(bench: Workbench, root: Belt, i: int, callers: list[str]) -> str:
    own = f"for {root.agent!r} it is {root.state(i)} ({root.reasons(i)[0].detail})"
    if not callers:
        return f"{own}, and no other agent can call it now"
    on_the_way = [name for name in callers if name in bench.reached]
    if on_the_way:
        # Callable for the agent by itself, and not as one that the root agent hands to.
        way = next(way for way in bench.ways if way.agents[-1] == on_the_way[0])
        last = root
        for agent in way.agents:
            last = last.child(agent)
        path = " -> ".join((root.agent, *way.agents))
        return f"{own}; on the way {path} it is {last.state(i)}: {last.reasons(i)[0].detail}"
    link = bench.registry.index.to_agent.get(callers[0])
    if link is None:
        return f"{own}; {callers[0]!r} can call it, and no hand-off leads there"
    handoff = bench.registry.tools[link].name
    cut = f"{root.state(link)} for {root.agent!r}: {root.reasons(link)[0].detail}"
    return f"{own}; {callers[0]!r} can call it, and hand-off {handoff!r} is {cut}"


CHECKS = (dead_ends, unreachable)
"""The checks of this family."""
