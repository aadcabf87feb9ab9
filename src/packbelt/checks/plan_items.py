"""What a plan may decide: each tool of the workspace's packs, and where an agent's file can say otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass

from packbelt.belt import Belt
from packbelt.belt.opener import listing_of, opener_tool
from packbelt.belt.placement import Placement
from packbelt.catalog.agents import FOLDER as AGENTS
from packbelt.catalog.registry import bits
from packbelt.catalog.tokens import ENCODING, count
from packbelt.catalog.workspace import Pack, Workspace
from packbelt.checks.workbench import Workbench
from packbelt.cost import line_tokens
from packbelt.model import Exposure, State

_PLANNED = (Exposure.PACKED, Exposure.DIRECT)
"""Exposures of packs whose tools may be moved."""


@dataclass(frozen=True, slots=True)
class Item:
    """One tool as one agent has it, where its place is the plan's to say.

    Attributes:
        agent: the agent.
        tool: the tool's name, which no other of the packs' tools has.
        identity: its identity, as logs have it.
        wire_name: its wire name.
        pack: its pack.
        tokens: of its schema in each request.
        direct: whether it is direct now.
        handoff: whether it hands off.
        alone: whether the agent's file can make it direct for this agent alone.
        way: whether it is the way in sight to work that is reserved from the agent: put away, the reader
            would see neither the tools nor how to ask for them.
    """

    agent: str
    tool: str
    identity: str
    wire_name: str
    pack: str
    tokens: int
    direct: bool
    handoff: bool
    alone: bool
    way: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything that a plan is made from but the observations.

    Attributes:
        items: what can be placed.
        rows: tokens of each pack's line in the index.
        listings: tokens of each pack's listing with all that may be in it, by agent and pack.
        openers: tokens of the opener without its index, by agent; 0 where it is there whatever is planned.
        placed: tools that each agent is sent whatever is planned, the opener aside.
        promoted: names that each pack sends to all now.
    """

    items: tuple[Item, ...]
    rows: Mapping[str, int]
    listings: Mapping[tuple[str, str], int]
    openers: Mapping[str, int]
    placed: Mapping[str, int]
    promoted: Mapping[str, frozenset[str]]


def promoted(pack: Pack) -> frozenset[str]:
    """The members of a pack that are direct for all."""
    return frozenset(pack.members if pack.exposure is Exposure.DIRECT else pack.direct)


def ground(bench: Workbench) -> Ground:
    """What can be planned of a workspace."""
    workspace, items = bench.workspace, []
    openers, placed = {}, {}
    listings: dict[tuple[str, str], int] = {}
    for agent, belt in bench.belts.items():
        items += _items(belt, workspace)
        movable = 0
        parts: dict[str, int] = {}
        for bit, pack in _movable(belt):
            movable |= 1 << bit
            # Whatever an agent's own file names: a plan must not shorten the listing that it reckons with.
            parts[pack.id] = belt.registry.index.packs[pack.id] & belt.callable
        # A searched belt has nothing packed, so that its opener has no index.
        openers[agent] = 0 if belt.packed & ~movable else count(opener_tool(belt.searched()).line, ENCODING)
        placed[agent] = (belt.direct & ~movable).bit_count()
        for pack_id, part in parts.items():
            listings[agent, pack_id] = count(listing_of(belt, pack_id, part), ENCODING)
    rows = {p.id: count(f"- {p.id}: {p.summary}\n", ENCODING) for p in workspace.packs.values()}
    return Ground(
        tuple(items), rows, listings, openers, placed, {p.id: promoted(p) for p in workspace.packs.values()}
    )


def _movable(belt: Belt) -> list[tuple[int, Pack]]:
    """The callable tools of the workspace's packs that nothing but the pack places."""
    placement, registry = Placement(belt.subject), belt.registry
    fixed = placement.unpacked | placement.exact | placement.owned | placement.carried | belt.deferred
    found = []
    for pack in registry.workspace.packs.values():
        if pack.exposure in _PLANNED:
            mask = registry.index.packs[pack.id] & belt.callable & ~fixed
            found += [(i, pack) for i in bits(mask)]
    return found


def _items(belt: Belt, workspace: Workspace) -> list[Item]:
    agent = workspace.agents[belt.agent]
    own = agent.tools is not None and agent.is_template and agent.file.startswith(AGENTS)
    ways = _ways(belt)
    found = []
    for i, pack in _movable(belt):
        tool = belt.registry.tools[i]
        handoff = tool.target is not None
        found.append(
            Item(
                belt.agent,
                tool.name,
                str(tool.id),
                tool.wire_name,
                pack.id,
                line_tokens(tool),
                bool(belt.direct >> i & 1),
                handoff,
                own and not handoff,
                tool.wire_name in ways,
            )
        )
    return found


def _ways(belt: Belt) -> set[str]:
    """The first hand-off to each reserved tool; where that is put away, those in sight."""
    found = set()
    for i in bits(belt.fold.states[State.RESERVED]):
        calls = [route.call for route in belt.decision(i).routes if route.via == "handoff"]
        first = belt.decision(i).routes[:1]
        found.update(calls[:1] if calls and first[0].via == "handoff" else calls)
    return found


__all__ = ["Ground", "Item", "ground", "promoted"]
