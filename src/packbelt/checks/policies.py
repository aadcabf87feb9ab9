"""Restrictions that name nothing: a typo in one leaves open what it was written to close."""

from collections.abc import Iterator

from packbelt.catalog.near import suggestion
from packbelt.checks.workbench import Workbench
from packbelt.model import Code, Diagnostic, Level, ServerStatus, Where
from packbelt.turn import NOTHING

_EVERY = "*"


def servers(bench: Workbench) -> Iterator[Diagnostic]:
    """Entries for servers that nobody has; without a snapshot only a note, as one may turn up."""
    known = {*bench.registry.servers, *(spec.short_name for spec in bench.workspace.inline.values())}
    for name, policy in bench.workspace.config.servers.items():
        if name != _EVERY and name not in known:
            yield Diagnostic(
                Level.NOTE if bench.snapshot is NOTHING else Level.WARNING,
                Code.SERVER_POLICY_UNUSED,
                f"`servers.{name}` is about a server that is neither configured nor connected",
                policy.where,
                suggestion(name, known, otherwise="configure the server, or remove the entry"),
                name,
            )


def tools(bench: Workbench) -> Iterator[Diagnostic]:
    """Exceptions for tools that no server under the entry has, once all of these are connected."""
    config = bench.workspace.config
    common = config.servers.get(_EVERY)
    for name, policy in config.servers.items():
        states = [bench.registry.state(server) for server in _bound(bench, name)]
        if not states or any(state.status is not ServerStatus.CONNECTED for state in states):
            continue
        real = {tool for state in states for tool in state.names}
        for tool in policy.tools:
            # Those of `"*"` are merged into each entry, and said once.
            inherited = name != _EVERY and common is not None and tool in common.tools
            if tool in real or inherited:
                continue
            whose = "no connected server has" if name == _EVERY else f"server {name!r} does not have"
            yield Diagnostic(
                Level.WARNING,
                Code.SERVER_POLICY_UNUSED,
                f"`servers.{name}.tools` is about a tool {tool!r} that {whose}",
                config.where(f"servers.{name}.tools.{tool}"),
                suggestion(tool, real, otherwise="correct or remove it"),
                tool,
            )


def _bound(bench: Workbench, name: str) -> list[str]:
    """The servers that an entry of `servers:` is about."""
    inline = bench.workspace.inline
    return [
        server
        for server in bench.registry.servers
        if name in (_EVERY, server) or (server in inline and inline[server].short_name == name)
    ]


def disabled(bench: Workbench) -> Iterator[Diagnostic]:
    """Disabled agents that are none."""
    snapshot = bench.snapshot
    known = {*bench.workspace.agents, *bench.workspace.broken}
    for name in snapshot.disabled_agents:
        if name not in known:
            yield Diagnostic(
                Level.WARNING,
                Code.AGENT_DISABLED_UNKNOWN,
                f"{name!r} in `disabled_agents` is no agent",
                Where(snapshot.file) if snapshot.file else None,
                suggestion(name, known, otherwise="name an agent, or remove it"),
                name,
            )


CHECKS = (servers, tools, disabled)
"""The checks of this family."""
