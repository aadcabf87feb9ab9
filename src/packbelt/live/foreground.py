"""Run something that owns processes until it is done; whatever ends the command, they are ended first."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def foreground(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run in an event loop of its own; an interrupt, SIGTERM or SIGHUP cancels it and waits for its end.

    Raises:
        KeyboardInterrupt: after an interrupt, when everything has ended.
        SystemExit: after SIGTERM or SIGHUP, with 128 and the signal's number, as a shell reports it.
    """
    caught: list[int] = []

    async def main() -> T:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            if not caught and task is not None:  # a second one does not cut the cleaning up short
                task.cancel()
            caught.append(number)

        with suppress(NotImplementedError):  # Windows
            for number in _ending_signals():
                loop.add_signal_handler(number, stop, number)
        return await work()

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if caught:
            raise SystemExit(128 + caught[0]) from None
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """While inside, an interrupt raises at once, as a question at the terminal needs it.

    An event loop takes the first interrupt as a wish to be told when it is back, and a question that waits
    for an answer never gives it back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def unwound() -> Iterator[None]:
    """While inside, SIGTERM and SIGHUP raise `SystemExit` in the main thread, so that what is open is closed.

    For work whose event loop has a thread of its own; the exit code is 128 and the signal's number.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        for one in caught:
            signal.signal(one, signal.SIG_IGN)  # a second one does not cut the cleaning up short
        raise SystemExit(128 + number)

    caught = _ending_signals()
    for one in caught:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in caught:
            signal.signal(one, signal.SIG_DFL)


def _ending_signals() -> list[int]:
    """Signals that would end this process at once, its children left behind."""
    if threading.current_thread() is not threading.main_thread():
        return []
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
