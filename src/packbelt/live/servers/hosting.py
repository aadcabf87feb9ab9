"""Servers under one roof: each connection in a task of its own, ended when its owner says so."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import ServerSpec
from packbelt.live.servers.connection import Connection, Settings
from packbelt.model import ServerStatus


class Hosted:
    """A connection and the task that owns it.

    Args:
        tasks: the fleet's tasks.
        connection: what to host; it begins at once.
    """

    def __init__(self, tasks: TaskGroup, connection: Connection) -> None:
        self.connection = connection
        self._ended = anyio.Event()
        tasks.start_soon(self._run, name=f"packbelt: {connection.name}")

    async def _run(self) -> None:
        try:
            await self.connection.run()
        finally:
            self._ended.set()

    async def end(self) -> None:
        """Stop it, and wait until its process is gone; a cancellation does not cut this short."""
        self.connection.stop()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()


class Servers:
    """Servers of one owner: a fleet's for as long as it is open, or a run's own for as long as it runs.

    Args:
        tasks: the fleet's tasks.
        settings: the fleet's settings for connections.
        on_change: told when the state of one has changed, once it stands in `states`.

    Attributes:
        states: each server's state by name; replaced whole, never changed.
        settings: those of the connections that are started from now on.
    """

    def __init__(
        self, tasks: TaskGroup, settings: Settings, on_change: Callable[[ServerState], None]
    ) -> None:
        self._tasks = tasks
        self.settings = settings
        self._on_change = on_change
        self._hosted: dict[str, Hosted] = {}
        self.states: Mapping[str, ServerState] = {}

    def connection(self, server: str) -> Connection | None:
        """The connection behind a name, or None."""
        hosted = self._hosted.get(server)
        return hosted.connection if hosted else None

    async def start(
        self,
        specs: Iterable[ServerSpec],
        refused: Mapping[str, str],
        concurrency: Callable[[str], int],
        *,
        merge: bool = False,
    ) -> None:
        """Start those that are not refused, side by side, and wait until each has connected or failed.

        Args:
            specs: the definitions.
            refused: those that may not be started, by name, with the reason.
            concurrency: how many calls a server of this name takes at a time.
            merge: whether equal definitions share one process.
        """
        equals: list[list[ServerSpec]] = []
        for spec in specs:
            if spec.name in refused:
                self._take(ServerState(spec.name, ServerStatus.FAILED, error=refused[spec.name]))
                continue
            twins = next((t for t in equals if _same(t[0], spec)), None) if merge else None
            if twins is None:
                equals.append([spec])
            else:
                twins.append(spec)
        begun = [self._begin(specs, concurrency(specs[0].name), self.settings) for specs in equals]
        for connection in begun:
            await connection.settled()

    async def end(self, names: Iterable[str] | None = None) -> None:
        """End the processes of these servers, or of all, each exactly once; they keep names and tools."""
        leaving = list(self._hosted) if names is None else [name for name in names if name in self._hosted]
        hosted = {self._hosted.pop(name) for name in leaving}
        for each in hosted:  # all are told before the first is waited for
            each.connection.stop()
        for each in hosted:
            await each.end()
        for name in leaving:
            self._take(replace(self.states[name], status=ServerStatus.DISCONNECTED, error=""))

    async def started(self, spec: ServerSpec, concurrency: int, seconds: float | None = None) -> Connection:
        """The connection of one server: as it is where it is connected or on its way, else begun anew.

        Args:
            spec: the definition.
            concurrency: how many calls it takes at a time.
            seconds: how long it may take to answer, for one that begins; `times.start` by default.
        """
        found = self.connection(spec.name)
        if found is not None and found.state.status in (ServerStatus.STARTING, ServerStatus.CONNECTED):
            return found
        await self.end([spec.name])
        settings = self.settings
        if seconds is not None:
            settings = replace(settings, times=replace(settings.times, start=seconds))
        return self._begin([spec], concurrency, settings)

    def _begin(self, twins: list[ServerSpec], concurrency: int, settings: Settings) -> Connection:
        """One process for equal definitions; its state is that of each of their names."""

        def take(state: ServerState) -> None:
            for spec in twins:
                self._take(state if spec.name == state.name else _renamed(state, spec.name))

        first = twins[0]
        connection = Connection(first, settings, on_state=take, concurrency=concurrency)
        take(connection.state)
        hosted = Hosted(self._tasks, connection)
        for spec in twins:
            self._hosted[spec.name] = hosted
        return connection

    def _take(self, state: ServerState) -> None:
        self.states = {**self.states, state.name: state}
        self._on_change(state)


def _same(left: ServerSpec, right: ServerSpec) -> bool:
    """Whether two definitions are equal in all that reaches the server."""
    nameless = (replace(spec, name="", required=False, digest="", where=None) for spec in (left, right))
    one, other = nameless
    return one == other


def _renamed(state: ServerState, name: str) -> ServerState:
    """The same server under another name: its tools are other tools, since identity includes the server."""
    listed = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "annotations": tool.annotations,
        }
        for tool in state.tools
    ]
    same = Snapshot().connect(name, listed, instructions=state.instructions).servers[name]
    return replace(same, status=state.status, error=state.error, diagnostics=state.diagnostics)
