"""`Workspace`: what may exist. Immutable, cross-checked, and data only."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from packbelt.model import (
    Access,
    Diagnostic,
    Exposure,
    Origin,
    PackbeltError,
    Permission,
    Selector,
    Tool,
    Where,
    WorkspaceError,
)

MCP = "mcp:"
"""How the pack of a server is called: `mcp:<server>`."""

Lines = Mapping[str, int]
"""Line of each key of a file, for reasons; the empty key is the file's first line."""


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What `servers.<server>.tools.<tool>` says of one tool; None where it says nothing."""

    permission: Permission | None = None
    approve: bool | None = None


@dataclass(frozen=True, slots=True)
class ServerPolicy:
    """How a server's tools are treated: the entry of `servers:` merged over that of `"*"`.

    Attributes:
        concurrency: how many calls the server gets at a time; further ones wait in its queue.
    """

    exposure: Exposure = Exposure.AUTO
    access: Access = Access.OPEN
    owners: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    permission: Permission = Permission.EXECUTE
    approve: bool = False
    concurrency: int = 8
    tools: Mapping[str, ToolPolicy] = field(default_factory=dict)
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in o200k_base tokens.

    Attributes:
        server_tokens: most that one server's tools may cost to stay direct under `auto`.
        tool_tokens: most that one tool should cost; `check` warns above it.
        belt_tokens: most that all servers' tools together may cost to stay direct under `auto`.
    """

    server_tokens: int = 4000
    tool_tokens: int = 800
    belt_tokens: int = 12000


@dataclass(frozen=True, slots=True)
class Times:
    """Limits in seconds: of a server's start, a listing, a call, the wait in its queue, and its end."""

    start: float = 15
    list: float = 60
    call: float = 60
    queue: float = 60
    shutdown: float = 5


@dataclass(frozen=True, slots=True)
class Config:
    """`packbelt.yaml`.

    Attributes:
        servers: policies as written, `"*"` among them; `Workspace.policy` merges.
        plugins_only: whether MCP servers of user and project agents are ignored.
    """

    orchestrator: str = "orchestrator"
    default_tools: Literal["inherit", "none"] = "inherit"
    ceiling: Permission = Permission.EXECUTE
    deny: tuple[Selector, ...] = ()
    approve: tuple[Selector, ...] = ()
    opener: str = "use_pack"
    servers: Mapping[str, ServerPolicy] = field(default_factory=dict)
    budget: Budget = Budget()
    times: Times = Times()
    skills: tuple[str, ...] = ("skills",)
    plugins_only: bool = False
    file: str = ""
    lines: Lines = field(default_factory=dict)

    def where(self, key: str) -> Where | None:
        """The place of a key, or of the file where the key is left to its default."""
        return Where(self.file, self.lines.get(key, 0)) if self.file else None


@dataclass(frozen=True, slots=True)
class Pack:
    """A named family of tools. A server is one too, as `mcp:<server>`.

    Attributes:
        members: the tools' names in the order of the file; for a server, by name.
        direct: members that are promoted.
        defined: names of the members that the file defines in full.
    """

    id: str
    summary: str = ""
    exposure: Exposure = Exposure.PACKED
    access: Access = Access.OPEN
    owners: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    direct: tuple[str, ...] = ()
    guide: str = ""
    members: tuple[str, ...] = ()
    file: str = ""
    lines: Lines = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.exposure is Exposure.AUTO and not self.id.startswith(MCP):
            raise WorkspaceError(
                f"exposure of pack {self.id!r} is auto, which is for servers",
                mend="write packed, direct, deferred or off",
                name=self.id,
            )

    def where(self, key: str = "") -> Where | None:
        """The place of a key (`access`, `owners`, ..., or `tools.<name>`), or of the file."""
        return Where(self.file, self.lines.get(key, 0)) if self.file else None


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How a server is reached. Holds `${NAME}` placeholders as written.

    Nothing that a file may have written a secret into is printed: no argument, address, variable or header.

    Attributes:
        name: its name; for an inline server `<agent>.<name>`.
        transport: `stdio` (with command, args, env, cwd) or `http` (with url, headers).
        required: whether the agent that names it may not start without it.
        owner: the agent that declares it inline, or None for a shared server.
        digest: `sha256:` of the definition as written: what trust is given to.
    """

    name: str
    transport: Literal["stdio", "http"]
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    required: bool = False
    owner: str | None = None
    digest: str = ""
    where: Where | None = None

    @property
    def short_name(self) -> str:
        """The name as its file spells it."""
        return self.name.removeprefix(f"{self.owner}.") if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent's file.

    Attributes:
        description: when to hand to it; also the hand-off's description.
        handoff: the name of the tool that hands to it.
        tools: selectors, or None where the key is absent. Absent and empty are different things.
        delegates: agents it may hand off to, or `"*"`.
        mcp_servers: named references, as written.
        inline: full names (`<agent>.<name>`) of the servers it declares.
        inherit_mcp_servers: True, False or the names that it inherits.
        skills: names, or None for all that are installed.
        permission: what a hand-off to it needs.
        ceiling: at most, for it and below; None leaves its caller's.
        body: its prompt.
        is_template: whether placeholders in the body are replaced (never in imported ones).
    """

    name: str
    description: str
    handoff: str
    tools: tuple[Selector, ...] | None = None
    disallowed_tools: tuple[Selector, ...] = ()
    delegates: tuple[str, ...] | Literal["*"] = ()
    mcp_servers: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()
    inherit_mcp_servers: bool | tuple[str, ...] = True
    skills: tuple[str, ...] | None = None
    permission: Permission = Permission.EXECUTE
    ceiling: Permission | None = None
    body: str = ""
    is_template: bool = True
    origin: Origin = Origin.PROJECT
    file: str = ""
    lines: Lines = field(default_factory=dict)

    def where(self, key: str = "") -> Where | None:
        """The place of a front-matter key, or of the file where the key is absent."""
        return Where(self.file, self.lines.get(key, 0)) if self.file else None

    def delegates_to(self, agent: str, root: str) -> bool:
        """Whether `delegates` names an agent; `"*"` is every agent but itself and the root."""
        if self.delegates == "*":
            return agent not in (self.name, root)
        return agent in self.delegates

    def kept_from(
        self, access: Access, owners: tuple[str, ...], carriers: tuple[str, ...], root: str
    ) -> bool:
        """Whether the access of a pack keeps its tools from this agent. Depends on the files alone."""
        if access is Access.OPEN or self.name in owners or self.name in carriers:
            return False
        return access is Access.OWNERS or any(self.delegates_to(owner, root) for owner in owners)


