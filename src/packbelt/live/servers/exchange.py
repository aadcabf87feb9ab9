"""One request and what its transport saw of it: the evidence for how a call ended.

Session and transport turn everything that goes wrong into errors with codes, and a server may send the
same codes itself. What tells them apart lies lower down: whether the request was handed on, what came back
under its id, how HTTP answered. An `Exchange` collects that for one request. It travels as a context
variable, which the SDK carries along from the task that writes a message to the tasks that post it and that
handle what comes back.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import anyio
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

if TYPE_CHECKING:  # the SDK gives these types no public home
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream

_COURTESY = 0.5  # seconds to tell a server that reads nothing any more that a call is off
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass(slots=True, weakref_slot=True, eq=False)
class Exchange:
    """What was seen of one request.

    Attributes:
        id: its JSON-RPC id, once it was written.
        sent: whether any of it may have reached the server.
        answer: what came back under its id. Over HTTP the SDK's transport puts errors of its own there.
        status: the status of the HTTP response to it.
        lost: what broke its HTTP request or response off.
        session: whether it carried an HTTP session's id.
        spoke: whether the body of the HTTP response can hold a JSON-RPC error.
    """

    id: RequestId | None = None
    sent: bool = False
    answer: JSONRPCResponse | JSONRPCError | None = None
    status: int | None = None
    lost: Exception | None = None
    session: bool = False
    spoke: bool = False

    @property
    def result(self) -> dict[str, Any] | None:
        """The result as the server wrote it."""
        return self.answer.result if isinstance(self.answer, JSONRPCResponse) else None


CURRENT: ContextVar[Exchange | None] = ContextVar("packbelt_exchange", default=None)
"""The exchange whose request this task writes, posts, or handles a question of."""


@contextmanager
def exchange() -> Iterator[Exchange]:
    """The next request that this task sends to a server is this exchange's."""
    opened = Exchange()
    token = CURRENT.set(opened)
    try:
        yield opened
    finally:
        CURRENT.reset(token)


class Tap(AbstractAsyncContextManager["TransportStreams"]):
    """A transport whose requests and answers are noted in their exchanges.

    Args:
        transport: what carries the messages.
        piped: whether a message that was handed to it is as good as sent; HTTP tells by itself.
        on_end: called when nothing comes from the server any more.
    """

    def __init__(self, transport: Transport, *, piped: bool, on_end: Callable[[], None]) -> None:
        self._transport = transport
        self._piped = piped
        self._open: WeakValueDictionary[str, Exchange] = WeakValueDictionary()
        self.on_end = on_end

    async def __aenter__(self) -> "tuple[_Reader, _Writer]":
        read, write = await self._transport.__aenter__()
        return _Reader(read, self), _Writer(write, self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)

    async def write(self, stream: "WriteStream[SessionMessage]", item: SessionMessage) -> None:
        """Send a message; a request is its task's exchange from here on."""
        current = CURRENT.get()
        if current is None:
            await stream.send(item)
        elif isinstance(item.message, JSONRPCRequest) and current.id is None:
            current.id = item.message.id
            self._open[str(current.id)] = current
            # Before the send: one that is cancelled half-way may have been delivered all the same.
            current.sent = self._piped
            try:
                await stream.send(item)
            except _GONE:
                current.sent = False
                raise
        else:  # a cancellation, or the answer to a question: how it fares says nothing of the request
            patience = _COURTESY if isinstance(item.message, JSONRPCNotification) else None
            with exchange(), anyio.move_on_after(patience):
                await stream.send(item)

    def see(self, item: SessionMessage | Exception) -> None:
        """Note an answer; the first one under an id counts."""
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse | JSONRPCError):
            asked = self._open.pop(str(item.message.id), None)
            if asked is not None:
                asked.answer = item.message


class _Writer:
    """The writing side of a tapped transport."""

    def __init__(self, stream: "WriteStream[SessionMessage]", tap: Tap) -> None:
        self._stream = stream
        self._tap = tap

    async def send(self, item: SessionMessage, /) -> None:
        await self._tap.write(self._stream, item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


class _Reader:
    """The reading side of a tapped transport."""

    def __init__(self, stream: "ReadStream[SessionMessage | Exception]", tap: Tap) -> None:
        self._stream = stream
        self._tap = tap

    @property
    def last_context(self) -> Any:
        """The sender's context, where the transport keeps it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self._stream.receive()
        except (anyio.EndOfStream, *_GONE):
            self._tap.on_end()
            raise
        self._tap.see(item)
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
