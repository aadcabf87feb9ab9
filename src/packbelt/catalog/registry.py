"""A workspace and a snapshot joined: every identity a bit, every selector a mask.

The workspace's own tools take the low bits, sorted by wire name; each server's tools take one run of bits
after them, servers sorted by name and tools by name. The order depends on the identities alone, so that
the same content gives the same bits whatever order it was found in. Joining costs a few operations a server,
not one a tool.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any

from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import MCP, Pack, ServerPolicy, ServerSpec, Skill, ToolPolicy, Workspace
from packbelt.model import (
    BUILTIN,
    HANDOFF,
    NATIVE,
    Exposure,
    Permission,
    ServerStatus,
    Tool,
    ToolId,
)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a live host brings: names of the native tools it handles, and whether it can run hand-offs."""

    handlers: frozenset[str]
    runner: bool


def bits(mask: int) -> Iterator[int]:
    """Positions of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


_FLAGS = bytes.maketrans(b"01", b"\0\1")


def pick(tools: Sequence[Tool], mask: int) -> Iterator[Tool]:
    """The tools at the bits of a mask, lowest first; far quicker than one bit at a time."""
    return compress(tools, bin(mask)[:1:-1].encode().translate(_FLAGS))


class WorkspaceIndex:
    """The bits of a workspace's own tools: worked out once, on load."""

    def __init__(self, workspace: Workspace) -> None:
        self.tools = workspace.tools
        self.size = len(self.tools)
        self.native: dict[str, int] = {}
        self.handoff: dict[str, int] = {}
        self.builtin: dict[str, int] = {}
        self.to_agent: dict[str, int] = {}
        self.by_source = {NATIVE: self.native, HANDOFF: self.handoff, BUILTIN: self.builtin}
        self.by_permission = [0] * len(Permission)
        self.approve = 0
        for i, tool in enumerate(self.tools):
            if tool.id.source == HANDOFF:
                self.handoff[tool.name] = i
                self.to_agent[tool.target or ""] = i
            else:
                (self.builtin if tool.id.source == BUILTIN else self.native)[tool.name] = i
            permission = tool.permission
            if permission is None:
                permission = Permission.EXECUTE if tool.id.source == HANDOFF else Permission.READ
            self.by_permission[permission] |= 1 << i
            self.approve |= tool.approve << i
        self.all = (1 << self.size) - 1
        self.handoffs = sum(1 << i for i in self.handoff.values())
        self.packs = {pack.id: self._mask(pack.members) for pack in workspace.packs.values()}
        self.pack_of = {i: pack for pack, mask in self.packs.items() for i in bits(mask)}
        self.promoted = {pack.id: self._mask(pack.direct) for pack in workspace.packs.values()}
        self.unpacked = self.all & ~sum(self.packs.values())

    def find(self, name: str) -> int | None:
        """The bit of a native tool or hand-off. They share one namespace."""
        return self.native.get(name, self.handoff.get(name))

    def _mask(self, names: Iterable[str]) -> int:
        found = (self.find(name) for name in names)
        return sum(1 << i for i in found if i is not None)


@lru_cache(maxsize=16)
def index(workspace: Workspace) -> WorkspaceIndex:
    """The index of a workspace."""
    return WorkspaceIndex(workspace)


@dataclass(slots=True)
class PolicyGroup:
    """Servers under one policy, and the mask of their tools."""

    policy: ServerPolicy
    mask: int
    servers: list[str]


