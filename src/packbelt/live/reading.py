"""Resources of the servers that an agent has: listed and read over the connections that the agents share.

What closes a server's tools closes its resources: an agent has them where it may call one of the server's
tools. Of a server that lists no tools, it has them where a tool would be granted by `server/*` and by nothing
narrower: its `tools` and those of the spawns above it let the server in, and no deny of the whole server, no
ceiling and no `access` keeps it out.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from packbelt.belt import Belt, Scope
from packbelt.catalog.workspace import MCP
from packbelt.live.servers.resources import ResourceError
from packbelt.model import Permission, ServerStatus

if TYPE_CHECKING:
    import mcp_types

    from packbelt.live.agent import LiveAgent
    from packbelt.live.servers.connection import Connection

_T = TypeVar("_T")


async def list_resources(agent: "LiveAgent") -> list["mcp_types.Resource"]:
    """Every resource that the agent may read; a server that does not answer costs its own."""
    return [one for _, listed in await _ask_all(agent, lambda c: c.resources()) for one in listed]


async def list_templates(agent: "LiveAgent") -> list["mcp_types.ResourceTemplate"]:
    """Every resource template that the agent may use; a server that does not answer costs its own."""
    return [one for _, listed in await _ask_all(agent, lambda c: c.resource_templates()) for one in listed]


async def read_resource(agent: "LiveAgent", uri: str, server: str | None) -> "mcp_types.ReadResourceResult":
    """A resource, from the server named, or from the one that lists it or has a template for it.

    No other server learns of the address.

    Raises:
        ResourceError: no server that the agent has offers it, or it could not be read.
    """
    allowed = _connections(agent)
    owner = await _owner(agent, uri) if server is None else server
    if owner not in allowed:
        which = "no server" if server is None else f"no server {server!r}"
        raise ResourceError(
            f"{which} that agent {agent.name!r} has offers {uri!r}", mend="list the resources", name=uri
        )
    return await allowed[owner].read_resource(uri)


async def _owner(agent: "LiveAgent", uri: str) -> str | None:
    for name, listed in await _ask_all(agent, lambda c: c.resources()):
        if any(str(one.uri) == uri for one in listed):
            return name
    heads = [
        (len(head), name)
        for name, listed in await _ask_all(agent, lambda c: c.resource_templates())
        for one in listed
        if uri.startswith(head := one.uri_template.partition("{")[0])
    ]
    return max(heads)[1] if heads else None


async def _ask_all(
    agent: "LiveAgent", ask: Callable[["Connection"], Awaitable[list[_T]]]
) -> list[tuple[str, list[_T]]]:
    """What each server answers, side by side, by name; one that does not answer is left out."""
    found: dict[str, list[_T]] = {}

    async def one(name: str, connection: "Connection") -> None:
        try:
            found[name] = await ask(connection)
        except ResourceError:
            return

    async with anyio.create_task_group() as tasks:
        for name, connection in _connections(agent).items():
            tasks.start_soon(one, name, connection)
    return sorted(found.items())


def _connections(agent: "LiveAgent") -> dict[str, "Connection"]:
    belt = agent.handle().turn(agent.snapshot).belt
    found = ((name, agent._connection(name)) for name in belt.subject.servers if may_read(belt, name))
    return {name: connection for name, connection in found if connection is not None}


def may_read(belt: Belt, server: str) -> bool:
    """Whether a belt's agent has a server's resources."""
    registry, subject = belt.registry, belt.subject
    if server not in subject.servers or registry.state(server).status is not ServerStatus.CONNECTED:
        return False
    if mask := registry.masks[server]:
        return bool(mask & belt.callable)
    policy = registry.workspace.policy(server)
    root = registry.workspace.orchestrator
    if subject.agent.kept_from(policy.access, policy.owners, policy.carriers, root):
        return False
    if subject.ceiling < max(policy.permission, Permission.READ):
        return False
    whole = {"*", "*/*", f"{server}/*", f"pack:{MCP}{server}"}
    config, snapshot, own = registry.workspace.config, registry.snapshot, subject.agent
    denies = {one.text for one in (*config.deny, *snapshot.deny, *own.disallowed_tools)}
    grants = [
        config.default_tools == "inherit" if own.tools is None else any(s.text in whole for s in own.tools)
    ]
    scope: Scope | None = subject.scope
    while scope is not None:
        denies.update(scope.deny)
        grants.append(scope.tools is None or not whole.isdisjoint(scope.tools))
        scope = scope.parent
    return all(grants) and whole.isdisjoint(denies)
