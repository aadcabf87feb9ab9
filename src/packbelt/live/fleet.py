"""`Fleet`: what agents share while they work: connections, the snapshot, runs and the event log."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from packbelt.belt import Scope
from packbelt.catalog.registry import Runtime
from packbelt.catalog.reload import reloaded
from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import ServerSpec, Workspace
from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Approve, Asking, Elicit
from packbelt.live.calling import called
from packbelt.live.handoff import run_to_answer
from packbelt.live.listeners import Listeners
from packbelt.live.logs import mask
from packbelt.live.observe.events import EventLog, Sink
from packbelt.live.observe.observer import Observer
from packbelt.live.reload import changed_servers
from packbelt.live.runs import RunStore, UnknownRunError, new_run_id
from packbelt.live.runs.open import open_runs
from packbelt.live.runs.scopes import scope_of
from packbelt.live.servers.connection import Connection, Settings
from packbelt.live.servers.hosting import Servers
from packbelt.live.servers.known import configured
from packbelt.live.servers.oauth import OAuth
from packbelt.live.servers.tokens import user_store
from packbelt.live.trust import Trust
from packbelt.live.vouching import Vouching
from packbelt.model import Answer, PackbeltError, ServerStatus

RunAgent = Callable[[LiveAgent, str], Awaitable[Any]]
"""The host's model loop: given an agent and a request, it gives the agent's answer."""

AT_ONCE = 16
"""Servers that start at the same time; each has its whole start time from when its turn comes."""


class FleetError(PackbeltError):
    """A fleet cannot do what it was asked."""


class Fleet:
    """Everything that agents share. Made by `packbelt.open`, and entered once.

    Attributes:
        workspace: what may exist; `reload` replaces it.
        snapshot: what is true now; immutable, and replaced on every change.
        run: the host's model loop, or None: hand-offs are unavailable then.
        asking: who is asked for approvals, and who answers servers' questions.
        runs: where runs are kept.
    """

    runs: RunStore
    _tasks: TaskGroup
    _servers: Servers

    def __init__(
        self,
        workspace: Workspace,
        *,
        run: RunAgent | None,
        asking: Asking,
        trust: bool | Trust,
        snapshot: Snapshot,
        runs: str | Path | RunStore | None,
        events: EventLog | Sink | None,
        environ: Mapping[str, str] | None,
        only: Collection[str] | None,
    ) -> None:
        self.workspace = workspace
        self.run = run
        self.asking = asking
        self.snapshot = snapshot
        self._log = EventLog.of(events)
        self._owns_log = isinstance(events, str | Path)
        self._observer = Observer(self._log, mask=mask)
        self._runtime = Runtime(frozenset(workspace.handlers), run is not None)
        self._given = snapshot
        self._vouching = Vouching(trust, environ)
        self._runs = runs
        self._environ = environ
        self._only = only
        self._stack = AsyncExitStack()
        self._entered = self._open = False
        self._agents: set[LiveAgent] = set()
        self._listeners = Listeners()
        self._new_id: Callable[[], str] = new_run_id
        self._reloading = anyio.Lock()

    # its life -------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the run store, start the shared servers side by side, and wait until each connected or failed.

        Raises:
            RunStoreError: the runs cannot be kept where they should be.
            TrustError: the user's trust file cannot be used.
            RuntimeError: it was entered before.
        """
        if self._entered:
            raise RuntimeError("a Fleet is entered once; make another by `packbelt.open`")
        self._entered = True
        async with AsyncExitStack() as stack:
            if self._owns_log:
                stack.callback(self._log.close)
            self.runs = await stack.enter_async_context(open_runs(self._runs, workspace=self.workspace.root))
            self._tasks = anyio.create_task_group()
            await self._tasks.__aenter__()
            stack.push_async_callback(self._leave_tasks)
            settings = Settings(
                root=self.workspace.root,
                times=self.workspace.config.times,
                environ=self._environ,
                starts=anyio.CapacityLimiter(AT_ONCE),
                answerable=self.asking.elicit is not None,
                oauth=OAuth(user_store(self._environ)),
            )
            self._servers = Servers(self._tasks, settings, self._shared_changed)
            stack.push_async_callback(self._servers.end)
            self._vouching.look(self.workspace)
            await self._start(self._servers, self.workspace.servers.values())
            self._stack = stack.pop_all()
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every server. No process that the fleet started is left."""
        self._open = False
        await self._stack.aclose()

    def _check_open(self) -> None:
        """Return where it is open.

        Raises:
            RuntimeError: it was not entered, or is closed.
        """
        if not self._open:
            state = "is closed" if self._entered else "was not entered"
            raise RuntimeError(f"the fleet {state}: its agents are made and used inside its `async with`")

    async def _leave_tasks(self) -> None:
        # Not by `async with`: the group would wrap what the host's own code raises into a group of its own.
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    async def _start(self, servers: Servers, specs: Iterable[ServerSpec], *, merge: bool = False) -> None:
        """Start what this fleet starts at all and may start, and wait until each has connected or failed."""
        wanted = [spec for spec in specs if self._only is None or spec.name in self._only]
        await servers.start(wanted, self.refused, self._concurrency, merge=merge)

    def _concurrency(self, server: str) -> int:
        """How many calls a server takes at a time."""
        return self.workspace.policy(server).concurrency

    def _servers_of_a_run(self) -> Servers:
        """A place for the servers that a run declares; they end with it, at the latest with the fleet."""
        return Servers(self._tasks, self._servers.settings, self._changed)

    def _connection(self, server: str) -> Connection | None:
        """The shared connection behind a server's name, or None."""
        return self._servers.connection(server)

    # what is true now -----------------------------------------------------------------------------------

    def _shared_changed(self, state: ServerState) -> None:
        """The state of a shared server changed, and with it what is true for everybody."""
        self._join()
        self._changed(state)

    def _changed(self, state: ServerState) -> None:
        """The state of a server changed, of a shared one or a run's own."""
        self._observer.server(state)
        self._listeners.tell()

    def _join(self) -> None:
        self.snapshot = replace(self._given, servers={**self._given.servers, **self._servers.states})

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Be told when what is true changes, the servers of single runs included.

        Args:
            listener: called in the event loop; it must not block. What it raises is logged.

        Returns:
            What ends the subscription; ending it twice is ending it once.
        """
        return self._listeners.add(listener)

    def revise(self, snapshot: Snapshot) -> None:
        """Put another ceiling, denies, approvals, skills and disabled agents into force."""
        self._given = replace(snapshot, servers=self._given.servers)
        self._join()
        self._listeners.tell()

    # agents ---------------------------------------------------------------------------------------------

    def agent(
        self, name: str, *, request: str = "", approve: Approve | None = None, elicit: Elicit | None = None
    ) -> LiveAgent:
        """A root agent, to be entered.

        Args:
            name: the agent.
            request: what it is asked, for its run's record.
            approve: who is asked for approvals instead of the fleet's `approve`.
            elicit: who answers servers' questions instead of the fleet's `elicit`; without that servers
                ask nothing.

        Raises:
            RuntimeError: the fleet is not open.
        """
        self._check_open()
        asking = Asking(approve or self.asking.approve, elicit or self.asking.elicit)
        return LiveAgent(self, Scope(name), request=request, asking=asking)

    async def send_input(self, run_id: str, request: str) -> Answer:
        """Continue a run with a further request: the host's `run` gets the kept conversation.

        Args:
            run_id: from a hand-off's answer, or `LiveAgent.run_id`.
            request: what is asked now.

        Returns:
            An answer in the form of a hand-off's.

        Raises:
            FleetError: the fleet was opened without `run`.
            UnknownRunError, RunBusyError, RunNotResumableError: as they say.
            RunStoreError: the runs cannot be read or written.
            RuntimeError: the fleet is not open.
        """
        self._check_open()
        if self.run is None:
            raise FleetError("nobody can run agents", mend="open the fleet with run=...", name=run_id)
        kept = await self.runs.get(run_id)
        if kept.workspace != str(self.workspace.root):
            raise UnknownRunError(
                f"run {run_id!r} is another workspace's", mend="open a fleet of that workspace", name=run_id
            )
        scope = scope_of(kept)
        with anyio.CancelScope(shield=True):  # nobody would give back a run that was claimed for nobody
            run = await self.runs.claim(run_id, request)
        agent = LiveAgent(self, scope, request=request, messages=run.messages, claimed=run)
        return await run_to_answer(agent)

    # single servers -------------------------------------------------------------------------------------

    @property
    def refused(self) -> Mapping[str, str]:
        """Servers that may not be started, by name, with the reason."""
        return self._vouching.refused

    @property
    def doubtful(self) -> Collection[str]:
        """Those of them that a person's yes to their definition can start: see `connect`."""
        return self._vouching.doubtful

    async def connect(
        self, server: str, *, agreed: ServerSpec | None = None, seconds: float | None = None
    ) -> ServerState:
        """Start one configured server, and wait until it has connected or failed.

        One that is connected or starting is left alone; one that failed, was lost or ended is started anew.

        Args:
            server: its name.
            agreed: the definition that a person has agreed to, for a server that is not trusted.
            seconds: how long it may take to answer; `times.start` by default.

        Returns:
            Its state then.

        Raises:
            UnknownServerError: no such server is configured.
            NotTrustedError: it may not be started, or its definition is not the one that was agreed to.
            RuntimeError: the fleet is not open, or was closed meanwhile.
        """
        self._check_open()
        async with self._reloading:
            self._check_open()
            spec = configured(self.workspace, server)
            self._vouching.check(spec, agreed)
            connection = await self._servers.started(spec, self._concurrency(server), seconds)
        await connection.settled()
        return self._servers.states[server]

    async def disconnect(self, server: str) -> ServerState:
        """End one shared server for all agents; it keeps its name and tools, and `connect` starts it again.

        Returns:
            Its state then.

        Raises:
            UnknownServerError: no such server is configured.
            RuntimeError: the fleet is not open.
        """
        self._check_open()
        async with self._reloading:
            configured(self.workspace, server)
            await self._servers.end([server])
        return self._servers.states.get(server) or ServerState(server, ServerStatus.DISCONNECTED)

    # the workspace's files ------------------------------------------------------------------------------

    async def reload(self, workspace: Workspace | None = None) -> None:
        """Take the workspace as its files are now, or as given: as a whole, or not at all.

        Servers whose definition changed are ended, then started anew; the others are not touched, and keep
        their time limits. Agents at work are decided by the new workspace from their next turn on.

        Inside a tool that an agent called, and where a workspace is given while one is at work, whatever
        definition is new waits for a person's yes: see `Caller.connect`.

        Raises:
            WorkspaceError: a file does not load; the last good workspace stays in force.
            TrustError: the user's trust file cannot be used; the same.
            RuntimeError: the fleet is not open, or was closed meanwhile.
        """
        self._check_open()
        async with self._reloading:
            began, before = anyio.current_time(), self.workspace
            try:
                fresh = await anyio.to_thread.run_sync(reloaded, before) if workspace is None else workspace
                doubtful = called() or (workspace is not None and self._vouching.in_doubt)
                self._vouching.look(fresh, after=before if doubtful else None)
            except PackbeltError as error:
                self._observer.reload(str(before.root), len(before.servers), error=str(error))
                raise
            self._check_open()
            ending, starting = changed_servers(before, fresh)
            self.workspace = fresh
            self._servers.settings = replace(self._servers.settings, times=fresh.config.times)
            self._runtime = Runtime(frozenset(fresh.handlers), self.run is not None)
            for agent in self._agents:
                agent._reload()
            await self._servers.end(ending)
            self._check_open()
            await self._start(self._servers, starting)
            self._listeners.tell()
            seconds = anyio.current_time() - began
            self._observer.reload(str(fresh.root), len(fresh.servers), seconds=seconds)
