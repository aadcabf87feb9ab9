"""Which things to take where each brings or costs something and needs others: exact, by a minimum cut.

Putting a tool away saves its schema and costs its uses; it also needs a line in the opener's index, and the
opener. These are shared: the second tool of a pack needs no second line. Choosing what to take is then the
maximum-weight closure of a directed graph (Picard, Maximal closure of a graph and applications to
combinatorial problems, Management Science 22, 1976), which is a minimum cut between what brings and what
costs. The flow is Dinic's (1970).
"""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence

Costs = Mapping[Hashable, float]
Needs = Mapping[Hashable, Sequence[Hashable]]

_ENDLESS = 1 << 80
_UNIT = 1000
"""Costs are taken as whole thousandths of a token, so that a cut is exact."""


def closure(
    costs: Mapping[Hashable, float], needs: Mapping[Hashable, Sequence[Hashable]]
) -> frozenset[Hashable]:
    """The set of things with the least cost in all, each with all that it needs.

    Of several with the same cost it is the smallest.

    Args:
        costs: what taking each costs; less than 0 where it brings something.
        needs: what each needs, as far as it needs anything.
    """
    order = {thing: number for number, thing in enumerate(costs)}
    source, sink = len(order), len(order) + 1
    flow = _Flow(len(order) + 2)
    for thing, cost in costs.items():
        whole = round(cost * _UNIT)
        if whole < 0:
            flow.edge(source, order[thing], -whole)
        elif whole > 0:
            flow.edge(order[thing], sink, whole)
    for thing, needed in needs.items():
        for other in needed:
            flow.edge(order[thing], order[other], _ENDLESS)
    flow.fill(source, sink)
    reached = flow.reached(source)
    return frozenset(thing for thing, number in order.items() if reached[number] >= 0)


class _Flow:
    """A network, its capacities as what is left of them."""

    def __init__(self, nodes: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(nodes)]
        self._to: list[int] = []
        self._left: list[int] = []

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Add an edge, and the way back along it."""
        for node, other, left in ((start, end, capacity), (end, start, 0)):
            self._edges[node].append(len(self._to))
            self._to.append(other)
            self._left.append(left)

    def reached(self, source: int) -> list[int]:
        """The distance of each node along what is left; -1 where no way leads."""
        levels = [-1] * len(self._edges)
        levels[source] = 0
        todo = deque([source])
        while todo:
            node = todo.popleft()
            for edge in self._edges[node]:
                if self._left[edge] and levels[self._to[edge]] < 0:
                    levels[self._to[edge]] = levels[node] + 1
                    todo.append(self._to[edge])
        return levels

    def fill(self, source: int, sink: int) -> None:
        """Send as much as there is room for."""
        while (levels := self.reached(source))[sink] >= 0:
            tried = [0] * len(self._edges)
            while self._push(source, sink, levels, tried):
                pass

    def _push(self, source: int, sink: int, levels: list[int], tried: list[int]) -> bool:
        """One way from source to sink that goes down the levels, filled."""
        way: list[int] = []
        node = source
        while node != sink:
            edges = self._edges[node]
            while tried[node] < len(edges):
                edge = edges[tried[node]]
                if self._left[edge] and levels[self._to[edge]] == levels[node] + 1:
                    break
                tried[node] += 1
            else:
                if not way:
                    return False
                back = way.pop()
                node = self._to[back ^ 1]
                tried[node] += 1
                continue
            way.append(edge)
            node = self._to[edge]
        room = min(self._left[edge] for edge in way)
        for edge in way:
            self._left[edge] -= room
            self._left[edge ^ 1] += room
        return True


__all__ = ["closure"]
