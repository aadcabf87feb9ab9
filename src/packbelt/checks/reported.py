"""A whole workspace as data: what `report` says of every agent and every tool."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packbelt.belt.steps import Step
from packbelt.cost import Cost
from packbelt.model import (
    Access,
    Diagnostic,
    Exposure,
    Permission,
    Reason,
    ServerStatus,
    State,
    Tool,
    Where,
)
from packbelt.model.decision import Via

SELF = "\ue000"
"""Stands in a mend for the entry that would grant the tool itself (`entry`): one text for many tools."""

FamilyKind = Literal["pack", "server", "none"]
"""What holds tools together: a pack, a server, or nothing."""
PartKind = Literal["handoffs", "native", "servers", "opener", "overhead", "sections"]
"""What tokens go to; the opener counts with the search, and tools that the target runs with the native."""


@dataclass(frozen=True, slots=True)
class Family:
    """Tools that are rows side by side: those of a pack, of a server, or of neither.

    Attributes:
        id: the pack's id, `mcp:<server>` for a server; empty for the tools of no pack.
        kind: which of them it is.
        summary: its one line; for a server why it failed, where it did.
        first: the row of its first tool.
        count: how many tools it has.
        exposure: how it is presented to those who may call its tools; None without a pack.
        access: for whom it is reserved; None without a pack.
        owners: whose job it is.
        carriers: who else has its tools directly.
        where: where it was written.
        status: what is known of a server now.
    """

    id: str
    kind: FamilyKind
    summary: str
    first: int
    count: int
    exposure: Exposure | None = None
    access: Access | None = None
    owners: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    where: Where | None = None
    status: ServerStatus | None = None


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool, whoever asks.

    Attributes:
        tool: the tool.
        entry: the entry of a `tools` list that grants exactly it.
        imported_entry: the same in an agent's file of Claude Code's format.
        permission: what a call needs.
        tokens: of its line, by the report's method.
    """

    tool: Tool
    entry: str
    imported_entry: str
    permission: Permission
    tokens: int


@dataclass(frozen=True, slots=True)
class Lead:
    """A way to a tool's work, without arguments: what a `Route` says of many tools at once.

    Attributes:
        via: what kind of way.
        call: the wire name to call first; None for the tool's own.
        tool: the hand-off that the opener is asked for, where it is put away.
        agents: for a hand-off, the agents it goes through, in order.
    """

    via: Via
    call: str | None
    tool: str | None = None
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why tools are in their state for an agent; equal for many tools, and held once.

    Attributes:
        state: the answer.
        approve: whether a person approves each call.
        steps: every question in order; in a mend `SELF` stands for the tool's own entry.
        leads: ways to the work, best first.
        cuts: where a reserved tool has no way, what cuts each that should be one.
    """

    state: State
    approve: bool
    steps: tuple[Step, ...]
    leads: tuple[Lead, ...]
    cuts: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows one behind another that one explanation holds for."""

    explanation: int
    count: int


@dataclass(frozen=True, slots=True)
class Part:
    """What tokens go to."""

    kind: PartKind
    tokens: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What an agent's request costs, as it is and with nothing put away.

    Attributes:
        cost: the figures of a dump.
        sent: the parts of `cost.total`.
        unpacked: the parts of `cost.if_unpacked` and the same sections.
    """

    cost: Cost
    sent: tuple[Part, ...]
    unpacked: tuple[Part, ...]

    @property
    def total_unpacked(self) -> int:
        """Tokens with nothing put away."""
        return self.cost.if_unpacked + self.cost.sections


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a prompt: a section, or the agent's own words between two (then `section` is None)."""

    section: str | None
    text: str


@dataclass(frozen=True, slots=True)
class AgentReport:
    """One agent that has a file.

    Attributes:
        name: its name.
        description: when to hand to it.
        handoff: the name of the tool that hands to it.
        where: where it was written.
        imported: whether its file is of Claude Code's format.
        depth: hand-offs on the shortest way from the root agent; None where none leads to it.
        refused: why it cannot start; the rest is empty then.
        stretches: the explanation of each row, in order.
        ways_in: wire names of the opener and the search, where it is sent them.
        bill: what its request costs.
        prompt: its prompt in pieces.
        diagnostics: what a person should know about its belt.
    """

    name: str
    description: str
    handoff: str
    where: Where | None
    imported: bool
    depth: int | None
    refused: tuple[Diagnostic, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    ways_in: tuple[str, ...] = ()
    bill: Bill | None = None
    prompt: tuple[Piece, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def rows(self) -> Iterator[int]:
        """The number of each row's explanation."""
        for stretch in self.stretches:
            yield from (stretch.explanation for _ in range(stretch.count))


@dataclass(frozen=True, slots=True)
class Link:
    """A hand-off that an agent's `delegates` grant it.

    Attributes:
        source: who hands off.
        target: whom to.
        tool: the hand-off's wire name.
        state: what that tool is to the one who hands off.
    """

    source: str
    target: str
    tool: str
    state: State


@dataclass(frozen=True, slots=True)
class Report:
    """A workspace and what is connected, decided for every agent.

    Attributes:
        root: the directory of the workspace.
        embedded: whether it is packbelt's own.
        snapshot: the snapshot's file; empty for nothing connected.
        orchestrator: the root agent.
        opener: the opener's name.
        method: how tokens were counted, in words.
        families: packs in the order of their files, tools without one, servers.
        tools: the rows, family by family.
        agents: the root first, then by name.
        explanations: each that holds for a tool of an agent, once.
        links: who hands to whom.
        findings: what `check` finds.
    """

    root: Path
    embedded: bool
    snapshot: str
    orchestrator: str
    opener: str
    method: str
    families: tuple[Family, ...]
    tools: tuple[ToolRow, ...]
    agents: tuple[AgentReport, ...]
    explanations: tuple[Explanation, ...]
    links: tuple[Link, ...]
    findings: tuple[Diagnostic, ...]

    def states(self, agent: AgentReport) -> Counter[State]:
        """How many tools an agent has in each state."""
        counted: Counter[State] = Counter()
        for stretch in agent.stretches:
            counted[self.explanations[stretch.explanation].state] += stretch.count
        return counted
