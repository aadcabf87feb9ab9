"""What a run's record says while calls are under way, so that a crash is seen as what it is."""

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import anyio

from packbelt.live.runs.record import Run, RunStatus, RunStoreError
from packbelt.live.runs.store import RunStore
from packbelt.model import PackbeltError

T = TypeVar("T")

_UNKEPT = "its conversation could not be kept"


class Marks:
    """One run's record, kept true.

    A run is marked not resumable before the first of its calls is dispatched, and resumable again when the
    outcomes of all of them are known. A call whose outcome stays unknown spoils every run on its path.

    Whatever the store raises comes out as a `PackbeltError`: a host may bring a store of its own.

    Args:
        store: where runs are kept.
        run: this run.
        above: the marks of the run that spawned it, or None for a root's.
    """

    def __init__(self, store: RunStore, run: Run, above: "Marks | None" = None) -> None:
        self._store = store
        self._above = above
        self._under_way: list[str] = []
        # A store need not keep the order in which it was asked. A free lock costs no turn of the event loop.
        self._turn = anyio.Lock(fast_acquire=True)
        self.id = run.id
        self.spoiled = run.spoiled

    async def create(self, run: Run) -> None:
        """Keep a new run; a cancellation does not cut this short, since nobody would end the run then.

        Raises:
            PackbeltError: it cannot be kept.
        """
        with anyio.CancelScope(shield=True):
            await _written(self._store.create(run))

    async def give_back(self, run: Run, why: str) -> None:
        """A run that was claimed and cannot go on is not at work. Raises nothing of a store's."""
        why = f"it could not be continued: {why}"
        with anyio.CancelScope(shield=True), suppress(PackbeltError):
            await self.finish(RunStatus.FAILED, output=run.output, messages=run.messages, why=why)

    async def dispatch(self, doing: str) -> None:
        """A call is about to be dispatched.

        Raises:
            PackbeltError: it cannot be recorded, and so must not be dispatched.
        """
        self._under_way.append(doing)
        try:
            async with self._turn:
                await _written(self._store.begin(self.id, f"calling {', '.join(self._under_way)}"))
        except BaseException:
            self._under_way.remove(doing)
            raise

    async def known(self, doing: str) -> None:
        """The call's outcome is known."""
        self._under_way.remove(doing)
        async with self._turn:
            if not self._under_way and not self.spoiled:
                await _written(self._store.settle(self.id))

    async def unknown(self, doing: str, why: str) -> None:
        """The call's outcome will never be known: no run on its path is resumable any more."""
        self._under_way.remove(doing)
        path: list[str] = []
        marks: Marks | None = self
        while marks is not None:
            marks.spoiled = True
            path.append(marks.id)
            marks = marks._above  # noqa: SLF001 - its own kind
        await _written(self._store.spoil(path, f"{doing} {why}: it may have happened"))

    async def keep(self, messages: Sequence[Any]) -> None:
        """Keep the conversation as it stands."""
        await _written(self._store.keep(self.id, messages))

    async def finish(
        self, status: RunStatus, *, output: str = "", messages: Sequence[Any] = (), why: str = ""
    ) -> None:
        """The run has ended.

        Raises:
            PackbeltError: it cannot be recorded. Where that is for its messages, the run has ended all the
                same, with those that were kept last, and cannot be continued.
        """
        store = self._store
        try:
            await _written(store.finish(self.id, status, output=output, messages=messages, why=why))
        except PackbeltError:
            with suppress(PackbeltError):
                kept = await _written(store.get(self.id))
                await _written(store.spoil([self.id], _UNKEPT))
                self.spoiled = True
                last = kept.messages
                await _written(store.finish(self.id, status, output=output, messages=last, why=why))
            raise


async def _written(writing: Awaitable[T]) -> T:
    try:
        return await writing
    except PackbeltError:
        raise
    except Exception as error:
        raise RunStoreError(
            f"the run's record cannot be written ({type(error).__name__})", mend="see what keeps the runs"
        ) from error
