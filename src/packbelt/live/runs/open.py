"""`open_runs`: the place where runs are kept, by its name."""

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from packbelt.live.runs.ids import new_run_id
from packbelt.live.runs.record import RunStoreError
from packbelt.live.runs.sqlite import MEMORY, SqliteRunStore
from packbelt.live.runs.store import RunStore
from packbelt.live.secret import Secret
from packbelt.model import Where

__all__ = ["new_run_id", "open_runs", "state_directory"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?=:)")
"""Two letters at least: one is a drive."""
_POSTGRES = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_FORMS = "a path, sqlite:///path, :memory: or postgresql://user:password@host/database"


@asynccontextmanager
async def open_runs(
    where: str | Path | RunStore | None, *, workspace: Path, environ: Mapping[str, str] | None = None
) -> AsyncIterator[RunStore]:
    """Open the place where runs are kept, and close it at the end.

    Opening settles the runs of processes that have ended, and forgets all but the last 1,000 finished runs of
    this workspace. A path's directory is made where it is missing, for this user alone (0700); the file too
    (0600).

    Args:
        where: a SQLite file's path or URL (`sqlite:///relative`, `sqlite:////absolute`); `:memory:`; a
            PostgreSQL URL; None for `runs.sqlite3` in the user's state directory; or a store, which is
            used as it is and left open.
        workspace: whose runs; as text it is `Run.workspace`.
        environ: where the user's state directory is looked up; the process's environment by default.

    Raises:
        RunStoreError: it is none of these, or cannot be used. No password is in it.
    """
    if where is not None and not isinstance(where, (str, Path)):
        yield where
        return
    if isinstance(where, str) and _scheme(where) in _POSTGRES:
        from packbelt.live.runs.postgres import PostgresRunStore  # noqa: PLC0415  # an extra

        url, where = Secret(where), ""  # no frame of a failure holds the password
        store: RunStore = await PostgresRunStore.open(url, str(workspace))
    else:
        path = state_directory(os.environ if environ is None else environ) / "runs.sqlite3"
        place, where = where if isinstance(where, Path | None) else Secret(where), ""
        file = path if place is None else _file(place)
        if file is not None:
            _make_directory(file.parent)
        store = SqliteRunStore.open(file, str(workspace))
    try:
        yield store
    finally:
        await store.close()


def state_directory(environ: Mapping[str, str]) -> Path:
    """The directory of packbelt among what the user's programs keep; `XDG_STATE_HOME` wins where absolute."""
    stated = Path(environ.get("XDG_STATE_HOME", ""))
    if stated.is_absolute():
        return stated / "packbelt"
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "packbelt"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "packbelt"
    return home / ".local" / "state" / "packbelt"


def _scheme(where: str) -> str:
    found = _SCHEME.match(where)
    return found.group().lower() if found else ""


def _file(place: Path | Secret) -> Path | None:
    """The SQLite file that is meant; None for memory."""
    if isinstance(place, Path):
        return place.expanduser()
    where = place.reveal()
    if where == MEMORY:
        return None
    scheme = _scheme(where)
    if scheme == "sqlite":
        path = where.partition(":")[2].removeprefix("//")
        if path in ("", "/", f"/{MEMORY}"):
            return None
        if not path.startswith("/") or "?" in path:
            raise RunStoreError(
                "a SQLite URL has three slashes and no parameters", mend="write sqlite:///path"
            )
        return Path(path[1:])
    if scheme:
        where = ""  # it may be another database's address, with its password
        raise RunStoreError(
            f"runs cannot be kept in {scheme}:", mend=f"say {_FORMS} (a file's name with a colon: ./name)"
        )
    if not where.strip():
        raise RunStoreError("the place for runs is empty", mend=f"say {_FORMS}")
    return Path(where).expanduser()


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RunStoreError(
            f"the directory for runs cannot be made: {error.strerror}",
            where=Where(str(directory)),
            mend="name another place",
        ) from None
