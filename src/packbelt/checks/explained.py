"""Why every tool is in its state for an agent, once for all tools that the engine cannot tell apart.

The engine is asked, never copied: tools are parted by every mask that its rules, selectors and ways read, and
one of each part is explained. What names a tool itself gets a part of its own. A property test holds the
answers equal to those for each tool alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.routes import cuts_of, routes_to, ways
from packbelt.belt.selectors import Purpose, match
from packbelt.belt.steps import steps
from packbelt.catalog.registry import Registry, bits
from packbelt.checks.reported import SELF, Explanation, Lead, Stretch
from packbelt.model import Reason, Route, State, Tool


class Explanations:
    """Every explanation once, numbered in the order in which they came up."""

    def __init__(self) -> None:
        self._numbers: dict[Explanation, int] = {}

    def number(self, one: Explanation) -> int:
        """The number of an explanation."""
        return self._numbers.setdefault(one, len(self._numbers))

    @property
    def all(self) -> tuple[Explanation, ...]:
        """By number."""
        return tuple(self._numbers)


def explain_all(belt: Belt, order: Sequence[int], known: Explanations) -> tuple[Stretch, ...]:
    """The explanation of each tool of a belt.

    Args:
        belt: the belt.
        order: the bits of the tools, in the order of the rows.
        known: where explanations are numbered.
    """
    numbers: dict[int, int] = {}
    for part in _parts(belt):
        first = next(bits(part))
        shared = _explanation(belt, first, ())
        if shared.state is State.RESERVED and not shared.leads:  # its owners' belts cut it, each in its way
            numbers.update((i, known.number(_explanation(belt, i, cuts_of(belt, i)))) for i in bits(part))
        else:
            numbers.update(dict.fromkeys(bits(part), known.number(shared)))
    return tuple(Stretch(number, len(list(rows))) for number, rows in groupby(numbers[i] for i in order))


def _explanation(belt: Belt, i: int, cuts: tuple[Reason, ...]) -> Explanation:
    entry = belt.at(i)
    leads = tuple(_lead(belt, i, route) for route in routes_to(belt, i, _nothing))
    found = steps(belt, entry, lambda _, __: SELF)
    return Explanation(entry.state, entry.approve, tuple(found), leads, cuts)


def _nothing(_: Tool) -> dict[str, Any]:
    return {}


def _lead(belt: Belt, i: int, route: Route) -> Lead:
    """A route without what is the tool's own."""
    own = belt.registry.tools[i].wire_name
    inner: Mapping[str, Any] = route.arguments if route.via == "handoff" else {}
    call = None if route.call == own and route.via == "direct" else route.call
    return Lead(route.via, call, inner.get("tool"), route.agents)


def _parts(belt: Belt) -> Iterator[int]:
    """The tools in parts that no rule, selector or way tells apart."""
    registry = belt.registry
    alone = registry.handoffs | registry.clashes | registry.changed  # their reasons name the tool itself
    yield from (1 << i for i in bits(alone))
    parts = [registry.all & ~alone]
    for mask in dict.fromkeys(_masks(belt, registry)):
        parts = [part for whole in parts for part in (whole & mask, whole & ~mask) if part]
    yield from parts


def _masks(belt: Belt, registry: Registry) -> Iterator[int]:
    for rows in belt.fold.rows.values():
        yield from rows
    yield from registry.by_permission
    yield belt.approve
    yield from registry.index.packs.values()
    yield from registry.masks.values()
    agent, config = belt.subject.agent, registry.workspace.config
    entries: Iterable[tuple[Iterable[Any], Purpose, Any]] = (
        (config.deny, Purpose.DENY, None),
        (registry.snapshot.deny, Purpose.DENY, None),
        (agent.disallowed_tools, Purpose.DENY, agent),
        (agent.tools or (), Purpose.GRANT, agent),
    )
    for selectors, purpose, whose in entries:
        yield from (match(registry, selector, purpose, whose).mask for selector in selectors)
    for way in ways(belt):
        yield from (way.mask, way.subject.exact)
