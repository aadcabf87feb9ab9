"""Words that several commands share: where things are read from, sources, routes, servers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packbelt.belt import Belt, BeltTool
from packbelt.catalog.registry import Registry
from packbelt.cli.output import Column, Span, Table, draw, say, several
from packbelt.model import Route, ServerStatus
from packbelt.model.encode import compact

_STATUS_STYLE = {
    ServerStatus.CONNECTED: "good",
    ServerStatus.STARTING: "odd",
    ServerStatus.FAILED: "bad",
    ServerStatus.DISCONNECTED: "dim",
}
CONNECT = "packbelt connect --save now.yaml"
"""The command that makes a snapshot."""
_LISTED = 12
"""Connected servers that get a line each; of more only the sum is shown."""
_SHOWN = 2
"""Ways that one cell names."""


def place(registry: Registry) -> str:
    """Workspace and snapshot in a few words."""
    workspace, snapshot = registry.workspace, registry.snapshot
    where = "packbelt's own workspace" if workspace.embedded else f"workspace {short_path(workspace.root)}"
    now = f"snapshot {snapshot.file}" if snapshot.file else "no snapshot"
    return f"{where}, {now}"


def short_path(path: Path) -> str:
    """A path from here, or from home, where that is shorter."""
    for base, mark in ((Path.cwd(), "."), (Path.home(), "~")):
        if path == base:
            return mark
        if path.is_relative_to(base):
            return f"{mark}/{path.relative_to(base)}"
    return str(path)


def run_by_claude(belt: Belt, name: str) -> str:
    """What there is to say of a tool of Claude Code's own, asked of an agent in its format; else nothing."""
    from packbelt.catalog.claude_tools import BUILTIN

    if name not in BUILTIN or belt.subject.agent.is_template or belt.registry.named(name):
        return ""
    return f"{name} is run by Claude Code itself; only a belt compiled for it has it"


def source_words(belt: Belt, entry: BeltTool) -> str:
    """Where a tool comes from: the agent that a hand-off leads to, the server, the pack."""
    tool = entry.tool
    if tool.target is not None:
        return f"→ {tool.target} ({entry.pack})" if entry.pack else f"→ {tool.target}"
    if tool is belt.opener:
        return "the opener"
    if tool is belt.finder:
        return "the search"
    return entry.pack or tool.id.source


def call_words(call: str, arguments: Mapping[str, Any]) -> str:
    """A call as one would write it."""
    return f"{call}({', '.join(f'{key}={compact(value)}' for key, value in arguments.items())})"


def route_words(belt: Belt, route: Route) -> str:
    """A route in a few words: what to call, and through whom it leads."""
    call = route.call
    opened = call == belt.registry.workspace.config.opener
    if opened:
        call = f"{call}({route.arguments.get('pack')}, {route.arguments.get('tool')})"
    return " → ".join((call, *route.agents))


def instead(belt: Belt, entry: BeltTool) -> Span:
    """What to call for a tool that is withheld."""
    ways = [route_words(belt, route) for route in entry.decision.routes]
    if not ways:
        return ("nothing", "dim")
    more = f" or {len(ways) - _SHOWN} more" if len(ways) > _SHOWN else ""
    return " or ".join(ways[:_SHOWN]) + more


def show_servers(registry: Registry, servers: Sequence[str]) -> None:
    """Servers as they are now; those that no snapshot knows say how to look at them."""
    unusable = registry.workspace.unusable_servers
    known = [name for name in servers if name in registry.snapshot.servers or unusable.get(name)]
    fine = [name for name in known if registry.state(name).status is ServerStatus.CONNECTED]
    if len(fine) > _LISTED:
        tools = several(sum(len(registry.state(name).tools) for name in fine), "tool")
        say(f"  {len(fine)} servers ", ("connected", "good"), f", {tools}")
        known = [name for name in known if name not in fine]
    table = Table((Column(), Column(), Column(wraps=True)))
    for name in known:
        state = registry.state(name)
        tools = several(len(state.tools), "tool") if state.tools or not state.error else ""
        said = ": ".join(part for part in (tools, state.error) if part)
        status = (str(state.status), _STATUS_STYLE[state.status])
        table.add(f"server {server_words(registry, name)}", status, said)
    draw(table)
    unknown = not_connected(registry, servers)
    if unknown:
        names = ", ".join(server_words(registry, name) for name in unknown)
        noun = "server" if len(unknown) == 1 else "servers"
        say(f"  {noun} not connected: {names}", (f" ({CONNECT})", "dim"))


def not_connected(registry: Registry, servers: Sequence[str]) -> list[str]:
    """Those of some servers that no snapshot knows and that could be connected."""
    seen = {*registry.snapshot.servers, *registry.workspace.unusable_servers}
    return [name for name in servers if name not in seen]


def server_words(registry: Registry, name: str) -> str:
    """A server's name; an agent's own with the agent."""
    spec = registry.workspace.inline.get(name)
    return f"{spec.short_name} of {spec.owner}" if spec else name
