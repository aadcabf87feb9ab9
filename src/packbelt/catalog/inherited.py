"""What a hand-off's description says of the MCP servers that its agent will have.

Only what the files settle, so that its bytes stay: which servers are connected, and which of them the caller
has, is not among that. Of servers whose tools the agent could never call nothing is said.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packbelt.catalog.workspace import Agent, Config, ServerPolicy, ServerSpec, policy_of
from packbelt.model import Exposure, Permission, Selector
from packbelt.model.selector import Kind, glob
from packbelt.model.text import harmless

LISTED = 3
"""Servers that are named at most."""
NAME = 40
"""Bytes of a server's name that are shown."""
_WIDE = (Kind.ALL, Kind.ALL_SERVERS)


@dataclass(frozen=True, slots=True)
class Files:
    """What the workspace's files say of servers.

    Attributes:
        config: `packbelt.yaml`.
        servers: shared servers by name.
        inline: servers that agents declare for themselves, by `<agent>.<name>`.
    """

    config: Config = field(default_factory=Config)
    servers: Mapping[str, ServerSpec] = field(default_factory=dict)
    inline: Mapping[str, ServerSpec] = field(default_factory=dict)

    @property
    def shared(self) -> list[str]:
        """The shared servers that a file names: configured, or with a policy should they turn up."""
        return sorted({*self.servers, *self.config.servers} - {"*"})


def servers_said(agent: Agent, files: Files) -> str:
    """One short sentence on the servers that an agent has when it is handed to; empty where it has none."""
    has = {name for name in (*files.shared, *agent.inline) if _usable(agent, name, files)}
    own = [files.inline[name].short_name for name in agent.inline if name in has]
    own += [name for name in dict.fromkeys(agent.mcp_servers) if name in has and name in files.servers]
    yours = _yours(agent, files, has, own)
    if own and yours:
        return f"Has {yours}, and {_named(own)} of its own."
    if own:
        return f"Has MCP server{'' if len(own) == 1 else 's'} {_named(own)} of its own."
    return f"Has {yours}." if yours else ""


def _yours(agent: Agent, files: Files, has: set[str], own: list[str]) -> str:
    """The servers that it has if its caller has them."""
    keep = agent.inherit_mcp_servers
    if keep is True and _usable(agent, None, files):
        closed = [name for name in files.shared if name not in has]
        return "your MCP servers" + (f" except {_named(closed)}" if closed else "")
    shared = files.shared
    names = shared if keep is True else [name for name in dict.fromkeys(keep or ()) if name in shared]
    some = [name for name in names if name in has and name not in own]
    return f"your MCP server{'' if len(some) == 1 else 's'} {_named(some)}" if some else ""


def _usable(agent: Agent, server: str | None, files: Files) -> bool:
    """Whether the agent can call any tool of a server, as far as the files settle it.

    Args:
        agent: the agent.
        server: the server's full name; None for one that no file names.
        files: what is known.
    """
    config = files.config
    policy = config.servers.get("*") or ServerPolicy()
    if server is not None:
        policy = policy_of(config, files.inline, server)
    if policy.exposure is Exposure.OFF:
        return False
    if agent.kept_from(policy.access, policy.owners, policy.carriers, config.orchestrator):
        return False
    names = _names(server, files)
    ceiling = config.ceiling if agent.ceiling is None else min(agent.ceiling, config.ceiling)
    denies = (*config.deny, *agent.disallowed_tools)
    return any(
        level <= ceiling and not any(_means(entry, names, tool) for entry in denies)
        for tool, level in _granted(agent, names, policy, config)
    )


def _names(server: str | None, files: Files) -> tuple[str, ...]:
    """The names of a server in selectors, its full one first."""
    if server is None:
        return ()
    spec = files.inline.get(server)
    return (server, spec.short_name) if spec else (server,)


def _granted(
    agent: Agent, names: tuple[str, ...], policy: ServerPolicy, config: Config
) -> Iterator[tuple[str | None, Permission]]:
    """Tools of a server that the agent is granted, with what a call needs; None is any that no file names."""

    def needs(tool: str) -> Permission:
        exception = policy.tools.get(tool)
        level = exception.permission if exception else None
        return policy.permission if level is None else level

    entries = agent.tools or ()
    everything = config.default_tools == "inherit" if agent.tools is None else False
    if everything or any(_means(entry, names, None) for entry in entries):
        yield None, policy.permission
        yield from ((tool, needs(tool)) for tool in policy.tools)
    yield from ((tool, needs(tool)) for entry in entries for _, tool in entry.readings(names) if tool != "*")


def _means(entry: Selector, names: tuple[str, ...], tool: str | None) -> bool:
    """Whether an entry means a tool of a server; for None, whether it means all that the server may have."""
    if entry.kind in _WIDE:
        return True
    if entry.kind is Kind.PACK:
        return entry.pack in [f"mcp:{name}" for name in names[:1]]
    parts = [part for _, part in entry.readings(names)]
    if names and entry.any_server is not None:
        parts.append(entry.any_server)
    if tool is None:
        return "*" in parts
    return any(part == tool or glob(part).match(tool) for part in parts)


def _named(names: Iterable[str]) -> str:
    """Some names, cut to a number of them."""
    shown = [harmless(name, NAME) for name in names]
    more = [f"{len(shown) - LISTED} more"] if len(shown) > LISTED else []
    *first, last = [*shown[:LISTED], *more]
    return f"{', '.join(first)} and {last}" if first else last
