"""Messages over the process's standard streams, by threads that hold up nobody.

The SDK's own stdio transport reads and writes in worker threads that cannot be abandoned: a gateway that is
told to stop while its client is silent, or has stopped reading, would wait for that client. These threads
are left behind instead, blocked in the system's own read or write, and end with the process.

While the streams are served, descriptor 0 is the null device and descriptor 1 is standard error, so that
neither this process nor a child of it can read a message or write anything else among them.
"""

import os
import sys
import threading
from asyncio import AbstractEventLoop, get_running_loop, run_coroutine_threadsafe
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_CHUNK = 1 << 16
MAX_LINE = 64 << 20
"""Bytes of a message; a client that sends more has lost its mind, and the connection."""
DRAIN = 1.0
"""Seconds that a client is given at the end to read what it was sent."""

_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Streams of messages to and from the client; the incoming one ends where standard input does.

    Leaving waits until what was sent has been written, at most `DRAIN` where the client does not read it.
    """
    loop = get_running_loop()
    with _claimed() as (source, sink):
        give_in, take_in = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        give_out, take_out = anyio.create_memory_object_stream[SessionMessage](0)
        writer = _Writer(loop, sink)
        reader = threading.Thread(
            target=_read, args=(loop, source, give_in), name="packbelt: input", daemon=True
        )
        reader.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, take_out, writer)
            try:
                yield take_in, give_out
            finally:
                take_in.close()
                give_out.close()
                tasks.cancel_scope.deadline = anyio.current_time() + DRAIN


@contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Descriptors of the client's two pipes, moved out of everybody else's way; put back at the end."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)  # not inherited by children
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, by its descriptor
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - there alone

        for descriptor in (source, sink):
            msvcrt.setmode(descriptor, os.O_BINARY)
    try:
        yield source, sink
    finally:
        # The threads may still be in a read or write of these two: they are left open until the process ends.
        with suppress(OSError):
            os.dup2(source, 0)
            os.dup2(sink, 1)


def _read(
    loop: AbstractEventLoop, source: int, give: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    """The reading thread: one message a line, none taken before the last one was."""
    rest = bytearray()
    with suppress(OSError, RuntimeError, CancelledError, *_CLOSED):
        while chunk := os.read(source, _CHUNK):
            rest += chunk
            if b"\n" not in chunk:  # a long message is looked through once
                lines: list[bytearray] = []
            else:
                *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.strip():
                    run_coroutine_threadsafe(give.send(_message(bytes(line))), loop).result()
            if len(rest) > MAX_LINE:
                break
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(give.close)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        return error


class _Writer:
    """The writing thread, given one message at a time."""

    def __init__(self, loop: AbstractEventLoop, sink: int) -> None:
        self._loop = loop
        self._sink = sink
        self._next: bytes | None = None
        self._wake = threading.Event()
        self._done = anyio.Event()
        threading.Thread(target=self._run, name="packbelt: output", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Write it all; where nobody reads any more it is dropped."""
        self._done = anyio.Event()
        self._next = data
        self._wake.set()
        await self._done.wait()

    def stop(self) -> None:
        """End the thread, unless it is stuck."""
        self._next = None
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            data = self._next
            if data is None:
                return
            with suppress(OSError):  # nobody reads any more
                while data:
                    data = data[os.write(self._sink, data) :]
            try:
                self._loop.call_soon_threadsafe(self._done.set)
            except RuntimeError:  # the loop is closed
                return


async def _write(take: MemoryObjectReceiveStream[SessionMessage], writer: _Writer) -> None:
    try:
        async with take:
            async for message in take:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await writer.write(text.encode() + b"\n")
    finally:
        writer.stop()
