"""Tools of the pack `integrations`: find and install MCP servers, start and stop them, and call their tools.

Installing writes an entry of `.mcp.json` and starts nothing. Connecting starts a server by the trust that
every entry needs; nobody has given it yet for one that an agent just installed, so a person is shown what
would be started and asked. Connecting and calling go through the agent that calls, and so through its gate.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread

from packbelt.catalog.natives import tool
from packbelt.catalog.servers import FILE
from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.live.calling import NotApprovedError, called, caller
from packbelt.live.environment import inherited
from packbelt.model import Answer, Outcome
from packbelt.model.text import harmless
from packbelt.toolkits.host import Changed, tell
from packbelt.toolkits.limits import ToolkitError
from packbelt.toolkits.registry_api import RegistryApi
from packbelt.toolkits.server_entry import entry_of, way_of
from packbelt.toolkits.server_file import ServerFile, origin

_DESCRIPTION = 400  # bytes of a description in a listing
_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class ServerTools:
    """One workspace's MCP servers and the registry they come from. Its public methods are the tools.

    Args:
        file: the workspace's `.mcp.json`.
        api: the registry.
        environ: where variables are looked for; only whether they are set is ever said.
        snapshot: what is true now; by default what is true for the agent that calls.
        changed: awaited after each change; by default the calling agent's fleet reads its files again.
    """

    file: ServerFile
    api: RegistryApi
    environ: Mapping[str, str]
    snapshot: Callable[[], Snapshot] | None
    changed: Changed | None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    def tools(self) -> list[Callable[..., Any]]:
        """The tools, for `packbelt.load(..., tools=...)`."""
        return [
            self.mcp_registry_search,
            self.mcp_registry_get,
            self.mcp_registry_config_assist,
            self.mcp_registry_install,
            self.mcp_registry_uninstall,
            self.mcp_registry_installed_list,
            self.mcp_registry_status,
            self.mcp_registry_list_tools,
            self.mcp_registry_connect,
            self.mcp_registry_disconnect,
            self.mcp_registry_tool_call,
        ]

    @tool()
    async def mcp_registry_search(
        self, query: str, limit: int = 10, cursor: str | None = None
    ) -> dict[str, Any]:
        """Searches the MCP registry for servers by name."""
        servers, following = await self.api.search(query, limit, cursor)
        rows = [_row(server) for server in servers]
        return {"servers": rows} | ({"cursor": following} if following else {})

    @tool()
    async def mcp_registry_get(self, name: str, version: str = "latest") -> dict[str, Any]:
        """Returns one entry of the MCP registry in full."""
        server, _ = await self.api.get(name, version)
        return server

    @tool()
    async def mcp_registry_config_assist(self, name: str, version: str = "latest") -> dict[str, Any]:
        """Explains what a registry server needs before it can run, and what of it is missing here."""
        server, _ = await self.api.get(name, version)
        way = way_of(server)
        rows = []
        for need in way.needs:
            row: dict[str, Any] = {
                "name": need.name,
                "description": harmless(need.description, _DESCRIPTION),
                "required": need.required,
                "secret": need.secret,
            }
            if way.kind != "remote":
                row["set_here"] = need.name in self.environ
            if need.fixed or (need.default and not need.secret):
                row["value"] = harmless(need.fixed or need.default)
            rows.append(row)
        answer: dict[str, Any] = {"name": name, "version": server.get("version"), "kind": way.kind}
        if way.command:
            path = inherited(self.environ).get("PATH")
            answer |= {"command": way.command, "args": list(way.args), "variables": rows}
            answer["command_present"] = shutil.which(way.command, path=path) is not None
            answer["arguments_to_give"] = list(way.unfilled)
        else:
            answer |= {"url": way.url, "headers": rows}
        return answer

    @tool(permission="execute")
    async def mcp_registry_install(
        self,
        name: str,
        version: str = "latest",
        server: str | None = None,
        *,
        env: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        args: list[str] | None = None,
    ) -> dict[str, Any]:
        """Adds a registry server to the configuration under a local name. Nothing of it is run."""
        found, link = await self.api.get(name, version)
        local = (
            re.sub(r"[^A-Za-z0-9_-]+", "-", name.rpartition("/")[2]).strip("-_") if server is None else server
        )
        if not _LOCAL.match(local):
            raise ToolkitError(f"{local!r} is no local name", mend="pass server: letters, digits, - and _")
        entry = entry_of(way_of(found), env or {}, headers or {}, args or [])
        async with self._lock:
            await anyio.to_thread.run_sync(self.file.add, local, entry | {"name": name, "link": link})
        problem = await tell(self.changed)
        given = {**entry.get("env", {}), **entry.get("headers", {})}
        unset = sorted(
            variable
            for value in given.values()
            for variable in re.findall(r"(?<!\$)\$\{([A-Za-z_]\w*)\}", value)
            if variable not in self.environ
        )
        answer = {"server": local, "name": name, "version": link.rpartition("/")[2], "file": FILE}
        return answer | {"not_set_here": unset, **self._state(local), **problem}

    @tool(permission="execute")
    async def mcp_registry_uninstall(self, server: str) -> dict[str, Any]:
        """Removes a server that came from the registry from the configuration; a running one is ended."""
        async with self._lock:
            await anyio.to_thread.run_sync(self.file.remove, server)
        return {"removed": server, **(await tell(self.changed))}

    @tool()
    async def mcp_registry_installed_list(self) -> dict[str, Any]:
        """Lists the MCP servers of the configuration with local name, registry name, version and state."""
        entries = await anyio.to_thread.run_sync(self.file.entries)
        rows = []
        for local, entry in entries.items():
            name, version = origin(entry)
            rows.append(
                {"server": local, "name": name or None, "version": version or None, **self._state(local)}
            )
        return {"servers": rows}

    @tool()
    async def mcp_registry_status(self, server: str | None = None) -> dict[str, Any]:
        """Shows the state of the MCP servers: connected, starting, failed with its error, or disconnected."""
        states = self._states()
        chosen: Sequence[str] = sorted(states) if server is None else [self._known(server).name]
        return {"servers": [{"server": name, **self._state(name)} for name in chosen]}

    @tool()
    async def mcp_registry_list_tools(self, server: str, query: str | None = None) -> dict[str, Any]:
        """Lists the tools of one connected MCP server with description and input schema."""
        state = self._known(server)
        word = (query or "").casefold()
        tools = [
            {"name": each.name, "description": each.description, "input_schema": each.input_schema}
            for each in state.tools
            if word in each.name.casefold() or word in each.description.casefold()
        ]
        return {"server": server, **self._state(server), "tools": tools}

    @tool(permission="execute")
    async def mcp_registry_connect(
        self, server: str, timeout_seconds: int | None = None
    ) -> dict[str, Any] | Answer:
        """Starts or reaches an installed MCP server and returns its state and number of tools."""
        try:
            state = await caller().connect(server, seconds=timeout_seconds)
        except NotApprovedError as refused:
            return Answer.of_text(str(refused), Outcome.REJECTED)
        return {"server": server, **_row_of(state)}

    @tool(permission="execute")
    async def mcp_registry_disconnect(self, server: str) -> dict[str, Any]:
        """Ends the connection to an MCP server and stops its process. It stays installed."""
        return {"server": server, **_row_of(await caller().disconnect(server))}

    @tool(permission="execute")
    async def mcp_registry_tool_call(
        self, server: str, tool: str, arguments: dict[str, Any] | None = None
    ) -> Answer:
        """Calls one tool of a connected MCP server, by the rules of calling it by its own name."""
        return await caller().call(server, tool, arguments or {})

    def _now(self) -> Snapshot | None:
        """What is true now; None where nobody says."""
        if self.snapshot is not None:
            return self.snapshot()
        return caller().agent.snapshot if called() else None

    def _states(self) -> Mapping[str, ServerState]:
        now = self._now()
        return {} if now is None else now.servers

    def _known(self, server: str) -> ServerState:
        states = self._states()
        if server not in states:
            listed = ", ".join(sorted(states)) or "none"
            raise ToolkitError(f"no server {server!r} is known", mend=f"choose one of: {listed}")
        return states[server]

    def _state(self, server: str) -> dict[str, Any]:
        now = self._now()
        if now is None:
            return {}
        state = now.servers.get(server)
        return {"state": "not started"} if state is None else _row_of(state)


def _row_of(state: ServerState) -> dict[str, Any]:
    row: dict[str, Any] = {"state": str(state.status), "tool_count": len(state.tools)}
    return row | ({"error": harmless(state.error, _DESCRIPTION)} if state.error else {})


def _row(server: Mapping[str, Any]) -> dict[str, Any]:
    row = {
        "name": harmless(str(server.get("name", ""))),
        "description": harmless(str(server.get("description", "")), _DESCRIPTION),
        "version": harmless(str(server.get("version", ""))),
    }
    try:
        way = way_of(server)
    except ToolkitError as problem:
        return row | {"cannot_be_installed": harmless(problem.problem, _DESCRIPTION)}
    return row | {"kind": way.kind, "run_by": way.command or way.url}
