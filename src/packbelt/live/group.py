"""Process groups: what a child started, ended with it."""

import os
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, Process

_POLL = 0.01


async def until(done: Callable[[], bool]) -> None:
    """Wait for something that the system does not announce."""
    # Not process.wait(): on asyncio it also waits for the pipes, which a grandchild may hold open.
    while not done():  # noqa: ASYNC110 - the kernel sets no event for the end of a process group
        await anyio.sleep(_POLL)


def signal_group(group: int, number: int) -> bool:
    """Signal every process of a group; False where none is left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS, for one that has ended and was not yet waited for
        return True
    return True


def pipe(stream: ByteReceiveStream | None) -> ByteReceiveStream:
    """A stream of a process that was started with pipes."""
    if stream is None:
        raise RuntimeError("the process was started without pipes")
    return stream


def release(process: Process) -> None:
    """Close asyncio's handle at once; it warns later where a process that left the group holds a pipe."""
    # Nothing public of anyio or asyncio reaches it; trio and uvloop have other attributes.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    close = getattr(transport, "close", None)
    if callable(close):
        with suppress(PermissionError, ProcessLookupError):
            close()
