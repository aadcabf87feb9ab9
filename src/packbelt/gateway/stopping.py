"""How a gateway is told to stop: an interrupt, SIGTERM or SIGHUP ends it as its client's leaving does."""

import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import TaskStatus

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def only(error: Exception) -> Exception:
    """What went wrong, where a task group raised a group of one."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def on_signal(
    stop: Callable[[], None], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Call `stop` at the first signal that asks this process to end, and at every further one.

    Signals are caught from when the task has started; before that they end the process as ever.
    """
    main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in _NAMES if main and hasattr(signal, name)]
    # Windows has no such handlers: an interrupt raises where the process is.
    with suppress(NotImplementedError), anyio.open_signal_receiver(*numbers) as received:
        task_status.started()
        async for _ in received:
            stop()
    task_status.started()


Beside = Callable[[], Coroutine[Any, Any, None]]
"""Work that is done while agents are served."""


@asynccontextmanager
async def alongside(beside: Beside | None) -> AsyncIterator[None]:
    """While inside, this is done too; it is cancelled at the end."""
    async with anyio.create_task_group() as tasks:
        if beside is not None:
            tasks.start_soon(beside)
        yield
        tasks.cancel_scope.cancel()
