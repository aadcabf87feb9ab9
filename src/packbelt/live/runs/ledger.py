"""What keeping runs means, once for every database: synchronous, over `Database`.

Each method may be repeated with the same `now` after a connection was lost with the answer on its way: what
stands with that very `now` is this caller's own writing.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from packbelt.live.runs import statements as sql
from packbelt.live.runs.encoding import to_json, to_text
from packbelt.live.runs.record import (
    Run,
    RunBusyError,
    RunNotResumableError,
    RunStatus,
    RunStoreError,
    UnknownRunError,
)
from packbelt.live.runs.rows import Standing, to_run
from packbelt.model import Where
from packbelt.model.text import quoted

KEPT = 1000
"""Finished runs kept of each workspace, those changed last; pruned when a store is opened."""
_PROCESS, _STORE, _RUN = "its process ended", "its store was closed", "it ended"
_BETWEEN = "between calls"


class Database(Protocol):
    """A database and this store's name in it."""

    @property
    def owner(self) -> str:
        """Under which this store's runs stand while it is open. Nobody else ever has it."""
        ...

    @property
    def place(self) -> Where:
        """For errors; without a password."""
        ...

    def run(self, statement: str, values: Mapping[str, Any]) -> int:
        """Rows that a statement changed."""
        ...

    def rows(self, statement: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Rows that a statement finds."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing of what is run inside."""
        ...

    def ended(self, owner: str) -> bool:
        """Whether the process of another owner has ended; exact, and asked inside a transaction only."""
        ...


class Ledger:
    """The runs in one database. Times (`now`) are seconds since the epoch."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def create(self, run: Run, now: float) -> None:
        """See `RunStore`."""
        values = {
            "id": to_text(run.id),
            "workspace": to_text(run.workspace),
            "agent": to_text(run.agent),
            "parent": to_text(run.parent) if run.parent is not None else None,
            "owner": self._db.owner,
            "created": run.created or now,
            "now": now,
        }
        kept = {
            "id": values["id"],
            "scope": to_json(dict(run.scope), "scope"),
            "request": to_json(run.request, "request"),
            "output": to_json(run.output, "output"),
            "messages": to_json(list(run.messages), "messages"),
        }
        with self._db.transaction():
            if self._db.run(sql.CREATE, values):
                self._db.run(sql.CREATE_CONVERSATION, kept)
                return
            standing = self._standing(run.id)
        if standing.owner != self._db.owner or standing.changed != now:
            raise RunStoreError(
                f"there is a run {quoted(run.id)} already",
                where=self._db.place,
                mend="make its id by new_run_id()",
                name=run.id,
            )

    def begin(self, run: str, doing: str, now: float) -> None:
        """See `RunStore`."""
        if not self._db.run(sql.BEGIN, self._mine(run, now) | {"doing": to_text(doing)}):
            self._not_mine(run, now)

    def settle(self, run: str, now: float) -> None:
        """See `RunStore`."""
        if not self._db.run(sql.SETTLE, self._mine(run, now)):
            self._not_mine(run, now)

    def spoil(self, runs: Sequence[str], why: str, now: float) -> None:
        """See `RunStore`."""
        with self._db.transaction():
            for run in sorted(set(runs)):  # in one order everywhere, so that two of these never deadlock
                self._db.run(sql.SPOIL, {"id": to_text(run), "why": to_text(why), "now": now})

    def keep(self, run: str, messages: Sequence[Any], now: float) -> None:
        """See `RunStore`."""
        kept = {"id": to_text(run), "messages": to_json(list(messages), "messages")}
        with self._db.transaction():
            if self._db.run(sql.TOUCH, self._mine(run, now)):
                self._db.run(sql.KEEP, kept)
                return
        self._not_mine(run, now)

    def finish(
        self, run: str, status: RunStatus, *, output: str, messages: Sequence[Any], why: str, now: float
    ) -> None:
        """See `RunStore`."""
        if status is RunStatus.RUNNING:
            raise RunStoreError("a run does not finish as running", mend="say completed or failed", name=run)
        kept = {
            "id": to_text(run),
            "output": to_json(output, "output"),
            "messages": to_json(list(messages), "messages"),
        }
        said = to_text(why) if status is RunStatus.FAILED else ""
        values = self._mine(run, now) | {"status": str(status), "ended": _RUN, "why": said}
        with self._db.transaction():
            if self._db.run(sql.FINISH, values):
                self._db.run(sql.FINISH_CONVERSATION, kept)
                return
        self._not_mine(run, now)

    def claim(self, run: str, request: str, now: float) -> Run:
        """See `RunStore`."""
        kept = {"id": to_text(run), "request": to_json(request, "request")}
        with self._db.transaction():
            while not self._db.run(sql.CLAIM, self._mine(run, now)):
                standing = self._standing(run)
                if standing.owner == self._db.owner and standing.changed == now:
                    break
                free = standing.owner is None and standing.resumable  # since a moment ago
                if not free and not self._settled(standing.owner, now):
                    raise self._refusal(run, standing)
            self._db.run(sql.CLAIM_CONVERSATION, kept)
            return self._read(run)

    def get(self, run: str, now: float) -> Run:
        """See `RunStore`."""
        owner = self._standing(run).owner
        if owner is not None and owner != self._db.owner:
            with self._db.transaction():
                self._settled(owner, now)
        return self._read(run)

    def find(self, workspace: str, limit: int, now: float) -> list[Run]:
        """See `RunStore`."""
        self.settle_ended(now)
        found = self._db.rows(sql.FIND, {"workspace": to_text(workspace), "count": max(limit, 0)})
        return [to_run(row) for row in found]

    def settle_ended(self, now: float) -> None:
        """Settle the runs of every process that has ended."""
        mine = {"owner": self._db.owner}
        if not self._db.rows(sql.OWNERS, mine):
            return
        with self._db.transaction():
            for (owner,) in self._db.rows(sql.OWNERS, mine):
                self._settled(owner, now)

    def abandon(self, now: float) -> None:
        """Settle this store's own runs that are still at work: it is being closed."""
        self._abandon(self._db.owner, _STORE, now)

    def prune(self, workspace: str, kept: int = KEPT) -> None:
        """Forget the finished runs of a workspace but those `kept` that changed last."""
        self._db.run(sql.PRUNE, {"workspace": to_text(workspace), "kept": kept})

    def _settled(self, owner: str | None, now: float) -> bool:
        """Whether an owner has ended, and its runs are settled for it. Inside a transaction only."""
        if owner is None or owner == self._db.owner or not self._db.ended(owner):
            return False
        self._abandon(owner, _PROCESS, now)
        return True

    def _abandon(self, owner: str, ended: str, now: float) -> None:
        why = f"{ended} {_BETWEEN}"
        self._db.run(sql.ABANDON, {"owner": owner, "ended": ended, "why": why, "now": now})

    def _mine(self, run: str, now: float) -> dict[str, Any]:
        return {"id": to_text(run), "owner": self._db.owner, "now": now}

    def _read(self, run: str) -> Run:
        found = self._db.rows(sql.GET, {"id": to_text(run)})
        if not found:
            raise self._unknown(run)
        return to_run(found[0])

    def _standing(self, run: str) -> Standing:
        found = self._db.rows(sql.STANDING, {"id": to_text(run)})
        if not found:
            raise self._unknown(run)
        return Standing(*found[0])

    def _unknown(self, run: str) -> UnknownRunError:
        return UnknownRunError(
            f"there is no run {quoted(run)}",
            where=self._db.place,
            mend=f"take its id from a hand-off's result; the last {KEPT} of a workspace are kept",
            name=run,
        )

    def _refusal(self, run: str, standing: Standing) -> RunBusyError | RunNotResumableError:
        if standing.owner is not None:
            return self._busy(run, standing)
        return RunNotResumableError(
            f"run {quoted(run)} cannot be continued: {standing.reason}",
            where=self._db.place,
            mend="see what the call did, and start a new run",
            name=run,
        )

    def _busy(self, run: str, standing: Standing) -> RunBusyError:
        at = "here" if standing.owner == self._db.owner else "in another process"
        doing = f", {standing.reason}" if standing.reason and not standing.resumable else ""
        return RunBusyError(
            f"run {quoted(run)} is at work {at}{doing}",
            where=self._db.place,
            mend="wait until it has finished",
            name=run,
        )

    def _not_mine(self, run: str, now: float) -> None:
        """Say why a run that this store wants to change is not its own, unless the change is made already."""
        standing = self._standing(run)
        if standing.changed == now:
            return
        if standing.owner is not None:
            raise self._busy(run, standing)
        reason = f": {standing.reason}" if standing.reason else ""
        raise RunStoreError(
            f"run {quoted(run)} is no longer at work, it is {standing.status}{reason}",
            where=self._db.place,
            mend="claim it before it is continued",
            name=run,
        )


def newer(version: int, place: Where) -> RunStoreError:
    """The refusal of a database that a later packbelt made."""
    return RunStoreError(
        f"the runs are kept in form {version}, and this packbelt knows forms up to {sql.VERSION}",
        where=place,
        mend="upgrade packbelt, or keep runs elsewhere",
    )
