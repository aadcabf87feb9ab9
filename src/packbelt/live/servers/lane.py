"""A server's own queue: first come, first served, and nobody waits on another server's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

MAX_WAITING = 1024
"""Calls that may wait for one server."""


class NoPlaceError(Exception):
    """A call got no place in its server's queue, or not in time; the message says which."""


class Lane:
    """The places of one server.

    Args:
        places: calls that it takes at a time.
    """

    def __init__(self, places: int) -> None:
        self._places = anyio.Semaphore(places, fast_acquire=True)
        self._waiting = 0

    @asynccontextmanager
    async def place(self, seconds: float) -> AsyncIterator[None]:
        """Wait for a place, and hold it while inside.

        Raises:
            NoPlaceError: too many wait already, or none became free in so many seconds.
        """
        if self._waiting >= MAX_WAITING:
            raise NoPlaceError(f"{MAX_WAITING} calls wait for it already")
        held = False
        self._waiting += 1
        try:
            with anyio.move_on_after(seconds):
                await self._places.acquire()
                held = True
        finally:
            self._waiting -= 1
        if not held:
            raise NoPlaceError(f"its queue did not reach the call within {seconds:g} s")
        try:
            yield
        finally:
            self._places.release()
