"""The decision behind a plan: what things cost, and the minimum cut over them."""

from collections.abc import Callable, Hashable, Iterable, Mapping

from packbelt.checks.plan_answer import AgentPlan, Limits, Move, Plan, PlanError
from packbelt.checks.plan_closure import closure
from packbelt.checks.plan_items import Ground, Item
from packbelt.checks.plan_model import Observed, Prices, Rates, bound

_FORCED = 1e12
"""Tokens; more than any log holds."""
_STAY = 0.01
"""Tokens by which staying is cheaper: between equals nothing moves."""
_ROUNDS = 60

Costs = dict[Hashable, float]
Needs = dict[Hashable, list[Hashable]]


class Decision:
    """The costs of one question, and its answers."""

    def __init__(self, found: Ground, rates: Mapping[str, Rates], prices: Prices, limits: Limits) -> None:
        self.ground, self.rates, self.prices, self.limits = found, rates, prices, limits
        self.mine: dict[str, list[Item]] = {agent: [] for agent in rates}
        for item in found.items:
            self.mine[item.agent].append(item)
        self._doubts: dict[Item, float] = {}

    # what things cost -----------------------------------------------------------------------------------

    def prefix(self, agent: str) -> float:
        """What one token in every request costs an agent in all."""
        rates = self.rates[agent]
        return rates.turns * self.prices.prefix(rates.per_run)

    def dearer(self, item: Item, uses: float) -> float:
        """What putting a tool away costs more than sending it, index line and opener aside.

        Args:
            item: the tool.
            uses: runs in which it is used.
        """
        rates = self.rates[item.agent]
        seen = rates.uses(item.identity, item.tool, item.wire_name)
        calls = rates.calls(item.identity, item.tool, item.wire_name)
        each = calls / seen if seen else 1.0
        first = self.prices.first_use(self.ground.listings[item.agent, item.pack], rates.per_run)
        wrapped = each * self.prices.wrapping * self.prices.output
        return uses * (first + wrapped) - self.prefix(item.agent) * item.tokens

    def uses(self, item: Item) -> float:
        """Runs in which a tool was used."""
        return self.rates[item.agent].uses(item.identity, item.tool, item.wire_name)

    def doubted(self, item: Item) -> float:
        """What putting a tool away costs more, in doubt for leaving it where it is."""
        if item not in self._doubts:  # asked for in each round
            self._doubts[item] = self._doubt(item)
        return self._doubts[item]

    def _doubt(self, item: Item) -> float:
        rates = self.rates[item.agent]
        share = bound(self.uses(item), rates.runs, self.limits.confidence, upper=item.direct)
        cost = self.dearer(item, rates.runs * share)
        if not self.enough(item.agent):
            cost = max(cost, 0.0) if item.direct else min(cost, 0.0)
        return cost + (_STAY if item.direct else -_STAY)

    def shared(self, agent: str) -> float:
        """What one token of index and opener costs an agent in all; nothing where too little was observed."""
        return self.prefix(agent) if self.enough(agent) else 0.0

    def enough(self, agent: str) -> bool:
        """Whether enough was observed of an agent to move anything."""
        return self.rates[agent].runs >= self.limits.least_runs

    def forced(self, item: Item) -> float:
        """What a limit adds."""
        for name in (item.tool, item.pack):  # what is said of the tool itself wins
            if name in self.limits.never_pack:
                return _FORCED
            if name in self.limits.always_pack:
                return -_FORCED
        if item.way and item.direct:
            return _FORCED
        if self.limits.keep_handoffs and item.handoff:
            return _FORCED if item.direct else -_FORCED
        return 0.0

    # the decision ---------------------------------------------------------------------------------------

    def graph(self, slots: Mapping[str, float]) -> tuple[Costs, Needs]:
        """What taking (putting away) each thing costs, and needs.

        Args:
            slots: what a direct tool costs an agent besides, where the number of them is limited.
        """
        costs: Costs = {}
        needs: Needs = {}
        for item in self.ground.items:
            shared: Hashable = ("tool", item.tool)
            costs.setdefault(shared, 0.0)
            needs.setdefault(shared, [])
            cost = self.doubted(item) + self.forced(item) - slots.get(item.agent, 0.0)
            row: Hashable = ("row", item.agent, item.pack)
            if row not in costs:
                opener: Hashable = ("opener", item.agent)
                costs[row] = self.shared(item.agent) * self.ground.rows[item.pack]
                costs[opener] = self.shared(item.agent) * self.ground.openers[item.agent]
                needs[row] = [opener]
            if item.alone and not self.forced(item):
                mine: Hashable = ("alone", item.agent, item.tool)
                costs[mine] = cost
                needs[mine] = [shared, row]
            else:
                costs[shared] += cost
                needs[shared].append(row)
        return costs, needs

    def solve(self) -> tuple[frozenset[Item], float]:
        """The items to put away, and what a better answer could save at most."""
        most = self.limits.max_direct
        if most is None:
            return self._packed(*self.graph({})), 0.0
        for agent in self.rates:
            fixed = self.ground.placed[agent] + sum(self.forced(item) > 0 for item in self.mine[agent])
            if fixed > most:
                raise PlanError(
                    f"agent {agent!r} is sent {fixed} tools whatever is planned, and {most} are the most",
                    mend="raise --max-direct, or name fewer tools in --never-pack",
                    name=agent,
                )
        return self._within(most)

    def _within(self, most: int) -> tuple[frozenset[Item], float]:
        """Prices for direct tools, raised until each agent has few enough: Lagrange's multipliers."""
        slots: dict[str, float] = {}
        best: frozenset[Item] | None = None
        floor = -float("inf")
        step = {agent: max(1.0, self.prefix(agent) * 10) for agent in self.rates}
        for _ in range(_ROUNDS):
            costs, needs = self.graph(slots)
            taken = closure(costs, needs)
            packed = self._items(taken)
            value = sum(costs[thing] for thing in taken)
            over = {agent: self._sent(agent, packed) - most for agent in self.rates}
            free = {agent: self._sent(agent, frozenset()) - most for agent in self.rates}
            floor = max(floor, value + sum(price * free[agent] for agent, price in slots.items()))
            if all(number <= 0 for number in over.values()):
                if best is None or self._value(packed) < self._value(best):
                    best = packed
                if all(price == 0 or over[agent] == 0 for agent, price in slots.items()):
                    break
            for agent, number in over.items():
                if number > 0:
                    slots[agent] = slots.get(agent, 0.0) + step[agent]
                    step[agent] *= 2
                elif number < 0 and slots.get(agent):
                    step[agent] /= 4
                    slots[agent] = max(0.0, slots[agent] - step[agent])
        if best is None:
            raise PlanError(
                f"no placement keeps every agent within {most} direct tools", mend="raise --max-direct"
            )
        return best, max(0.0, self._value(best) - floor)

    def _sent(self, agent: str, packed: frozenset[Item]) -> int:
        mine = self.mine[agent]
        away = sum(item in packed for item in mine)
        opener = bool(away) and self.ground.openers[agent] > 0
        return self.ground.placed[agent] + len(mine) - away + opener

    def _value(self, packed: frozenset[Item]) -> float:
        """What a placement costs, in doubt for what is now."""
        return cost_of(self.ground, packed, lambda i: self.doubted(i) + self.forced(i), self.shared)

    def _packed(self, costs: Costs, needs: Needs) -> frozenset[Item]:
        return self._items(closure(costs, needs))

    def _items(self, taken: frozenset[Hashable]) -> frozenset[Item]:
        return frozenset(
            item
            for item in self.ground.items
            if ("alone", item.agent, item.tool) in taken
            or (("tool", item.tool) in taken and not (item.alone and not self.forced(item)))
        )

    # the answer -----------------------------------------------------------------------------------------

    def told(self, packed: frozenset[Item], gap: float, observed: Observed) -> Plan:
        """The answer, as it is written into files."""
        direct: dict[str, frozenset[str]] = {}
        named: dict[str, list[str]] = {}
        by_tool: dict[str, list[Item]] = {}
        for item in self.ground.items:
            by_tool.setdefault(item.tool, []).append(item)
        for tool, items in by_tool.items():
            pack = items[0].pack
            away = any(item in packed for item in items)
            now = tool in self.ground.promoted[pack]
            if away == now:
                before = direct.get(pack, self.ground.promoted[pack])
                direct[pack] = before - {tool} if away else before | {tool}
            for item in items:
                if away and item not in packed:
                    named.setdefault(item.agent, []).append(tool)
        alone = {(agent, tool) for agent, tools in named.items() for tool in tools}
        agents = tuple(self._agent(agent, packed, alone) for agent in self.rates)
        return Plan(agents, direct, {a: tuple(t) for a, t in named.items()}, gap, self._unknown(observed))

    def _agent(self, agent: str, packed: frozenset[Item], alone: Iterable[tuple[str, str]]) -> AgentPlan:
        rates, mine = self.rates[agent], self.mine[agent]
        now = frozenset(item for item in mine if not item.direct)
        then = packed & frozenset(mine)
        sent = self.prefix(agent) * sum(item.tokens for item in mine)
        both = [
            sent + cost_of(self.ground, some, lambda i: self.dearer(i, self.uses(i)), self.prefix)
            for some in (now, then)
        ]
        turns = rates.turns or 1.0
        moves = tuple(
            Move(i, "packed" if i in then else "direct", (agent, i.tool) in alone, self.uses(i))
            for i in mine
            if (i in then) == i.direct
        )
        opened = {item.pack for item in now} - {item.pack for item in then}
        return AgentPlan(
            agent,
            rates.turns,
            rates.runs,
            self.enough(agent),
            both[0] / turns,
            both[1] / turns,
            moves,
            tuple(sorted(opened)),
        )

    def _unknown(self, observed: Observed) -> dict[str, tuple[str, ...]]:
        """Agents that no belt is of; tools are not looked at: a log may hold any server's."""
        return {agent: tuple(use.calls) for agent, use in observed.items() if agent not in self.rates}


def cost_of(
    found: Ground, packed: frozenset[Item], dearer: Callable[[Item], float], prefix: Callable[[str], float]
) -> float:
    """What a placement costs more than one that puts nothing away.

    Args:
        found: what is placed.
        packed: what is put away.
        dearer: what putting a tool away costs more than sending it.
        prefix: what one token in every request costs an agent.
    """
    lines = {(item.agent, item.pack) for item in packed}
    return (
        sum(map(dearer, packed))
        + sum(prefix(agent) * found.rows[pack] for agent, pack in lines)
        + sum(prefix(agent) * found.openers[agent] for agent in {agent for agent, _ in lines})
    )


__all__ = ["Decision", "cost_of"]
