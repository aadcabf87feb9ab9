"""A server as a child process: a transport for the SDK's client that leaves no process behind.

The SDK's own stdio transport shows neither the exit code nor standard error, adds to the environment, and
leaves alone what a wrapper script started once the wrapper itself has ended. This one starts the server in
a session of its own and ends the whole process group on every path out: close standard input, wait,
SIGTERM, wait, SIGKILL. A process that left the group on purpose (a daemon) is out of reach.
"""

import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import mcp_types
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.shared.message import SessionMessage

from packbelt.live.group import pipe, release, signal_group, until
from packbelt.live.servers.failure import MAX_MESSAGE, CannotStartError, Witness, clean

_IMPATIENT = 0.5  # seconds for a server that never got well to end
_LAST_WORDS = 0.5  # seconds for an ended server's exit code and standard error to arrive
_KILLED = 1.0  # seconds for the loop to see that a killed process has ended

_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_Received = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[_Received], MemoryObjectSendStream[SessionMessage]]


def child(
    command: str,
    args: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    shutdown: float,
    witness: Witness,
) -> Transport:
    """A transport that runs a command directly, without a shell, with exactly this environment.

    Args:
        command: looked up in the PATH of `env`.
        args: its arguments.
        env: its whole environment.
        cwd: its directory; None for this process's own.
        shutdown: seconds that a healthy server gets to end; the rest of its group is killed then.
        witness: takes down what is seen of it.

    Entering it raises `CannotStartError` where the process cannot be started.
    """
    if sys.platform == "win32":
        # The SDK ends the tree by a Job Object there; exit code and standard error stay out of sight.
        return stdio_client(StdioServerParameters(command=command, args=list(args), env=dict(env), cwd=cwd))
    return _group([command, *args], env, cwd, shutdown, witness)


@asynccontextmanager
async def _group(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path | None, shutdown: float, witness: Witness
) -> AsyncIterator[Streams]:
    process = await _start(argv, env, cwd)
    group = process.pid
    try:
        async with AsyncExitStack() as streams:
            to_session, from_server = anyio.create_memory_object_stream[_Received](0)
            to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
            for stream in (to_session, from_server, to_server, from_session):
                streams.push_async_callback(stream.aclose)
            stderr_ended = anyio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read_errors, process, witness, stderr_ended)
                tasks.start_soon(_read_messages, process, to_session, witness, stderr_ended)
                tasks.start_soon(_write_messages, process, from_session, to_session)
                try:
                    yield from_server, to_server
                finally:
                    witness.stopped = True
                    with anyio.CancelScope(shield=True):
                        from_server.close()  # the reader no longer waits for the session, and drains
                        to_server.close()
                        await _stop(process, shutdown if witness.healthy else min(shutdown, _IMPATIENT))
                    tasks.cancel_scope.cancel()
    finally:
        # Synchronous: holds even where a second interrupt breaks the orderly end above.
        signal_group(group, signal.SIGKILL)
        release(process)


async def _start(argv: Sequence[str], env: Mapping[str, str], cwd: Path | None) -> Process:
    command = argv[0]
    if cwd is not None and not await anyio.Path(cwd).is_dir():  # exec would call it a missing command
        raise CannotStartError(f"its cwd is no directory: {clean(str(cwd))!r}")
    process = None
    try:
        with anyio.CancelScope(shield=True):  # between fork and handle a cancellation would lose the process
            process = await anyio.open_process(argv, env=env, cwd=cwd, start_new_session=True)
    except FileNotFoundError:
        raise CannotStartError(
            f"command not found: {clean(command)!r}; install it or write its full path"
        ) from None
    except OSError as error:
        raise CannotStartError(f"cannot run {clean(command)!r}: {error.strerror or 'failed'}") from None
    except ValueError as error:  # a NUL in an argument, a = in a variable's name; neither shows the value
        raise CannotStartError(f"cannot run {clean(command)!r}: {error}") from None
    if process is None:
        raise RuntimeError("a shielded start was cancelled")
    return process


async def _read_messages(
    process: Process,
    to_session: MemoryObjectSendStream[_Received],
    witness: Witness,
    stderr_ended: anyio.Event,
) -> None:
    """Hand on messages, keep what is none as evidence, and go on reading when nobody listens."""
    async with to_session:
        async for line in _lines(pipe(process.stdout), witness):
            try:
                message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                witness.noticed(line)
                continue
            witness.messages += 1
            with suppress(*_GONE):
                await to_session.send(SessionMessage(message))
        # The session learns of the end only when it can be told how the server ended.
        with anyio.move_on_after(_LAST_WORDS):
            await until(lambda: process.returncode is not None)
            if not witness.stopped:
                witness.exit_code = process.returncode
            await stderr_ended.wait()


async def _lines(stream: ByteReceiveStream, witness: Witness) -> AsyncIterator[bytes]:
    buffer = bytearray()
    with suppress(anyio.EndOfStream, *_GONE, ConnectionError):
        while len(buffer) <= MAX_MESSAGE:
            chunk = await stream.receive()
            buffer += chunk
            if b"\n" in chunk:
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                for line in lines:
                    if line.strip():
                        yield line
        witness.oversize = True
        return
    if buffer.strip():
        yield bytes(buffer)


async def _read_errors(process: Process, witness: Witness, ended: anyio.Event) -> None:
    """Drain standard error always, so that a talkative server never blocks on it."""
    stderr = pipe(process.stderr)
    with suppress(anyio.EndOfStream, *_GONE, ConnectionError):
        while True:
            witness.heard(await stderr.receive())
    ended.set()


async def _write_messages(
    process: Process,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[_Received],
) -> None:
    stdin = process.stdin
    if stdin is None:  # started with pipes
        return
    try:
        async with from_session:
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(text.encode() + b"\n")
    except (*_GONE, OSError):
        # It no longer reads. Its last words arrive by standard output's end; where it lives on, nobody
        # would ever answer the session.
        with anyio.move_on_after(_LAST_WORDS):
            await until(lambda: process.returncode is not None)
        if process.returncode is None:
            await to_session.aclose()


async def _stop(process: Process, patience: float) -> None:
    """End the process and all that is left in its group."""
    if process.stdin is not None:
        with suppress(*_GONE, OSError):
            await process.stdin.aclose()
    with anyio.move_on_after(patience / 2):
        await until(lambda: process.returncode is not None)
    # Also where the process has ended: a wrapper may have left its server behind.
    if signal_group(process.pid, signal.SIGTERM):
        with anyio.move_on_after(patience / 2):
            await until(lambda: not signal_group(process.pid, 0))
        signal_group(process.pid, signal.SIGKILL)
    with anyio.move_on_after(_KILLED):
        await until(lambda: process.returncode is not None)
