"""A fleet that follows its workspace's files: what is saved counts from the next turn on."""

from collections.abc import Callable
from contextlib import aclosing

from packbelt.catalog.watch import states
from packbelt.live.fleet import Fleet
from packbelt.model import PackbeltError

Told = Callable[[PackbeltError | None], object]
"""Told why the files do not load, and None when they have been taken (again)."""


async def follow(fleet: Fleet, told: Told) -> None:
    """Take the workspace's files into force each time that they are saved, until it is cancelled.

    Files that do not load leave the last good workspace in force.

    Args:
        fleet: an open one.
        told: what becomes of them, the same problem once.
    """
    async with aclosing(states(fleet.workspace)) as found:
        async for state in found:
            if isinstance(state, PackbeltError):
                told(state)
                continue
            try:
                await fleet.reload(state)
            except PackbeltError as problem:  # the user's trust file
                told(problem)
            else:
                told(None)
