"""Routes: how a scope gets a tool's work done, directly, through the opener, by search or by hand-offs.

A hand-off counts as a way to a tool only if this scope can call the hand-off now and the agent at its end,
spawned from this scope, can call the tool: each step is decided by the same table.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packbelt.belt.arguments import sample
from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.registry import bits
from packbelt.model import PackbeltError, Reason, Route, Rule, State, Tool

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt
    from packbelt.belt.scope import Subject

DEPTH = 8
"""The longest chain of hand-offs that is looked for."""


@dataclass(frozen=True, slots=True)
class Way:
    """A chain of hand-offs and the tools that its last agent can call.

    Attributes:
        first: the bit of the hand-off to call.
        agents: the agents on the chain, in order.
        mask: what the last of them can call.
        subject: the last of them.
    """

    first: int
    agents: tuple[str, ...]
    mask: int
    subject: "Subject"


def ways(belt: "Belt") -> tuple[Way, ...]:
    """Every chain of hand-offs that leads somewhere new, shortest first; worked out once for a belt."""
    key = ("ways", belt.subject.scope)
    found = belt.registry.memo.get(key)
    if found is None:
        found = belt.registry.memo[key] = tuple(_search(belt))
    known: tuple[Way, ...] = found
    return known


def _search(belt: "Belt") -> Iterator[Way]:
    seen = {belt.subject.key}
    front: list[tuple[int | None, tuple[str, ...], Belt]] = [(None, (), belt)]
    for _ in range(DEPTH):
        following: list[tuple[int | None, tuple[str, ...], Belt]] = []
        for first, agents, here in front:
            for i in bits(here.callable & here.registry.handoffs):
                target = here.registry.tools[i].target or ""
                try:
                    child = here.child(target)
                except PackbeltError:
                    continue
                if child.problems or child.subject.key in seen:
                    continue
                seen.add(child.subject.key)
                way = Way(i if first is None else first, (*agents, target), child.callable, child.subject)
                yield way
                following.append((way.first, way.agents, child))
        front = following


def routes_to(
    belt: "Belt", i: int, fill: Callable[[Tool], dict[str, Any]] | None = None, *, meant: bool = True
) -> tuple[Route, ...]:
    """Ways to a tool from this scope, best first; for a reserved tool its owners alone.

    Of several owners, those come first whose `tools` name the tool itself, since they say that this very tool
    is their job; then all are in the pack's order.

    Args:
        belt: the scope's belt.
        i: the tool's bit.
        fill: makes up the arguments of a call of the tool itself; by default from its schema.
        meant: whether this very tool is asked for, and not just anything of its pack.
    """
    tool = belt.registry.tools[i]
    fill = fill or _arguments
    match belt.state(i):
        case State.DIRECT:
            return (Route("direct", tool.wire_name, fill(tool)),)
        case State.PACKED:
            return (through_opener(belt, i, fill(tool)), Route("direct", tool.wire_name, fill(tool)))
        case State.DEFERRED:
            search = Route("search", FIND_TOOLS, {"query": tool.name})
            return (search, Route("direct", tool.wire_name, fill(tool)))
        case State.UNAVAILABLE:
            return ()
    found = [way for way in ways(belt) if way.mask >> i & 1]
    pack = belt.registry.pack_of(i)
    owners = belt.registry.pack(pack).owners if pack else ()
    if belt.state(i) is State.RESERVED:  # whoever merely carries the tool is not the one to ask for its work
        found = [way for way in found if way.agents[-1] in owners]
    place = {owner: at for at, owner in enumerate(owners)}

    def order(way: Way) -> tuple[int, int, int]:
        last = way.agents[-1]
        if last not in place:
            return 2, 0, len(way.agents)
        return (0 if meant and way.subject.exact >> i & 1 else 1), place[last], len(way.agents)

    found.sort(key=order)
    return tuple(by_handoff(belt, way) for way in found)


def by_handoff(belt: "Belt", way: Way) -> Route:
    """The route that takes a way's first hand-off, in the form in which this scope can call it."""
    tool = belt.registry.tools[way.first]
    request = {"request": "..."}
    if belt.packed >> way.first & 1:
        opened = through_opener(belt, way.first, request)
        return Route("handoff", opened.call, opened.arguments, way.agents)
    return Route("handoff", tool.wire_name, request, way.agents)


def through_opener(belt: "Belt", i: int, arguments: dict[str, Any]) -> Route:
    """The route through the opener to a packed tool."""
    opener = belt.registry.workspace.config.opener
    inner = {
        "pack": belt.registry.pack_of(i),
        "tool": belt.registry.tools[i].wire_name,
        "arguments": arguments,
    }
    return Route("opener", opener, inner)


def _arguments(tool: Tool) -> dict[str, Any]:
    return sample(tool.input_schema) or {}


def cuts_of(belt: "Belt", i: int) -> tuple[Reason, ...]:
    """For a reserved tool without a route: what cuts each way that should be one."""
    pack_id = belt.registry.pack_of(i)
    pack = belt.registry.pack(pack_id) if pack_id else None
    if pack is None or not pack.owners:
        where = pack.where("access") if pack else None
        return (Reason(Rule.PACK_ACCESS, f"pack {pack_id!r} has no owner to hand off to", where),)
    return tuple(_cut(belt, i, owner) for owner in pack.owners)


def _cut(belt: "Belt", i: int, owner: str) -> Reason:
    registry = belt.registry
    link = registry.index.to_agent.get(owner)
    if owner == belt.agent:
        return Reason(Rule.PACK_OWNER, f"{owner!r} is the owner itself")
    if link is None:
        where = registry.pack(registry.pack_of(i) or "").where("owners")
        return Reason(Rule.AGENT_DELEGATES, f"no hand-off leads to owner {owner!r}", where)
    name = registry.tools[link].name
    if not belt.callable >> link & 1:
        first = belt.reasons(link)[0]
        return Reason(first.rule, f"hand-off {name!r} is {belt.state(link)}: {first.detail}", first.where)
    try:
        child = belt.child(owner)
    except PackbeltError as error:
        return Reason(Rule.AGENT_BROKEN, f"owner {owner!r} cannot start: {error.problem}", error.where)
    if child.problems:
        said = child.problems[0]
        return Reason(Rule.AGENT_TOOLS, f"owner {owner!r} cannot start: {said.message}", said.where)
    first = child.reasons(i)[0]
    return Reason(first.rule, f"owner {owner!r} cannot call it either: {first.detail}", first.where)
