"""`RunKeeper`: the asynchronous face of a `Ledger`, the same for every database."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from packbelt.live.runs.ledger import Ledger
from packbelt.live.runs.record import Run, RunStatus

T = TypeVar("T")


class RunKeeper(ABC):
    """A `RunStore` over a ledger; each database says by `_do` in which thread its work is done."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @abstractmethod
    async def _do(self, work: Callable[[], T]) -> T:
        """Do some of the ledger's work."""

    async def create(self, run: Run) -> None:
        """See `RunStore`."""
        await self._do(partial(self._ledger.create, run, time.time()))

    async def begin(self, run: str, doing: str) -> None:
        """See `RunStore`."""
        await self._do(partial(self._ledger.begin, run, doing, time.time()))

    async def settle(self, run: str) -> None:
        """See `RunStore`."""
        await self._do(partial(self._ledger.settle, run, time.time()))

    async def spoil(self, runs: Sequence[str], why: str) -> None:
        """See `RunStore`."""
        await self._do(partial(self._ledger.spoil, runs, why, time.time()))

    async def keep(self, run: str, messages: Sequence[Any]) -> None:
        """See `RunStore`."""
        await self._do(partial(self._ledger.keep, run, messages, time.time()))

    async def finish(
        self, run: str, status: RunStatus, *, output: str, messages: Sequence[Any], why: str = ""
    ) -> None:
        """See `RunStore`."""
        await self._do(
            partial(
                self._ledger.finish, run, status, output=output, messages=messages, why=why, now=time.time()
            )
        )

    async def claim(self, run: str, request: str) -> Run:
        """See `RunStore`."""
        return await self._do(partial(self._ledger.claim, run, request, time.time()))

    async def get(self, run: str) -> Run:
        """See `RunStore`."""
        return await self._do(partial(self._ledger.get, run, time.time()))

    async def find(self, workspace: str, *, limit: int = 100) -> list[Run]:
        """See `RunStore`."""
        return await self._do(partial(self._ledger.find, workspace, limit, time.time()))

    @abstractmethod
    async def close(self) -> None:
        """See `RunStore`. Closing twice is closing once."""
