"""`Connection`: one server, from its first start to its end, in one task."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import mcp_types
from mcp import Client, ClientSession, MCPError
from pydantic import ValidationError

from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import ServerSpec
from packbelt.live.environment import PlaceholderError, Resolved, resolve
from packbelt.live.logs import discreet
from packbelt.live.servers import resources as resource
from packbelt.live.servers.call import Sender, not_started, writable
from packbelt.live.servers.elicit import Asker, Elicit
from packbelt.live.servers.exchange import CURRENT
from packbelt.live.servers.failure import (
    ANSWER,
    LIST,
    CannotStartError,
    Witness,
    clean,
    explain,
    lasting,
    too_late,
)
from packbelt.live.servers.lane import Lane, NoPlaceError
from packbelt.live.servers.life import Life, Settings
from packbelt.live.servers.listing import Listing, SessionEndedError, all_tools
from packbelt.live.servers.posting import unreachable
from packbelt.live.servers.resources import ResourceError
from packbelt.live.servers.watch import Watch
from packbelt.model import ServerStatus
from packbelt.model.result import Answer

__all__ = ["Connection", "Elicit", "ResourceError", "Settings"]

_UNREADABLE = (RecursionError, ValueError, TypeError)
_FOREVER = float("inf")
_FoundT = TypeVar("_FoundT")


class Connection:
    """One server: started, listed, watched, called, and started again where it is lost.

    `run` is its owner: the SDK's client lives and ends in that one task, whoever calls or stops it.

    Args:
        spec: its definition. Whether it may be started was asked before.
        settings: what it shares with the others.
        on_state: told of each new state, in the event loop; must neither block nor raise.
        concurrency: calls that it takes at a time.

    Attributes:
        state: what is known of it now. A tool whose definition did not change stays the same object.
    """

    def __init__(
        self,
        spec: ServerSpec,
        settings: Settings,
        *,
        on_state: Callable[[ServerState], None],
        concurrency: int = 8,
    ) -> None:
        self.spec = spec
        self.settings = settings
        self.state = ServerState(spec.name, ServerStatus.STARTING)
        self._on_state = on_state
        self._lane = Lane(concurrency)
        self._first = anyio.Event()
        self._stopping = False
        self._scope = anyio.CancelScope()
        self._life: Life | None = None
        self._was_connected = False

    @property
    def name(self) -> str:
        """The server's name."""
        return self.spec.name

    def __repr__(self) -> str:
        return f"<Connection {self.name!r} {self.state.status}>"

    # its owner ------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Own the server until `stop`, a cancellation, or a failure that waiting cannot mend.

        Raises nothing for what the server does. When it returns or raises, no process of it is left.
        """
        CURRENT.set(None)  # whoever started this task may have been answering another server's question
        failures = 0
        try:
            while not self._stopping:
                began = anyio.current_time()
                if not await self._attempt():
                    return
                failures = self.settings.backoff.after(failures, anyio.current_time() - began)
                self._scope = anyio.CancelScope()
                with self._scope:
                    await anyio.sleep(self.settings.backoff.pause(failures))
        finally:
            self._life = None
            self._first.set()

    async def settled(self) -> None:
        """Return when it has connected, or failed to, for the first time."""
        await self._first.wait()

    def stop(self) -> None:
        """Let `run` end the server and return. From any task, at any time, any number of times."""
        self._stopping = True
        if self._life:
            self._life.over.set()
        else:
            self._scope.cancel()

    async def _attempt(self) -> bool:
        """Start the server and stay until it ends; whether it is worth another attempt."""
        try:
            resolved = resolve(self.spec, self.settings.environ)
        except PlaceholderError as error:
            self._become(ServerStatus.FAILED, f"{error.detail}; {error.mend}")
            return False
        with discreet(resolved.secrets):
            return await self._live(resolved)

    async def _live(self, resolved: Resolved) -> bool:
        times = self.settings.times
        life = Life(self.settings, resolved, Watch(self.settings.backoff), self._lost)
        witness = life.witness
        doing, seconds = ANSWER, times.start
        state: ServerState | None = None
        failure: Exception | None = None
        # One scope with a moving deadline: scopes must nest, and the client's outlives the start.
        self._scope = life.scope
        try:
            with life.scope:
                async with AsyncExitStack() as turn:
                    await turn.enter_async_context(self.settings.starts)
                    if not self._first.is_set():
                        self._become(ServerStatus.STARTING)
                    life.scope.deadline = anyio.current_time() + seconds
                    async with life.client() as client:
                        doing, seconds = LIST, times.list
                        life.scope.deadline = anyio.current_time() + seconds
                        state = self._listed(await all_tools(self.name, client), client.instructions)
                        witness.healthy = True
                        life.scope.deadline = _FOREVER
                        await turn.aclose()
                        await self._serve(life, client, state)
                        life.scope.deadline = anyio.current_time() + times.shutdown
        except Exception as error:  # noqa: BLE001 - whatever a server does to its client costs that server alone
            failure = error
        if self._stopping:
            return False
        if state is not None:
            self._become(ServerStatus.DISCONNECTED, life.last_words(failure))
            return True
        late = failure is None or life.scope.cancel_called
        line = too_late(witness, doing, seconds) if late or not failure else explain(failure, witness, doing)
        hopeless = not late and lasting(failure, witness)
        status = ServerStatus.DISCONNECTED if self._was_connected and not hopeless else ServerStatus.FAILED
        self._become(status, resolved.mask(line))
        return not hopeless

    async def _serve(self, life: Life, client: Client, state: ServerState) -> None:
        """Stay connected until the server is lost or this connection is stopped."""
        life.sender = Sender(client.session, life.resolved, life.witness)
        self._life = life
        self._was_connected = True
        self._take(state)
        try:
            if self._stopping or life.over.is_set():
                return
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(life.watch.run, lambda: self._refresh(life, client))
                tasks.start_soon(life.watch.listen, client, self.settings.times.start)
                await life.over.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._life = None

    def _lost(self, life: Life) -> None:
        """Say so at once, not when its process has ended."""
        if self._life is life and not self._stopping:
            self._life = None
            self._become(ServerStatus.DISCONNECTED, life.last_words(None))

    async def _refresh(self, life: Life, client: Client) -> bool:
        """List again; whether that went well. Where not, the last good list stands."""
        with anyio.move_on_after(self.settings.times.list):
            try:
                listing = await all_tools(self.name, client)
                state = self._listed(listing, client.instructions)
            except Exception as error:  # noqa: BLE001 - whatever it is, the list that there is stands
                if isinstance(error, SessionEndedError) or unreachable(error):
                    life.lose(explain(error, Witness(mask=life.resolved.mask), LIST))
                return False
            if self._life is life and not life.over.is_set() and state != self.state:
                self._take(state)
            return True
        return False

    def _listed(self, listing: Listing, instructions: str | None) -> ServerState:
        known = Snapshot(servers={self.name: self.state})
        try:
            state = known.connect(self.name, listing.tools, instructions=instructions).servers[self.name]
        except _UNREADABLE as error:
            raise CannotStartError(f"lists tools that cannot be read: {clean(str(error))}") from None
        return replace(state, diagnostics=(*listing.diagnostics, *state.diagnostics))

    def _become(self, status: ServerStatus, error: str = "") -> None:
        if (status, error) == (self.state.status, self.state.error) and self._first.is_set():
            return
        known = Snapshot(servers={self.name: self.state})
        self._take(known.mark(self.name, status, error).servers[self.name])

    def _take(self, state: ServerState) -> None:
        self.state = state
        if state.status is not ServerStatus.STARTING:
            self._first.set()
        self._on_state(state)

    # for whoever uses it --------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        dispatching: Callable[[], Awaitable[None]],
        elicit: Elicit | None = None,
    ) -> Answer:
        """Call a tool once: wait for a place, send, wait for the result. Never repeated.

        Args:
            tool: its plain name.
            arguments: what it is called with.
            dispatching: awaited when the call has its place, just before it is sent.
            elicit: answers what the server asks a person during the call; the call's time stands still
                meanwhile. Without it questions are declined.

        Returns:
            `OK`; `TOOL_ERROR` where the server answered with an error, with more than 1 MiB, or with what is
            no result; `NOT_STARTED` where the call did not reach the server or was refused before it ran;
            `AMBIGUOUS` where it was sent and nobody knows whether it ran. A call that is cancelled tells the
            server, and raises.
        """
        if self._life is None:
            return self._absent()
        if not writable(arguments):
            return not_started(self.name, "its arguments cannot be written as JSON")
        times = self.settings.times
        try:
            async with self._lane.place(times.queue):
                await dispatching()
                # Looked up now: the wait may have outlived the connection that was there before it.
                life = self._life
                if life is None or life.sender is None:
                    return self._absent()
                asker = Asker(elicit, times.call)
                life.askers.add(asker)
                try:
                    answer = await life.sender.send(tool, arguments, asker, times.call)
                    life.heed(asker.exchange)
                    return answer
                finally:
                    life.askers.discard(asker)
                    asker.close()
        except NoPlaceError as error:
            return not_started(self.name, str(error))

    async def resources(self) -> list[mcp_types.Resource]:
        """Every resource that the server lists, of all pages.

        Raises:
            ResourceError: it is not connected, has none, or did not answer in time.
        """
        return await self._ask(resource.resources, self.settings.times.list)

    async def resource_templates(self) -> list[mcp_types.ResourceTemplate]:
        """Every resource template that the server lists, of all pages.

        Raises:
            ResourceError: as for `resources`.
        """
        return await self._ask(resource.templates, self.settings.times.list)

    async def read_resource(self, uri: str) -> mcp_types.ReadResourceResult:
        """A resource's content.

        Raises:
            ResourceError: as for `resources`; or it is over the limit of 1 MiB.
        """
        return await self._ask(lambda session: resource.read(session, uri), self.settings.times.call)

    async def _ask(self, ask: Callable[[ClientSession], Awaitable[_FoundT]], seconds: float) -> _FoundT:
        try:
            async with self._lane.place(self.settings.times.queue):
                life = self._life
                if life is None or life.sender is None:
                    raise self._error("it is not connected")
                try:
                    with anyio.move_on_after(seconds):
                        return await ask(life.sender.session)
                except MCPError as error:
                    life.watch.changed()  # listing again shows whether it is still there
                    raise self._error(clean(life.resolved.mask(error.message))) from None
        except (NoPlaceError, resource.TooLargeError) as error:
            raise self._error(str(error)) from None
        except (ValidationError, RuntimeError):
            raise self._error("it answered with something that is no resource") from None
        raise self._error(f"it did not answer within {seconds:g} s")

    def _error(self, why: str) -> ResourceError:
        return ResourceError(
            f"resources of server {self.name!r}: {why}", where=self.spec.where, name=self.name
        )

    def _absent(self) -> Answer:
        state = self.state
        return not_started(self.name, f"it is {state.status}" + (f": {state.error}" if state.error else ""))
