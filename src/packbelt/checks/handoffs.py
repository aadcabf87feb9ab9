"""Hand-offs: delegates that exist, open ways to reserved work, denies that hold, circles that end."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packbelt.belt import Belt
from packbelt.belt.routes import ways
from packbelt.belt.selectors import Purpose, match_all
from packbelt.catalog.near import suggestion
from packbelt.catalog.registry import bits
from packbelt.checks.workbench import Workbench, by_pack, called, listed
from packbelt.model import Code, Diagnostic, Level, State


def delegates(bench: Workbench) -> Iterator[Diagnostic]:
    """Delegates that are no agents."""
    workspace = bench.workspace
    agents = {*workspace.agents, *workspace.broken}
    for agent in workspace.agents.values():
        for name in agent.delegates if agent.delegates != "*" else ():
            if name in agents:
                continue
            yield Diagnostic(
                bench.level(agent.name, Level.ERROR),
                Code.DELEGATE_UNKNOWN,
                f"agent {agent.name!r} delegates to {name!r}, which is no agent",
                agent.where("delegates"),
                suggestion(name, agents, otherwise="name an agent, or remove it"),
                name,
            )


def idle_delegates(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents that may hand off, and of whose hand-offs none can be called.

    A hand-off that is merely unavailable now (its agent is disabled) makes it a warning.
    """
    for name, belt in bench.belts.items():
        mask = belt.subject.delegated
        if not mask or belt.callable & mask:
            continue
        states = {belt.state(i) for i in bits(mask)}
        i = next(bits(mask))
        yield Diagnostic(
            Level.WARNING if states == {State.UNAVAILABLE} else bench.level(name, Level.ERROR),
            Code.DELEGATES_IDLE,
            f"agent {name!r} has delegates and can call none of its hand-offs; "
            f"{bench.registry.tools[i].name!r} is {belt.state(i)}: {belt.reasons(i)[0].detail}",
            belt.subject.agent.where("delegates"),
            "open one of them, or write `delegates: []`",
            name,
        )


@dataclass(frozen=True, slots=True)
class _Ways:
    """Ways to a pack's reserved work: hand-offs that are put away, and those that are in sight, by name."""

    hidden: tuple[str, ...]
    open: tuple[str, ...]


def reserved_packed(bench: Workbench) -> Iterator[Diagnostic]:
    """Reserved work whose hand-offs are themselves packed: a reader sees neither the tools nor the way.

    Every hand-off; or the first owner's and every one that stands in the reserved pack itself: an agent that
    happens to own the pack too (a planner) is no way to its work that a reader would find. One finding for an
    agent and a set of hand-offs, however many packs and servers they lead to.
    """
    for name, belt in bench.belts.items():
        if name not in bench.reached:
            continue
        found: dict[_Ways, list[tuple[str, int]]] = defaultdict(list)
        for pack_id, part in by_pack(bench, belt.fold.states[State.RESERVED]):
            for ways_in, held in _hidden(bench, belt, pack_id or "", part).items():
                found[ways_in].append((pack_id or "", held))
        for ways_in, kept in found.items():
            yield _reserved_packed(bench, belt, ways_in, kept)


def _hidden(bench: Workbench, belt: Belt, pack_id: str, part: int) -> Mapping[_Ways, int]:
    """The reserved tools of a pack whose ways are put away, by these ways."""
    opener = bench.workspace.config.opener
    members = bench.packs[pack_id]
    own = {tool.name for i in bits(members & belt.callable) if (tool := bench.registry.tools[i]).target}
    place = bench.registry.index.handoff

    def at(name: str) -> int:  # a set of ways is one, whichever of them suits a tool best
        return place.get(name, -1)

    found: dict[_Ways, int] = defaultdict(int)
    for i in bits(part):
        hidden: dict[str, None] = {}
        sight: dict[str, None] = {}
        routes = belt.decision(i).routes
        for route in routes:
            if route.call == opener:
                hidden[str(route.arguments["tool"])] = None
            else:
                sight[route.call] = None
        first_hidden = bool(routes) and routes[0].call == opener
        if hidden and (not sight or (first_hidden and own & hidden.keys() and not own & sight.keys())):
            ways_in = _Ways(tuple(sorted(hidden, key=at)), tuple(sorted(sight, key=at)))
            found[ways_in] |= 1 << i
    return found


