"""`RunStore`: what a place that keeps runs can do. SQLite and SQLAlchemy keep them by the same statements."""

from collections.abc import Sequence
from typing import Any, Protocol

from packbelt.live.runs.record import Run, RunStatus


class RunStore(Protocol):
    """Keeps runs. A store belongs to one process; other processes may share its database.

    A run that is `running` belongs to the process that created or claimed it. Where that process has ended,
    whoever opens the database next finds the run and settles it: `failed`, and resumable only where no call
    of it was under way.

    Methods that change a run take it to be this store's own, and raise `RunStoreError`, `RunBusyError` or
    `UnknownRunError` where it is not. What is kept must be JSON; what is not is refused by a `RunStoreError`
    before anything is written.
    """

    async def create(self, run: Run) -> None:
        """Keep a new run, `running`, as this process's."""
        ...

    async def begin(self, run: str, doing: str) -> None:
        """The run is about to dispatch calls: from here on it is not resumable.

        Args:
            run: the run.
            doing: what it is doing, as it follows on "while it was": `calling server:github/search`.

        Raises:
            UnknownRunError: there is none.
            RunBusyError: another process has it.
            RunStoreError: it cannot be marked; what was about to be dispatched must not be.
        """
        ...

    async def settle(self, run: str) -> None:
        """The outcomes of all that was dispatched are known: resumable again, unless it was spoiled."""
        ...

    async def spoil(self, runs: Sequence[str], why: str) -> None:
        """A call on these runs' path ended unknown: they are never resumable again, whoever has them now."""
        ...

    async def keep(self, run: str, messages: Sequence[Any]) -> None:
        """Keep the conversation as it stands."""
        ...

    async def finish(
        self, run: str, status: RunStatus, *, output: str, messages: Sequence[Any], why: str = ""
    ) -> None:
        """The run is `completed` or `failed`; `why` is kept where it failed."""
        ...

    async def claim(self, run: str, request: str) -> Run:
        """Take a run that is not running, and that is resumable, to continue it: it is `running` again.

        Of several processes that claim one run at once, one gets it.

        Raises:
            UnknownRunError: there is none.
            RunBusyError: it is running.
            RunNotResumableError: it cannot be continued.
        """
        ...

    async def get(self, run: str) -> Run:
        """A run as it stands.

        Raises:
            UnknownRunError: there is none.
        """
        ...

    async def find(self, workspace: str, *, limit: int = 100) -> list[Run]:
        """The latest runs of a workspace, newest first, without their messages."""
        ...

    async def close(self) -> None:
        """Let go of the database; runs that are still `running` are this process's no more."""
        ...
