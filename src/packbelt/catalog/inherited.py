"""What a hand-off's description says of the MCP servers that its agent will have.

Only what the files settle, so that its bytes stay: which servers are connected, and what its caller has of
them, is not among that. Of servers whose tools the agent could never call nothing is said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from packbelt.catalog.workspace import Agent, Config, ServerPolicy, ServerSpec, policy_of
from packbelt.model import Exposure, Selector
from packbelt.model.selector import Kind
from packbelt.model.text import harmless

LISTED = 3
"""Servers that are named at most."""
NAME = 40
"""Bytes of a server's name that are shown."""


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


def servers_said(agent: Agent, files: Files) -> str:
    """One short sentence on the servers that an agent is given by a hand-off; empty where it has none."""
    inherited = _inherited(agent, files)
    own = [files.inline[name].short_name for name in agent.inline if _usable(agent, name, files)]
    own += [n for n in agent.mcp_servers if n in files.servers and _usable(agent, n, files) and n not in own]
    some = [] if inherited is None else [name for name in inherited if name not in own]
    if inherited is None:
        yours = "your MCP servers"
    else:
        yours = f"your MCP server{'' if len(some) == 1 else 's'} {_named(some)}" if some else ""
    if not own:
        return f"Has {yours}." if yours else ""
    if yours:
        return f"Has {yours}, and {_named(own)} of its own."
    return f"Has MCP server{'' if len(own) == 1 else 's'} {_named(own)} of its own."


def _inherited(agent: Agent, files: Files) -> list[str] | None:
    """The servers of which it has those that its caller has; None for all."""
    keep = agent.inherit_mcp_servers
    if keep is False:
        return []
    named = sorted({*files.servers, *files.config.servers} - {"*"})
    if keep is True:
        if _grants_any(agent, files) and _open(agent, files.config.servers.get("*") or ServerPolicy(), files):
            return None  # whatever is connected
        return [name for name in named if _usable(agent, name, files)]
    return [name for name in dict.fromkeys(keep) if name in named and _usable(agent, name, files)]


def _grants_any(agent: Agent, files: Files) -> bool:
    """Whether tools of a server that no file names can be granted and not denied."""
    everything = (Kind.ALL, Kind.ALL_SERVERS)
    if any(entry.kind in everything for entry in (*files.config.deny, *agent.disallowed_tools)):
        return False
    if agent.tools is None:
        return files.config.default_tools == "inherit"
    return any(entry.kind in everything for entry in agent.tools)


def _usable(agent: Agent, server: str, files: Files) -> bool:
    """Whether the agent can call any tool of a server, as far as the files settle it."""
    spec = files.inline.get(server)
    names = (server, spec.short_name) if spec else (server,)
    if any(_whole(entry, names) for entry in (*files.config.deny, *agent.disallowed_tools)):
        return False
    if agent.tools is None:
        granted = files.config.default_tools == "inherit"
    else:
        granted = any(_whole(entry, names) or entry.readings(names) for entry in agent.tools)
    return granted and _open(agent, policy_of(files.config, files.inline, server), files)


def _whole(entry: Selector, names: Sequence[str]) -> bool:
    """Whether an entry means all tools of a server."""
    if entry.kind in (Kind.ALL, Kind.ALL_SERVERS):
        return True
    return entry.text in {form for name in names for form in (f"{name}/*", f"pack:mcp:{name}")}


def _open(agent: Agent, policy: ServerPolicy, files: Files) -> bool:
    """Whether a policy leaves the agent anything to call."""
    if policy.exposure is Exposure.OFF:
        return False
    if agent.kept_from(policy.access, policy.owners, policy.carriers, files.config.orchestrator):
        return False
    ceiling = files.config.ceiling if agent.ceiling is None else min(agent.ceiling, files.config.ceiling)
    needed = [policy.permission, *(one.permission for one in policy.tools.values())]
    return any(level is not None and level <= ceiling for level in needed)


def _named(names: Iterable[str]) -> str:
    """Some names, cut to a number of them."""
    shown = [harmless(name, NAME) for name in names]
    more = [f"{len(shown) - LISTED} more"] if len(shown) > LISTED else []
    *first, last = [*shown[:LISTED], *more]
    return f"{', '.join(first)} and {last}" if first else last
