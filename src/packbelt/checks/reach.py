"""What is within reach of the root agent, and over how many hand-offs: the certificate behind law 2."""

from collections.abc import Mapping
from dataclasses import dataclass

from packbelt.belt import Belt, Scope, belt_of
from packbelt.belt.routes import ways
from packbelt.catalog.registry import bind, bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.model import PackbeltError, State, ToolId
from packbelt.turn import NOTHING


@dataclass(frozen=True, slots=True)
class Reach:
    """The shortest way to a tool.

    Attributes:
        length: hand-offs on the way; 0 where the root agent calls the tool itself.
        agents: the agents that the request passes through, in order; the last can call the tool.
        state: how that agent has it: direct, packed or deferred.
    """

    length: int
    agents: tuple[str, ...]
    state: State


def reachability(
    workspace: Workspace, snapshot: Snapshot | None = None, root: str | None = None
) -> Mapping[ToolId, Reach]:
    """The shortest way to each tool that an agent can get the work of done; the rest is absent.

    Every step is decided by the scope that takes it: what binds an agent binds those it hands to.

    Args:
        workspace: what may exist.
        snapshot: what is true now; None for nothing connected.
        root: whose reach is asked for; by default the workspace's root agent.

    Returns:
        By identity, in the order of the registry's bits. Empty if the agent cannot start.
    """
    registry = bind(workspace, NOTHING if snapshot is None else snapshot)
    try:
        belt = belt_of(registry, Scope(root or workspace.orchestrator))
    except PackbeltError:
        return {}
    return {} if belt.problems else reach_of(belt)


def reach_of(belt: Belt) -> dict[ToolId, Reach]:
    """The shortest way to each tool from a belt whose agent has started."""
    registry = belt.registry
    found = {i: Reach(0, (), belt.state(i)) for i in bits(belt.callable)}
    for way in ways(belt):
        new = [i for i in bits(way.mask) if i not in found]
        if not new:
            continue
        last = belt
        for agent in way.agents:
            last = last.child(agent)
        for i in new:
            found[i] = Reach(len(way.agents), way.agents, last.state(i))
    return {registry.tools[i].id: found[i] for i in sorted(found)}


@dataclass(frozen=True, slots=True)
class Summary:
    """What the root agent reaches, in numbers of tools.

    Attributes:
        root: the root agent.
        known: tools in workspace and snapshot.
        direct: sent to the root agent.
        packed: behind its opener.
        deferred: found by its search.
        handed: reached through hand-offs only.
        longest: hand-offs on the longest of the shortest ways.
    """

    root: str
    known: int
    direct: int
    packed: int
    deferred: int
    handed: int
    longest: int

    @property
    def reachable(self) -> int:
        """Tools within reach."""
        return self.direct + self.packed + self.deferred + self.handed

    def __str__(self) -> str:
        ways_in = [f"{self.direct} direct", f"{self.packed} packed"]
        if self.deferred:
            ways_in.append(f"{self.deferred} deferred")
        chain = f" (longest chain {self.longest})" if self.handed else ""
        ways_in.append(f"{self.handed} through hand-offs{chain}")
        return f"{self.reachable} of {self.known} tools reachable from {self.root}: {', '.join(ways_in)}"


def summary(workspace: Workspace, snapshot: Snapshot | None = None) -> Summary:
    """The root agent's reach in numbers.

    Args:
        workspace: what may exist.
        snapshot: what is true now; None for nothing connected.
    """
    registry = bind(workspace, NOTHING if snapshot is None else snapshot)
    reach = reachability(workspace, snapshot).values()
    own = [one.state for one in reach if not one.length]
    return Summary(
        root=workspace.orchestrator,
        known=len(registry.tools),
        direct=own.count(State.DIRECT),
        packed=own.count(State.PACKED),
        deferred=own.count(State.DEFERRED),
        handed=len(reach) - len(own),
        longest=max((one.length for one in reach), default=0),
    )
