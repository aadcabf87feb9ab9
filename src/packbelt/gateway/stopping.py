"""How a gateway is told to stop: an interrupt, SIGTERM or SIGHUP ends it as its client's leaving does."""

import signal
import threading
from collections.abc import Callable

import anyio

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


async def on_signal(stop: Callable[[], None]) -> None:
    """Call `stop` at the first signal that asks this process to end, and at every further one."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    try:
        with anyio.open_signal_receiver(*numbers) as received:
            async for _ in received:
                stop()
    except NotImplementedError:  # Windows: an interrupt raises where the process is
        await anyio.sleep_forever()
