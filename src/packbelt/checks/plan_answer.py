"""What a plan is asked for, and what it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from packbelt.checks.plan_items import Item
from packbelt.model import PackbeltError


class PlanError(PackbeltError):
    """No plan can be made as it was asked for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan must keep to.

    Attributes:
        never_pack: tools or packs that are sent, whatever it costs.
        always_pack: tools or packs that are put away, whatever it costs.
        max_direct: tools that an agent is sent at most, the opener among them.
        keep_handoffs: whether hand-offs stay as they are.
        confidence: how sure it must be, of calls that could be many or few, before a tool is moved.
        least_runs: runs of an agent below which its observations move nothing.
    """

    never_pack: tuple[str, ...] = ()
    always_pack: tuple[str, ...] = ()
    max_direct: int | None = None
    keep_handoffs: bool = False
    confidence: float = 0.9
    least_runs: float = 20


@dataclass(frozen=True, slots=True)
class Move:
    """A tool that one agent is to have otherwise.

    Attributes:
        item: the tool as the agent has it.
        to: where it goes.
        alone: whether for this agent alone, by its own file.
        uses: runs in which it was used.
    """

    item: Item
    to: Literal["direct", "packed"]
    alone: bool
    uses: float


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What becomes of one agent.

    Attributes:
        agent: its name.
        turns: requests to the model that were observed.
        runs: pieces of work.
        enough: whether they were enough to move anything.
        before: cost of a turn now: what was observed, in tokens at the price of an uncached one.
        after: the same as planned.
        moves: its tools that are moved.
        opened: packs of which it had something put away, and has nothing any more.
    """

    agent: str
    turns: float
    runs: float
    enough: bool
    before: float
    after: float
    moves: tuple[Move, ...]
    opened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan.

    Attributes:
        agents: every agent that can start.
        direct: what each pack is to send to all, for the packs where that is another than now.
        named: what each agent's own `tools` are to name besides.
        gap: tokens in all by which a better plan may be cheaper; 0 where it is exact, as it is without a
            limit of direct tools.
        unknown: tools that were called and are in no belt, by agent.
    """

    agents: tuple[AgentPlan, ...]
    direct: Mapping[str, frozenset[str]] = field(default_factory=dict)
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gap: float = 0.0
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether nothing is to be changed."""
        return not self.direct and not self.named


__all__ = ["AgentPlan", "Limits", "Move", "Plan", "PlanError"]
