"""Runs in a SQLite file, the default: by the standard library, in WAL mode, readable by this user alone.

A statement costs some 20 microseconds, a hop to a thread more; so the asynchronous methods do their work
at once, in the loop's thread. `synchronous=NORMAL` keeps what was written when the process is killed; a
power cut costs the last moments.
"""

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from packbelt.live.runs import statements as sql
from packbelt.live.runs.keeper import RunKeeper
from packbelt.live.runs.ledger import Ledger, newer
from packbelt.live.runs.owners import OwnerLocks
from packbelt.live.runs.record import RunStoreError
from packbelt.model import Where
from packbelt.model.text import cut, one_line

T = TypeVar("T")

MEMORY = ":memory:"
WAIT = 5.0
"""Seconds to wait for another process that is writing."""
_APPLICATION = 0x7061636B
"""In the file's header, so that no other program's database is taken for ours."""
_SAID = 200
"""Bytes of SQLite's own words in an error."""

_TROUBLE = (
    ("SQLITE_NOTADB", "the file is no SQLite database", "name another file, or remove it"),
    ("SQLITE_CORRUPT", "the database is damaged", "move the file away; a new one is made"),
    ("SQLITE_READONLY", "the database cannot be written", "check the permissions of file and directory"),
    ("SQLITE_CANTOPEN", "the file cannot be opened", "check the permissions of file and directory"),
    ("SQLITE_BUSY", f"another process has been writing for {WAIT:g} s", "see which, and whether it hangs"),
    ("SQLITE_FULL", "the disk is full", "make room"),
)


class _File:
    """One connection to a file, or to memory, and one owner's lock."""

    def __init__(self, path: Path | None) -> None:
        self.owner = uuid.uuid4().hex
        self.place = Where(str(path) if path else MEMORY)
        self._path = path
        self._locks = OwnerLocks(path, self.owner) if path else None
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None

    def open(self) -> None:
        if self._path:
            _make_private(self._path)
        with self._translated():
            self._connection = sqlite3.connect(self._path or MEMORY, timeout=WAIT, isolation_level=None)
            self._inode = self._there()
            self._check()
            self._switch_to_wal()
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        with self.transaction(), self._translated():
            self._make_schema()
            if self._locks:
                self._locks.take()
                self._locks.sweep()

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(sqlite3.Error):
                connection.close()
        if self._locks:
            self._locks.release()

    def run(self, statement: str, values: Mapping[str, Any]) -> int:
        try:
            return self._open.execute(statement, values).rowcount
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def rows(self, statement: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        try:
            return self._open.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        connection = self._open
        with self._translated():
            connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._translated():
                connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def ended(self, owner: str) -> bool:
        return self._locks is None or self._locks.ended(owner)

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RunStoreError("the store is closed", where=self.place, mend="open it anew")
        if self._there() != self._inode:
            # In WAL mode SQLite itself goes on writing into a file that nobody will ever find again.
            raise RunStoreError(
                "the file was removed or replaced while it was open", where=self.place, mend="open it anew"
            )
        return self._connection

    def _there(self) -> tuple[int, int] | None:
        """Which file it is that stands in its place."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _number(self, of: str) -> int:
        return int(self._open.execute(of).fetchone()[0])

    def _check(self) -> None:
        self._open.execute("BEGIN")  # all of it is of one moment: another process may be making the tables
        version = self._number("PRAGMA user_version")
        ours = self._number("PRAGMA application_id") == _APPLICATION
        tables = self._number("SELECT count(*) FROM sqlite_master")
        self._open.execute("ROLLBACK")
        if not ours and (version or tables):
            problem = "the database is another program's"
            raise RunStoreError(problem, where=self.place, mend="name another file")
        if version > sql.VERSION:
            raise newer(version, self.place)

    def _switch_to_wal(self) -> None:
        """The switch itself does not wait for others, who may be about to make the same one."""
        deadline = time.monotonic() + WAIT
        while True:
            try:
                self._open.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _make_schema(self) -> None:
        if self._number("PRAGMA user_version") == sql.VERSION:
            return
        for statement in sql.SCHEMA:
            self._open.execute(statement)
        self._open.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._open.execute(f"PRAGMA user_version = {sql.VERSION}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def _trouble(self, error: sqlite3.Error) -> RunStoreError:
        code = getattr(error, "sqlite_errorname", "")
        for name, problem, mend in _TROUBLE:
            if code.startswith(name):
                return RunStoreError(problem, where=self.place, mend=mend)
        said = cut(one_line(str(error)), _SAID)
        return RunStoreError(
            f"the database fails: {said}", where=self.place, mend="check the file and its disk"
        )


def _make_private(path: Path) -> None:
    """Make an empty file of mode 0600, before SQLite would make it as the umask says; its WAL follows it."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise RunStoreError(
            f"the file cannot be made: {error.strerror}",
            where=Where(str(path)),
            mend="check that its directory exists and can be written",
        ) from None


class SqliteRunStore(RunKeeper):
    """A `RunStore` in a SQLite file or in memory; use it in the thread that opened it."""

    def __init__(self, file: _File) -> None:
        super().__init__(Ledger(file))
        self._file = file

    @classmethod
    def open(cls, path: Path | None, workspace: str) -> Self:
        """Open a file, or memory (None); settle what ended processes left, and prune.

        Args:
            path: the file; made where there is none, in a directory that exists.
            workspace: whose old runs are pruned, as `Run.workspace` has it.

        Raises:
            RunStoreError: it cannot be used.
        """
        store = cls(_File(path.resolve() if path else None))
        try:
            store._file.open()
            store._ledger.settle_ended(time.time())
            store._ledger.prune(workspace)
        except BaseException:
            store._file.close()
            raise
        return store

    async def _do(self, work: Callable[[], T]) -> T:
        return work()

    async def close(self) -> None:
        """See `RunStore`. Closing twice is closing once."""
        try:
            with suppress(RunStoreError):  # the lock's end says the same to whoever comes next
                self._ledger.abandon(time.time())
        finally:
            self._file.close()
