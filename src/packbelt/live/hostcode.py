"""What the host's own functions raise: its tools, its model loop, and those that it asks."""

import asyncio
import math

import anyio

from packbelt.model.text import cut, one_line

MAX_ERROR = 2000
"""Bytes kept of what an exception says."""


def is_its_own(error: BaseException) -> bool:
    """Whether what a host's function raised is its failure alone, and not the end of its caller.

    A tool that calls `sys.exit`, or that awaits a task which somebody cancelled, has failed; a caller that is
    itself being cancelled, or interrupted by a person, is to end.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_its_own, error.exceptions))
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return not _being_cancelled()
    return isinstance(error, Exception | SystemExit)


def told(error: BaseException) -> str:
    """An exception's class and words, in one line; never raises for what its words do."""
    kind = type(error).__name__
    try:
        said = cut(one_line(str(error)), MAX_ERROR)
    except Exception:  # noqa: BLE001 - its own `__str__`
        said = ""
    return f"{kind}: {said}" if said else kind


def _being_cancelled() -> bool:
    if anyio.current_effective_deadline() == -math.inf:
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop's, on which nobody else can raise it
        return True
    return task is None or task.cancelling() > 0