class Registry:
    """Every tool that workspace and snapshot know, by bit, wire name and identity.

    Attributes:
        tools: by bit.
        servers: names in bit order: configured, inline, unusable ones and those that only the snapshot knows.
        masks: the mask of each server's tools.
        server_tools: the mask of all servers' tools.
        status: mask of the tools of servers in each status.
        memo: what the belts above have worked out for this registry; it lives and dies with it.
    """

    def __init__(self, workspace: Workspace, snapshot: Snapshot, runtime: Runtime | None) -> None:
        self.workspace = workspace
        self.snapshot = snapshot
        self.runtime = runtime
        self.memo: dict[Hashable, Any] = {}
        self.index = index(workspace)
        self.servers = sorted(
            {*workspace.servers, *workspace.inline, *workspace.unusable_servers, *snapshot.servers}
        )
        self.starts: dict[str, int] = {}
        self.masks: dict[str, int] = {}
        self.status = dict.fromkeys(ServerStatus, 0)
        tools = list(self.index.tools)
        states = snapshot.servers
        for name in self.servers:
            start = self.starts[name] = len(tools)
            state = states.get(name)
            if state is None:
                self.masks[name] = 0
                continue
            tools += state.tools
            mask = self.masks[name] = ((1 << len(state.tools)) - 1) << start
            if state.status is not ServerStatus.CONNECTED:
                self.status[state.status] |= mask
        self.tools = tools
        self.all = (1 << len(tools)) - 1
        self.server_tools = self.all & ~self.index.all
        self.status[ServerStatus.CONNECTED] = self.server_tools & ~sum(self.status.values())
        self.handoffs = self.index.handoffs

    def state(self, server: str) -> ServerState:
        """A server now; one that the snapshot lacks failed if it is unusable, else is disconnected."""
        known = self.snapshot.servers.get(server)
        if known is not None:
            return known
        reason = self.workspace.unusable_servers.get(server, "")
        status = ServerStatus.FAILED if reason else ServerStatus.DISCONNECTED
        return ServerState(server, status, error=reason)

    @cached_property
    def private(self) -> frozenset[str]:
        """Names of the servers that one agent declares for itself; nobody else has them but by inheritance.

        Those that only the snapshot remembers, because their agent's file or their entry no longer loads, are
        among them: a broken file must not give its servers to everyone. Where nobody knows whose file is
        broken, each name with a dot may be one.
        """
        workspace = self.workspace
        lost = {f"{name}." for name in workspace.broken}
        if not all(agent.named for agent in workspace.broken.values()):
            lost.add("")
        own = tuple(f"{name}." for name in workspace.agents)
        unusable = [name for name in workspace.unusable_servers if name.startswith(own)]
        known = self.snapshot.servers if lost else ()
        remembered = [name for name in known if "." in name and name.startswith(tuple(lost))]
        private = (n for n in (*remembered, *unusable) if n not in workspace.servers)
        return frozenset((*workspace.inline, *private))

    @cached_property
    def groups(self) -> tuple[PolicyGroup, ...]:
        """Servers by policy: those that `servers:` names, one by one, and all the rest together."""
        workspace = self.workspace
        named = workspace.config.servers
        own = [n for n in self.servers if n in named]
        own += [n for n, spec in workspace.inline.items() if n not in named and spec.short_name in named]
        special = set(own)
        groups = [PolicyGroup(workspace.policy(name), self.masks[name], [name]) for name in own]
        rest = self.server_tools
        for group in groups:
            rest &= ~group.mask
        others = [name for name in self.servers if name not in special] if special else self.servers
        default = named.get("*") or ServerPolicy()
        return (*groups, PolicyGroup(default, rest, others))

    @cached_property
    def wire(self) -> Mapping[str, int]:
        """Bit of each wire name."""
        return {tool.wire_name: i for i, tool in enumerate(self.tools)}

    @cached_property
    def clashes(self) -> int:
        """Mask of the server tools that share a wire name with another; none of them is available.

        Only altered names can clash: one that needed no change ends its parts visibly.
        """
        seen: dict[str, int] = {}
        mask = 0
        for name, state in self.snapshot.servers.items():
            for position in state.altered:
                i = self.starts[name] + position
                other = seen.setdefault(self.tools[i].wire_name, i)
                if other != i:
                    mask |= 1 << i | 1 << other
        return mask

    @cached_property
    def changed(self) -> int:
        """Mask of the tools whose definition is not the one that packbelt.lock accepts."""
        lock = self.workspace.lock
        if lock is None:
            return 0
        mask = 0
        for name, accepted in lock.items():
            for position, digest in enumerate(self.state(name).digests if name in self.masks else ()):
                if accepted.get(self.state(name).names[position]) != digest:
                    mask |= 1 << (self.starts[name] + position)
        return mask

    @cached_property
    def by_permission(self) -> tuple[int, ...]:
        """For each level, the mask of the tools that need just that level."""
        levels = list(self.index.by_permission)
        for group in self.groups:
            default = group.mask
            for i, policy in self._overrides(group):
                if policy.permission is not None:
                    levels[policy.permission] |= 1 << i
                    default &= ~(1 << i)
            levels[group.policy.permission] |= default
        return tuple(levels)

    def _overrides(self, group: PolicyGroup) -> Iterator[tuple[int, ToolPolicy]]:
        for tool, policy in group.policy.tools.items():
            for server in group.servers:
                i = self.find(server, tool)
                if i is not None:
                    yield i, policy

    @cached_property
    def above(self) -> tuple[int, ...]:
        """For each ceiling, the mask of the tools that need more."""
        masks = [0] * len(Permission)
        for ceiling in reversed(range(len(masks) - 1)):
            masks[ceiling] = masks[ceiling + 1] | self.by_permission[ceiling + 1]
        return tuple(masks)

    @cached_property
    def approve(self) -> int:
        """Mask of the tools that their own source or their server's policy marks for approval."""
        mask = self.index.approve
        for group in self.groups:
            marked = group.mask if group.policy.approve else 0
            for i, policy in self._overrides(group):
                if policy.approve is not None:
                    marked = marked | 1 << i if policy.approve else marked & ~(1 << i)
            mask |= marked
        return mask

    def permission(self, i: int) -> Permission:
        """What a call of the tool needs."""
        return next(level for level in Permission if self.by_permission[level] >> i & 1)

    def find(self, server: str, tool: str) -> int | None:
        """The bit of a server's tool."""
        state = self.snapshot.servers.get(server)
        position = state.by_name.get(tool) if state else None
        return None if position is None else self.starts[server] + position

    @cached_property
    def skills(self) -> tuple[Skill, ...]:
        """The installed skills: the snapshot's, or those that the workspace found on disk."""
        skills = self.snapshot.skills
        return self.workspace.skills if skills is None else skills

    @cached_property
    def admitted(self) -> Mapping[str, int]:
        """The bit of each admitted identity that is known, in order of arrival."""
        found = ((entry.id, self.identified(entry.id)) for entry in self.snapshot.admitted)
        return {identity: i for identity, i in found if i is not None}

    @cached_property
    def recorded(self) -> Mapping[str, str]:
        """The placement that each admitted server was given."""
        placed: dict[str, str] = {}
        for entry in self.snapshot.admitted:
            i = self.admitted.get(entry.id)
            server = None if i is None else self.tools[i].id.server
            if server is not None and entry.placed is not None:
                placed.setdefault(server, entry.placed)
        return placed

    @cached_property
    def arrival(self) -> Mapping[str, int]:
        """The place of each admitted server in the order of arrival."""
        servers = (self.tools[i].id.server for i in self.admitted.values())
        return {name: place for place, name in enumerate(dict.fromkeys(servers)) if name is not None}

    def locate(self, identity: ToolId) -> int | None:
        """The bit of an identity."""
        server = identity.server
        if server is not None:
            return self.find(server, identity.name)
        names = self.index.by_source.get(identity.source, {})
        return names.get(identity.name)

    def identified(self, text: str) -> int | None:
        """The bit of an identity as text: `native:x`, `handoff:x`, `builtin:x`, `server:s/x` or `s/x`.

        Servers' names may hold a `/`, so every cut is tried; at most one server has such a tool, or the
        first in the registry's order counts.
        """
        for source, names in self.index.by_source.items():
            if text.startswith(f"{source}:"):
                return names.get(text.removeprefix(f"{source}:"))
        body = text.removeprefix("server:")
        cuts = (k for k, letter in enumerate(body) if letter == "/")
        found = (self.find(body[:k], body[k + 1 :]) for k in cuts)
        return next((i for i in found if i is not None), None)

    def named(self, name: str) -> list[int]:
        """The bits of all tools with a plain name, whatever their source."""
        found = [i for i in (self.index.find(name), self.index.builtin.get(name)) if i is not None]
        return found + [i for server in self.servers if (i := self.find(server, name)) is not None]

    def pack_of(self, i: int) -> str | None:
        """The id of the pack that a tool belongs to; for a server's tool `mcp:<server>`."""
        server = self.tools[i].id.server
        return self.index.pack_of.get(i) if server is None else MCP + server

    def pack_mask(self, pack: str) -> int | None:
        """Mask of a pack's tools, or None for an unknown pack."""
        mask = self.index.packs.get(pack)
        if mask is None and pack.startswith(MCP):
            mask = self.masks.get(pack.removeprefix(MCP))
        return mask

    def pack(self, pack: str) -> Pack:
        """A pack; a server's is made from its policy.

        Raises:
            KeyError: no such pack.
        """
        if pack in self.workspace.packs:
            return self.workspace.packs[pack]
        server = pack.removeprefix(MCP)
        self.masks[server]
        policy = self.workspace.policy(server)
        return Pack(
            id=pack,
            exposure=policy.exposure,
            access=policy.access,
            owners=policy.owners,
            carriers=policy.carriers,
            members=tuple(self.state(server).by_name),
            file=policy.where.file if policy.where else "",
            lines=dict.fromkeys(
                ("", "access", "exposure", "owners", "carriers"), policy.where.line if policy.where else 0
            ),
        )

    @cached_property
    def required(self) -> Mapping[str, ServerSpec]:
        """Servers without which an agent that has them may not start."""
        specs = {**self.workspace.servers, **self.workspace.inline}
        return {name: spec for name, spec in specs.items() if spec.required}

    @cached_property
    def off(self) -> int:
        """Mask of the tools of packs that are off."""
        mask = 0
        for pack in self.workspace.packs.values():
            if pack.exposure is Exposure.OFF:
                mask |= self.index.packs[pack.id]
        for group in self.groups:
            if group.policy.exposure is Exposure.OFF:
                mask |= group.mask
        return mask


def bind(workspace: Workspace, snapshot: Snapshot, runtime: Runtime | None = None) -> Registry:
    """The registry of a workspace, a snapshot and what a live host brings; the same give the same one."""
    return _bound(workspace, snapshot, runtime)


_bound = lru_cache(maxsize=16)(Registry)
"""By position always: named or left out, an argument would make another key of the same three."""
