"""How a callable tool is presented: direct, deferred or packed. Never whether it is callable."""

from collections.abc import Callable
from functools import cached_property

from packbelt.belt.scope import Subject
from packbelt.model import Exposure

_Holds = Callable[[tuple[str, ...], tuple[str, ...]], bool]


class Placement:
    """The placement rules of one subject, as masks.

    Attributes:
        unpacked: tools in no pack.
        exact: tools that the agent's `tools` names exactly.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.registry = registry = subject.registry
        self.unpacked = registry.index.unpacked
        self.exact = subject.exact

    @cached_property
    def promoted(self) -> int:
        """Tools on a pack's `direct` list."""
        mask = 0
        for promoted in self.registry.index.promoted.values():
            mask |= promoted
        return mask

    @cached_property
    def owned(self) -> int:
        """Tools of the packs that the agent owns, a server under `auto` aside."""
        return self._held(lambda owners, _: self.subject.agent.name in owners)

    @cached_property
    def carried(self) -> int:
        """Tools of the packs that the agent carries, a server under `auto` aside."""
        return self._held(lambda _, carriers: self.subject.agent.name in carriers)

    def _held(self, holds: _Holds) -> int:
        mask = 0
        for pack in self.registry.workspace.packs.values():
            if holds(pack.owners, pack.carriers):
                mask |= self.registry.index.packs[pack.id]
        for group in self.registry.groups:
            policy = group.policy
            if policy.exposure is not Exposure.AUTO and holds(policy.owners, policy.carriers):
                mask |= group.mask
        return mask

    def _exposed_as(self, exposure: Exposure) -> int:
        mask = 0
        for pack in self.registry.workspace.packs.values():
            if pack.exposure is exposure:
                mask |= self.registry.index.packs[pack.id]
        for group in self.registry.groups:
            if group.policy.exposure is exposure:
                mask |= group.mask
        return mask

    @cached_property
    def exposed(self) -> int:
        """Tools of packs that are direct for all."""
        return self._exposed_as(Exposure.DIRECT)

    @cached_property
    def deferred(self) -> int:
        """Tools of packs that are found by search."""
        return self._exposed_as(Exposure.DEFERRED)

    @cached_property
    def put_away(self) -> int:
        """Tools of packs that are behind the opener."""
        return self._exposed_as(Exposure.PACKED)

    @cached_property
    def _auto(self) -> tuple[int, int, int, int]:
        """Servers under `auto`: recorded direct, recorded packed, fitting the budget, over it.

        In order of admission, each server that fits by itself and beside those before it is direct. A
        server is weighed whole, denied tools included, so that a deny never moves another server's tools.
        """
        registry, budget = self.registry, self.registry.workspace.config.budget
        everything = 0
        auto: set[str] = set()
        for group in registry.groups:
            if group.policy.exposure is Exposure.AUTO:
                auto.update(group.servers)
                everything |= group.mask
        recorded, arrival = registry.recorded, registry.arrival
        mine = [name for name in self.subject.servers if name in auto and registry.masks[name]]
        direct = packed = fits = spent = 0
        for name in sorted(mine, key=lambda n: (n not in recorded, arrival.get(n, len(arrival)))):
            mask = registry.masks[name]
            placed = recorded.get(name)
            if placed == "packed":
                packed |= mask
                continue
            tokens = registry.state(name).tokens
            if placed == "direct":
                direct |= mask
                spent += tokens
            elif tokens <= budget.server_tokens and spent + tokens <= budget.belt_tokens:
                fits |= mask
                spent += tokens
        return direct, packed, fits, everything & ~(direct | packed | fits)

    @property
    def named(self) -> int:
        """Servers' tools that are named exactly and would not be direct for their server's sake."""
        return self.exact & self.registry.server_tools & ~(self.recorded | self.fits)

    @property
    def recorded(self) -> int:
        """Tools of `auto` servers that were placed directly when they were admitted."""
        return self._auto[0]

    @property
    def recorded_packed(self) -> int:
        """Tools of `auto` servers that were packed when they were admitted."""
        return self._auto[1]

    @property
    def fits(self) -> int:
        """Tools of `auto` servers that fit the budget."""
        return self._auto[2]

    @property
    def over_budget(self) -> int:
        """Tools of `auto` servers that do not fit it."""
        return self._auto[3]