def _reserved_packed(bench: Workbench, belt: Belt, ways_in: _Ways, kept: list[tuple[str, int]]) -> Diagnostic:
    index, packs = bench.registry.index, bench.workspace.packs
    hidden = ways_in.hidden
    homes = [packs[home] for home in sorted({index.pack_of[index.handoff[name]] for name in hidden})]
    names = listed((name for _, mask in kept for name in bench.names(mask)), 3)
    families = listed((called(pack_id) for pack_id, _ in kept), 4)
    files = ", ".join(home.file or home.id for home in homes)
    one = len(hidden) == 1
    left = f"; only {', '.join(ways_in.open)} is in sight" if ways_in.open else ""
    return Diagnostic(
        bench.level(belt.agent, Level.ERROR),
        Code.RESERVED_HANDOFF_PACKED,
        f"{families} keep{'s' if len(kept) == 1 else ''} {names} from agent {belt.agent!r}, and the "
        f"hand-off{'' if one else 's'} to that work, {', '.join(hidden)}, {'is' if one else 'are'} put away "
        f"in a pack{left}",
        homes[0].where("direct" if "direct" in homes[0].lines else ""),
        f"promote {'it' if one else 'those it needs'}: `direct: [{', '.join(hidden)}]` in {files}",
        belt.agent,
    )


def packed_beside(bench: Workbench) -> Iterator[Diagnostic]:
    """Hand-offs put away beside raw tools of their own specialist: a reader is led to do the work himself."""
    registry = bench.registry
    for name, belt in bench.belts.items():
        for pack_id, part in by_pack(bench, belt.packed):
            raw = part & ~registry.handoffs
            for i in bits(part & registry.handoffs):
                target = registry.tools[i].target or ""
                shared = raw & bench.callable_by.get(target, 0)
                if shared and pack_id:
                    yield Diagnostic(
                        Level.NOTE,
                        Code.HANDOFF_PACKED,
                        f"for {name!r}, hand-off {registry.tools[i].name!r} is put away in pack {pack_id!r} "
                        f"beside tools that {target!r} works with ({listed(bench.names(shared), 3)})",
                        registry.pack(pack_id).where(f"tools.{registry.tools[i].name}"),
                        "promote the hand-off with `direct:`, or reserve the tools with `access: handoff`, "
                        "if requests should reach the specialist",
                        registry.tools[i].name,
                    )


def widening(bench: Workbench) -> Iterator[Diagnostic]:
    """Hand-offs that lead to what the caller's own `disallowed_tools` deny: those bind the agent alone."""
    registry = bench.registry
    for name, belt in bench.belts.items():
        agent = belt.subject.agent
        left = match_all(registry, agent.disallowed_tools, Purpose.DENY, agent)
        for way in ways(belt):
            found = left & way.mask
            left &= ~found
            if not found:
                continue
            tool = registry.tools[way.first].name
            path = " -> ".join((name, *way.agents))
            yield Diagnostic(
                Level.WARNING,
                Code.HANDOFF_WIDENS,
                f"agent {name!r} denies itself {listed(bench.names(found))}, and its hand-off {tool!r} leads "
                f"to an agent that may call {'it' if found.bit_count() == 1 else 'them'} ({path})",
                agent.where("disallowed_tools"),
                "if the work itself is unwanted, deny it in packbelt.yaml or for that agent too",
                name,
            )


def circles(bench: Workbench) -> Iterator[Diagnostic]:
    """Circles of hand-offs in which nobody has a tool of his own, and from which none leads out."""
    handoffs = bench.registry.handoffs
    tools, agents = bench.registry.tools, set(bench.belts)
    links = {
        name: {tools[i].target or "" for i in bits(belt.callable & handoffs)} & agents
        for name, belt in bench.belts.items()
    }
    within = {name: _closure(links, name) for name in links}
    seen: set[str] = set()
    for name in sorted(links):
        circle = {other for other in within[name] if name in within[other]}
        if name in seen or not circle:
            continue
        seen |= circle
        if within[name] - circle or any(bench.callable_by[one] & ~handoffs for one in circle):
            continue
        agent = bench.workspace.agents[name]
        yield Diagnostic(
            bench.level(name, Level.ERROR),
            Code.HANDOFF_CYCLE,
            f"hand-offs lead in a circle without an end: none of {', '.join(sorted(circle))} can call a tool "
            "of its own, nor hand to anyone who can",
            agent.where("delegates"),
            "give one of them tools, or remove one of the delegates",
            name,
        )


def _closure(links: Mapping[str, set[str]], start: str) -> set[str]:
    """All that one or more hand-offs lead to."""
    found: set[str] = set()
    front = [start]
    while front:
        new = links[front.pop()] - found
        found |= new
        front += new
    return found


CHECKS = (delegates, idle_delegates, reserved_packed, packed_beside, widening, circles)
"""The checks of this family."""
