"""Offers: the calls that a hint may propose. Every one is put through the gate before it is kept."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packbelt.belt.arguments import sample
from packbelt.belt.gate import Denial, admit
from packbelt.belt.names import SAME, Names
from packbelt.belt.routes import routes_to, ways
from packbelt.belt.schemas import problem
from packbelt.catalog.registry import bits
from packbelt.model import Route, Suggestion

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

MOST = 3
"""Suggestions in one hint."""
NEAR = 45.0
"""Score from which a near name is worth proposing."""
BESIDE = 0.75
"""Share of the best score from which another name is proposed beside it."""


class Offers:
    """What one belt's hints may propose."""

    def __init__(self, belt: "Belt") -> None:
        self.belt = belt
        self.registry = belt.registry

    def to(self, i: int, arguments: Mapping[str, Any] | None = None) -> tuple[Suggestion, ...]:
        """The routes to a tool as calls."""
        return self.verified(self.of_routes(routes_to(self.belt, i), arguments))

    def near(self, denial: Denial) -> Iterator[Suggestion]:
        """Calls that the name may have meant: inside the pack first, then anywhere, then by hand-off."""
        reach = self._reach()
        pack = self.registry.pack_mask(denial.pack) if denial.pack else None
        if pack:
            inside = [name for name, i in reach.items() if i is not None and pack >> i & 1]
            yield from self._ranked(Names(inside).rank(denial.name), denial)
        yield from self._ranked(self._names().rank(denial.name), denial)

    def _ranked(self, ranked: Iterable[tuple[str, float]], denial: Denial) -> Iterator[Suggestion]:
        reach = self._reach()
        best = 0.0
        for name, score in ranked:
            best = max(best, score)
            if score < max(NEAR, best * BESIDE):
                return
            i = reach[name]
            if i is None:
                yield Suggestion(name, {})
            elif self.belt.callable >> i & 1:
                yield from self.of_routes(routes_to(self.belt, i)[:1], denial.arguments, i)
            else:
                yield from self.of_routes(routes_to(self.belt, i))
            if score >= SAME:
                return

    def _reach(self) -> Mapping[str, int | None]:
        """Every name that leads somewhere for this agent: callable tools, and what a hand-off reaches."""
        key = ("reach", self.belt.subject.scope, self.belt.deferred)
        found = self.registry.memo.get(key)
        if found is None:
            mask = self.belt.callable
            for way in ways(self.belt):
                mask |= way.mask & ~self.registry.handoffs
            names: dict[str, int | None] = {self.registry.tools[i].wire_name: i for i in bits(mask)}
            if self.belt.finder:
                names[self.belt.finder.wire_name] = None
            found = self.registry.memo[key] = names
        reach: Mapping[str, int | None] = found
        return reach

    def _names(self) -> Names:
        key = ("names", self.belt.subject.scope, self.belt.deferred)
        found = self.registry.memo.get(key)
        if found is None:
            found = self.registry.memo[key] = Names(self._reach())
        names: Names = found
        return names

    def of_routes(
        self, routes: Iterable[Route], arguments: Mapping[str, Any] | None = None, i: int | None = None
    ) -> Iterator[Suggestion]:
        """Routes as calls; the caller's own arguments are kept where they fit."""
        for route in routes:
            given = dict(route.arguments)
            if arguments and i is not None and not problem(self.registry.tools[i].input_schema, arguments):
                if route.via == "direct":
                    given = dict(arguments)
                elif route.via == "opener":
                    given["arguments"] = dict(arguments)
            yield Suggestion(route.call, given)
            if route.via == "opener":  # the listing always fits, should the sample arguments not
                yield Suggestion(route.call, {"pack": given["pack"]})

    def by_handoff(self, i: int, arguments: Mapping[str, Any]) -> Suggestion:
        """A hand-off in the form in which this agent can call it."""
        tool = self.registry.tools[i]
        if self.belt.packed >> i & 1:
            inner = {"pack": self.registry.pack_of(i), "tool": tool.wire_name, "arguments": dict(arguments)}
            return Suggestion(self.registry.workspace.config.opener, inner)
        return Suggestion(tool.wire_name, dict(arguments))

    def arguments(self, i: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """The caller's own arguments where they fit the tool, else the smallest that do."""
        schema = self.registry.tools[i].input_schema
        return dict(given) if given and not problem(schema, given) else sample(schema) or {}

    def verified(self, offers: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
        """Up to three offers that the gate admits, each leading to another tool."""
        kept: list[Suggestion] = []
        reached: set[tuple[str, str | None]] = set()
        for offer in offers:
            where = (offer.tool, offer.arguments.get("tool") or offer.arguments.get("pack"))
            packs = {offer.arguments.get("pack") for offer in kept}
            lists = offer.tool == self.registry.workspace.config.opener and "tool" not in offer.arguments
            if where in reached or (lists and offer.arguments.get("pack") in packs):
                continue
            if not isinstance(admit(self.belt, offer.tool, offer.arguments), Denial):
                reached.add(where)
                kept.append(offer)
            if len(kept) == MOST:
                break
        return tuple(kept)