@dataclass(frozen=True, slots=True)
class BrokenAgent:
    """An agent whose file did not load: it cannot start, and hand-offs to it are unavailable.

    Attributes:
        named: whether the name is known for sure; if not, the file may be any agent's.
    """

    name: str
    handoff: str
    error: PackbeltError
    file: str
    named: bool = True


@dataclass(frozen=True, slots=True)
class Skill:
    """An installed skill (Agent Skills format)."""

    name: str
    description: str
    path: str
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """The source of a section's template."""

    name: str
    source: str
    file: str
    origin: Origin = Origin.EMBEDDED


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Workspace:
    """What may exist: packs, agents, prompts, servers and skills, from one directory.

    Attributes:
        root: the directory.
        embedded: whether it is packbelt's own.
        packs: by id, in the order of their file names.
        agents: those that loaded, the root agent always among them unless its file is broken.
        broken: those that did not load, by name.
        servers: shared servers by name.
        inline: servers that agents declare for themselves, by `<agent>.<name>`.
        tools: native tools and hand-offs, sorted by wire name.
        handlers: the host's Python callables, by tool name.
        templates: section templates by name, the workspace's over the embedded ones.
        lock: accepted digests by server and tool name, or None without a lock.
        diagnostics: what did not load, and what loaded with a remark.
        unusable_servers: servers that are named and cannot be used, inline ones by `<agent>.<name>` and by
            their short name, each with the reason; an empty reason is one that is left out on purpose. They
            stay known, so that an entry means what it meant before.
    """

    root: Path
    embedded: bool
    config: Config
    packs: Mapping[str, Pack]
    agents: Mapping[str, Agent]
    broken: Mapping[str, BrokenAgent]
    servers: Mapping[str, ServerSpec]
    inline: Mapping[str, ServerSpec]
    skills: tuple[Skill, ...]
    tools: tuple[Tool, ...]
    templates: Mapping[str, Template]
    handlers: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    lock: Mapping[str, Mapping[str, str]] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    unusable_servers: Mapping[str, str] = field(default_factory=dict)

    @property
    def orchestrator(self) -> str:
        """The root agent's name."""
        return self.config.orchestrator

    def watch(
        self, on_problem: Callable[[PackbeltError], object] | None = None
    ) -> AsyncGenerator["Workspace"]:
        """This workspace each time that its files are saved as something else, for `async for`.

        Files that do not load keep the last good workspace: they are told to `on_problem` (by default to the
        logger `packbelt.watch`), the same problem once, and when they are mended a workspace follows. What is
        read and what counts as half written is as for `Fleet.reload`. It ends when it is closed
        (`contextlib.aclosing`) or cancelled.

        Args:
            on_problem: told why the files do not load, with file, line and mend.
        """
        from packbelt.catalog.watch import watch  # noqa: PLC0415 - an event loop only where it is asked for

        return watch(self, on_problem)

    def policy(self, server: str) -> ServerPolicy:
        """The policy of a server: its entry over that of `"*"`; an inline server's short name counts."""
        return policy_of(self.config, self.inline, server)


def policy_of(config: Config, inline: Mapping[str, ServerSpec], server: str) -> ServerPolicy:
    """The policy of a server: its entry over that of `"*"`; an inline server's short name counts."""
    spec = inline.get(server)
    entries = config.servers
    entry = entries.get(server) or (entries.get(spec.short_name) if spec else None)
    return entry or entries.get("*") or ServerPolicy()
