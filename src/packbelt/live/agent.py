"""`LiveAgent`: one agent at work, with the servers that are its own, its run's record, and its children."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio

from packbelt.belt import Scope
from packbelt.belt.scope import subject_of
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.live.asking import Approve, Asking, Elicit
from packbelt.live.handoff import hand_off
from packbelt.live.observe.observer import Work
from packbelt.live.reading import list_resources, list_templates, read_resource
from packbelt.live.relay import relay_all
from packbelt.live.runs import Run, RunStatus
from packbelt.live.runs.marks import Marks
from packbelt.live.runs.scopes import new_run
from packbelt.live.servers.connection import Connection
from packbelt.live.turn import LiveTurn
from packbelt.model import Answer, HandOff, PackbeltError, Permission, ToolCall, ToolResult
from packbelt.turn import AgentHandle

if TYPE_CHECKING:
    import mcp_types

    from packbelt.live.fleet import Fleet


class LiveAgent:
    """One agent at work on one request. Made by `Fleet.agent` and `LiveAgent.spawn`; entered once.

    Attributes:
        fleet: whose connections, runs and event log it shares.
        scope: who it is, on whose behalf, and what the spawns above it cut.
        parent: the agent that spawned it, or None for a root.
        request: what it was asked.
        asking: who is asked for approvals, and who answers servers' questions.
        messages: its conversation, for the host to keep in its own form (JSON): it is what `send_input`
            continues, and what `fork_context` hands to a child.
        output: its answer, for its run's record; set by whoever runs it.
    """

    def __init__(
        self,
        fleet: "Fleet",
        scope: Scope,
        *,
        request: str = "",
        messages: Sequence[Any] = (),
        parent: "LiveAgent | None" = None,
        asking: Asking | None = None,
        claimed: Run | None = None,
        handle: Callable[..., AgentHandle] = AgentHandle,
    ) -> None:
        self.fleet = fleet
        self.scope = scope
        self.request = request
        self.messages: list[Any] = list(messages)
        self.parent = parent
        self.asking: Asking = asking or (parent.asking if parent else fleet.asking)
        self._above = len(scope.path) - 1  # agents of its path that have started
        self._handle = handle(fleet.workspace, scope, fleet._runtime, above=self._above)
        self._own = fleet._servers_of_a_run()
        self._claimed = claimed
        self._marks: Marks | None = None
        self._seen: tuple[Snapshot, list[Mapping[str, ServerState]]] | None = None
        self._joined: Snapshot = fleet.snapshot
        self._turn: LiveTurn | None = None
        self._kept = len(self.messages)
        self._entered = self._over = False
        self._stack = ExitStack()
        self._work: Work
        self.output = ""

    # who it is ------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.scope.agent

    @property
    def path(self) -> tuple[str, ...]:
        """The agents from the root down to this one."""
        return self.scope.path

    @property
    def run_id(self) -> str:
        """The id of its run.

        Raises:
            RuntimeError: it was not entered.
        """
        return self._record.id

    @property
    def _record(self) -> Marks:
        """Its run's record.

        Raises:
            RuntimeError: it was not entered.
        """
        if self._marks is None:
            raise RuntimeError("a LiveAgent is used inside `async with`")
        return self._marks

    @property
    def spoiled(self) -> bool:
        """Whether a call of it, or of a run below, ended unknown: its run cannot be continued then."""
        return self._marks is not None and self._marks.spoiled

    def _check_at_work(self) -> None:
        """Return where it was entered and not left.

        Raises:
            RuntimeError: it was not entered, or was left.
        """
        if self._over:
            raise RuntimeError(f"agent {self.name!r} was left: it is used inside its `async with`")
        self._record  # noqa: B018 - it raises

    def _check_can_work(self) -> None:
        """Return where its fleet is open and the agent above it at work."""
        self.fleet._check_open()
        if self.parent:
            self.parent._check_at_work()

    # its life -------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Start its own servers and take its first turn.

        Raises:
            AgentRefusedError: it cannot start as its file stands.
            UnknownAgentError, AgentBrokenError, SelectorError: as for `packbelt.turn`.
            RunStoreError: its run cannot be kept.
            RuntimeError: it was entered before, or its fleet or the agent above it is not at work.
        """
        if self._entered:
            raise RuntimeError("a LiveAgent is entered once; make another by `agent` or `spawn`")
        self._entered = True
        try:
            self._check_can_work()
            self.fleet._agents.add(self)  # from here on it is told of a new workspace
            self._reload()
            await self._start_own()
            self._check_can_work()  # a start takes time
            self._handle.turn(self.snapshot)
            run = self._claimed or new_run(
                self.fleet.workspace.root,
                self.scope,
                run=self.fleet._new_id(),
                parent=self.parent.run_id if self.parent else None,
                request=self.request,
                messages=self.messages,
            )
            marks = Marks(self.fleet.runs, run, self.parent._record if self.parent else None)
            if self._claimed is None:
                await marks.create(run)
        except BaseException as error:
            self.fleet._agents.discard(self)
            await self._own.end()
            if self._claimed:  # it may be continued when it can be
                await Marks(self.fleet.runs, self._claimed).give_back(self._claimed, _why(error))
            raise
        self._marks = marks
        resumed = self._claimed is not None
        self._work = self._stack.enter_context(self.fleet._observer.run(self, resumed=resumed))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End its own servers, and settle its run: completed, or failed where it ends by an exception.

        Raises:
            PackbeltError: it ends without an exception, and its run's record cannot be written.
        """
        self.fleet._agents.discard(self)
        self._over = True
        status = RunStatus.COMPLETED if error is None else RunStatus.FAILED
        why = "" if error is None else _why(error)
        with self._stack, anyio.CancelScope(shield=True):
            try:
                await self._own.end()
            finally:
                try:
                    await self._record.finish(status, output=self.output, messages=self.messages, why=why)
                except PackbeltError:
                    if error is None:  # else what ended the run matters more
                        raise
                finally:
                    self._work.ended(status, resumable=not self._record.spoiled, reason=why)

    async def _start_own(self) -> None:
        fleet, workspace = self.fleet, self.fleet.workspace
        agent = workspace.agents.get(self.name)
        if agent is None or not agent.inline:
            return
        # What the spawns above cut is not started: the scope says what is left.
        registry = bind(workspace, self.snapshot, fleet._runtime)
        subject = subject_of(registry, self.scope, started=self._above)
        specs = [workspace.inline[name] for name in agent.inline if name in subject.servers]
        await fleet._start(self._own, specs, merge=True)

    def _reload(self) -> None:
        """The fleet's workspace was loaded anew; the next turn is decided by it."""
        self._handle.reload(self.fleet.workspace, self.fleet._runtime)

    # what is true for it --------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """What is true for it now: the fleet's snapshot, and the servers of its own run and those above."""
        shared, own = self.fleet.snapshot, self._states()
        if self._seen is None or self._seen[0] is not shared or not _same(self._seen[1], own):
            self._seen = shared, own
            servers = dict(shared.servers)
            for states in own:
                servers |= states
            self._joined = replace(shared, servers=servers) if len(servers) > len(shared.servers) else shared
        return self._joined

    def _states(self) -> list[Mapping[str, ServerState]]:
        """States of the servers of the runs from the root down to this one; the nearer one wins."""
        above = self.parent._states() if self.parent else []
        return [*above, self._own.states]

    def _connection(self, server: str) -> Connection | None:
        """The connection behind a server's name: its own, one of a run above, or a shared one."""
        found = self._own.connection(server)
        if found is not None:
            return found
        return self.parent._connection(server) if self.parent else self.fleet._connection(server)

    # its turns ------------------------------------------------------------------------------------------

    async def turn(self) -> LiveTurn:
        """The next turn, decided once from what is true now. The conversation up to here is kept.

        Raises:
            UnknownAgentError, AgentBrokenError: its file is gone or no longer loads.
            RuntimeError: it was not entered, or was left.
        """
        self._check_at_work()
        if len(self.messages) != self._kept:
            await self._record.keep(self.messages)
            self._kept = len(self.messages)
        decided = self._handle.turn(self.snapshot)
        before = self._turn
        if before is None or before.belt is not decided.belt:
            self._turn = LiveTurn(decided.belt, decided.vanished, _agent=self)
            self.fleet._observer.turn(self, self._turn, before)
            return self._turn
        return before

    def handle(self) -> AgentHandle:
        """Its handle, with the turn as it would be decided now."""
        self._handle.turn(self.snapshot)
        return self._handle

    async def run(
        self, calls: Iterable[ToolCall], *, approve: Approve | None = None, elicit: Elicit | None = None
    ) -> list[ToolResult]:
        """Run calls: see `LiveTurn.run`.

        Raises:
            RuntimeError: it was not entered.
        """
        self._record  # noqa: B018 - it raises where the agent was not entered
        asking = Asking(approve or self.asking.approve, elicit or self.asking.elicit)
        return await relay_all(self, list(calls), asking)

    async def _hand_off(self, resolved: HandOff, asking: Asking) -> Answer:
        """What an admitted hand-off comes to."""
        return await hand_off(self, resolved, asking)

    # resources ------------------------------------------------------------------------------------------

    async def resources(self) -> list["mcp_types.Resource"]:
        """Every resource that it may read; a server that does not answer costs its own."""
        self._check_at_work()
        return await list_resources(self)

    async def resource_templates(self) -> list["mcp_types.ResourceTemplate"]:
        """Every resource template that it may use; a server that does not answer costs its own."""
        self._check_at_work()
        return await list_templates(self)

    async def read_resource(self, uri: str, *, server: str | None = None) -> "mcp_types.ReadResourceResult":
        """A resource.

        Args:
            uri: its address.
            server: where from; by default from the server that lists it, or has a template for it.

        Raises:
            ResourceError: no server that the agent has offers it, or it could not be read.
        """
        self._check_at_work()
        return await read_resource(self, uri, server)

    # its children ---------------------------------------------------------------------------------------

    def spawn(
        self,
        name: str,
        *,
        request: str = "",
        mcp_servers: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        deny: Sequence[str] = (),
        approve: Sequence[str] = (),
        ceiling: Permission | str | None = None,
        fork_context: bool = False,
        asking: Asking | None = None,
    ) -> "LiveAgent":
        """An agent below this one, to be entered. What is said here binds its whole subtree.

        Args:
            name: the agent.
            request: what it is asked.
            mcp_servers: the servers to leave it; None for all it would have, `[]` for none.
            tools: selectors to leave it; None for all.
            deny: selectors that it may not call.
            approve: selectors whose calls a person approves first.
            ceiling: highest permission.
            fork_context: whether it starts from a copy of this agent's conversation.
            asking: who it asks; as this agent by default.

        Raises:
            SelectorError: an argument is not of its kind, or the chain of spawns is too long.
        """
        scope = self.scope.spawn(
            name, mcp_servers=mcp_servers, tools=tools, deny=deny, approve=approve, ceiling=ceiling
        )
        messages = self.messages if fork_context else ()
        return LiveAgent(
            self.fleet, scope, request=request, messages=messages, parent=self, asking=asking or self.asking
        )


def _same(left: list[Mapping[str, ServerState]], right: list[Mapping[str, ServerState]]) -> bool:
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def _why(error: BaseException) -> str:
    """One word on how a run failed; the message may hold anything and is kept out of the record."""
    return "it was cancelled" if isinstance(error, anyio.get_cancelled_exc_class()) else type(error).__name__
