"""Which stores on a SQLite file live: each holds a lock on a file of its own, which the kernel ends with it.

All of this is called inside write transactions on that SQLite file, of which one at a time happens: so nobody
asks for a lock between its file's making and its taking, and no two ask at once.
"""

import os
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor

from packbelt.live.runs.record import RunStoreError
from packbelt.model import Where


class OwnerLocks:
    """The lock files beside a database, in `<file>-owners/`, and the one that is held.

    Args:
        database: the database's file, resolved, so that all its users have one directory.
        owner: the name of the store that will hold one.
    """

    def __init__(self, database: Path, owner: str) -> None:
        self._directory = database.with_name(database.name + "-owners")
        self._mine = self._file(owner)
        self._held: int | None = None

    def take(self) -> None:
        """Hold the owner's lock until `release`, or until the process ends.

        Raises:
            RunStoreError: the file system does not let it.
        """
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            self._held = os.open(self._mine, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            lock_descriptor(self._held, blocking=False)  # a new file: nobody else has it
        except OSError as error:
            raise RunStoreError(
                f"no lock can be held beside the database: {error.strerror}",
                where=Where(str(self._directory)),
                mend="check its permissions, or keep runs on another file system",
            ) from None

    def release(self) -> None:
        """Let go; once is enough."""
        if self._held is not None:
            held, self._held = self._held, None
            with suppress(OSError):  # where an open file cannot be removed, the next sweep does it
                self._mine.unlink()
            os.close(held)

    def ended(self, owner: str) -> bool:
        """Whether nobody holds an owner's lock; its file is then removed."""
        return self._remove_if_free(self._file(owner))

    def sweep(self) -> None:
        """Remove the files of all that ended without a word."""
        for file in self._directory.glob("*.lock"):
            if file != self._mine:
                self._remove_if_free(file)

    def _file(self, owner: str) -> Path:
        return self._directory / f"{owner}.lock"

    @staticmethod
    def _remove_if_free(file: Path) -> bool:
        try:
            asked = os.open(file, os.O_RDWR)
        except FileNotFoundError:
            return True
        except OSError:
            return False  # it cannot be asked: nothing is taken from whom it may belong to
        try:
            free = lock_descriptor(asked, blocking=False)
        finally:
            os.close(asked)
        if free:
            with suppress(OSError):
                file.unlink()
        return free
