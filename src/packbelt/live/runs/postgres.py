"""Runs in PostgreSQL, for several processes on several machines: by SQLAlchemy and psycopg 3 (an extra).

A store has one connection. It carries both the store's lock (a session's advisory lock, which PostgreSQL ends
with the session) and its statements, so that a statement that goes through was made by a session that holds
the lock. A lost connection is made anew: under a new name, to which the runs still at work are moved first. A
process whose session the server has ended counts as ended until then; when it comes back and a run was taken
from it, its next mark fails, before the call. A pooler between must pool sessions, not transactions.

Work is done in a worker thread and not broken off: what is under way when its task is cancelled is completed.
"""

import importlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
import anyio.to_thread

from packbelt.live.runs import statements as sql
from packbelt.live.runs.keeper import RunKeeper
from packbelt.live.runs.ledger import Ledger, newer
from packbelt.live.runs.record import RunStoreError
from packbelt.live.secret import Secret, masked
from packbelt.model import Where
from packbelt.model.text import cut, one_line

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, TextClause

T = TypeVar("T")

DRIVER = "postgresql+psycopg"
PAUSES = (0.1, 0.3, 0.6, 1.0, 2.0)
"""Seconds between attempts to make a lost connection anew; a server that restarts takes about two."""
_CONNECT = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # milliseconds
    "application_name": "packbelt",
}
"""Of libpq; what the URL says wins."""
_SCHEMA_LOCK = 0x7061636B62656C74
_IN_QUERY = frozenset({"password", "sslpassword"})
_SAID = 300
"""Bytes of PostgreSQL's own words in an error."""

# Our session waits for nothing for ever, blocks nobody for long, and is not ended for being idle.
_SETTINGS = """SELECT set_config(known.name, wanted.value, false) FROM pg_settings AS known
    JOIN (VALUES ('lock_timeout', '10s'), ('idle_in_transaction_session_timeout', '30s'),
        ('idle_session_timeout', '0')) AS wanted (name, value) ON wanted.name = known.name"""
_HOLD = "SELECT pg_advisory_lock(CAST(:owner AS BIGINT))"
# Shared, so that two that ask at once do not take each other for the owner.
_ASK = "SELECT pg_try_advisory_xact_lock_shared(CAST(:owner AS BIGINT))"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(CAST(:key AS BIGINT))"
# Not to_regclass: it answers from a cache, which waiting for an advisory lock does not refresh.
_HAS_SCHEMA = """SELECT EXISTS (SELECT 1 FROM pg_class
    WHERE relname = 'packbelt_schema' AND pg_table_is_visible(oid))"""
_VERSION = "SELECT version FROM packbelt_schema"
_MAKE_VERSION = (
    "CREATE TABLE packbelt_schema (version INTEGER NOT NULL)",
    "INSERT INTO packbelt_schema (version) VALUES (:version)",
)


class _LostError(Exception):
    """The connection is lost, or could not be made anew; carries what to raise if it stays so."""

    def __init__(self, error: RunStoreError) -> None:
        self.error = error
        super().__init__()


@cache
def _prepared(statement: str) -> "TextClause":
    from sqlalchemy import text  # noqa: PLC0415  # an extra, imported where it is used

    return text(statement)


class _Session:
    """One connection, and one owner's lock on it."""

    def __init__(self, url: "URL") -> None:
        from sqlalchemy import NullPool, create_engine  # noqa: PLC0415  # an extra

        self.owner = ""
        self._names: list[str] = []  # under which runs of this store may still stand
        self.place = Where(url.set(drivername="postgresql", query={}).render_as_string(hide_password=True))
        self._secrets = _secrets_of(url)
        self._engine: Engine = create_engine(
            url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",  # a statement is one trip; transactions say so
            connect_args={name: value for name, value in _CONNECT.items() if name not in url.query},
            hide_parameters=True,
        )
        self._connection: Connection | None = None
        self._closed = False

    def open(self) -> None:
        """Connect and hold a lock of a new name; the runs that stood under the old one are moved to it."""
        if self._closed:
            raise RunStoreError("the store is closed", where=self.place, mend="open it anew")
        if self._connection is not None:
            return
        owner = str(secrets.randbits(63))
        with self._translated():
            self._connection = self._engine.connect()
        try:
            self.rows(_SETTINGS, {})
            self.rows(_HOLD, {"owner": owner})
            if self._names:
                self._move(owner)
            else:
                self._make_schema()
        except BaseException:
            self._drop()
            raise
        self._names = [owner]
        self.owner = owner

    def close(self) -> None:
        self._closed = True
        self._drop()
        self._engine.dispose()

    def run(self, statement: str, values: Mapping[str, Any]) -> int:
        with self._translated():
            return int(self._open.execute(_prepared(statement), dict(values)).rowcount)

    def rows(self, statement: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        with self._translated():
            return [tuple(row) for row in self._open.execute(_prepared(statement), dict(values))]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.run("BEGIN", {})
        try:
            yield
            self.run("COMMIT", {})
        except _LostError:
            raise
        except BaseException:
            with suppress(_LostError):
                self.run("ROLLBACK", {})
            raise

    def ended(self, owner: str) -> bool:
        return bool(self.rows(_ASK, {"owner": owner})[0][0])

    @property
    def _open(self) -> "Connection":
        if self._connection is None:
            raise RunStoreError("the store is closed", where=self.place, mend="open it anew")
        return self._connection

    def _make_schema(self) -> None:
        if not self.rows(_HAS_SCHEMA, {})[0][0]:
            with self.transaction():
                self.rows(_ONE_AT_A_TIME, {"key": _SCHEMA_LOCK})
                if not self.rows(_HAS_SCHEMA, {})[0][0]:
                    for statement in (*sql.SCHEMA, *_MAKE_VERSION):
                        self.run(statement, {"version": sql.VERSION})
        version = int(self.rows(_VERSION, {})[0][0])
        if version > sql.VERSION:
            raise newer(version, self.place)

    def _move(self, owner: str) -> None:
        before = tuple(self._names)
        self._names.append(owner)  # if the connection is lost again, it is not known which of them holds
        for name in before:
            self.run(sql.TRANSFER, {"owner": owner, "before": name})

    def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(Exception):  # whatever is wrong with it, it is given up
                connection.invalidate()
            with suppress(Exception):
                connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from sqlalchemy import exc  # noqa: PLC0415  # an extra

        try:
            yield
        except exc.SQLAlchemyError as error:
            lost = self._connection is None or (
                isinstance(error, exc.DBAPIError) and error.connection_invalidated
            )
            said = masked(_words(error), self._secrets)
            if lost:
                self._drop()
                raise _LostError(
                    RunStoreError(
                        f"PostgreSQL cannot be reached: {said}",
                        where=self.place,
                        mend="check that it runs, and the URL's host, database, user and password",
                    )
                ) from None
            raise RunStoreError(
                f"PostgreSQL refuses: {said}",
                where=self.place,
                mend="check this role's rights on the tables packbelt_*",
            ) from None


class PostgresRunStore(RunKeeper):
    """A `RunStore` in a PostgreSQL database."""

    def __init__(self, session: _Session) -> None:
        super().__init__(Ledger(session))
        self._session = session
        self._turn = threading.Lock()  # a task that is cancelled by asyncio itself leaves its thread behind
        self._queue = anyio.CapacityLimiter(1)

    @classmethod
    async def open(cls, url: Secret, workspace: str) -> Self:
        """Connect; make the tables where there are none; settle what ended processes left, and prune.

        Args:
            url: `postgresql://user:password@host:port/database?sslmode=require`.
            workspace: whose old runs are pruned, as `Run.workspace` has it.

        Raises:
            RunStoreError: it cannot be used, or the extra is not installed.
        """
        store = cls(_Session(_parsed(url)))

        def start() -> None:
            store._session.open()
            store._ledger.settle_ended(time.time())
            store._ledger.prune(workspace)

        try:
            await store._in_thread(start)
        except _LostError as lost:
            await store.close()
            raise lost.error from None
        except BaseException:
            await store.close()
            raise
        return store

    async def _do(self, work: Callable[[], T]) -> T:
        def attempt() -> T:
            self._session.open()
            return work()

        # A mark is made precisely when things are cancelled: it is not to be lost by that.
        with anyio.CancelScope(shield=True):
            for pause in (*PAUSES, None):
                try:
                    return await self._in_thread(attempt)
                except _LostError as lost:
                    if pause is None:
                        raise lost.error from None
                    await anyio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        def in_turn() -> T:
            with self._turn:
                return work()

        return await anyio.to_thread.run_sync(in_turn, limiter=self._queue)

    async def close(self) -> None:
        """See `RunStore`. Closing twice is closing once."""

        def end() -> None:
            try:
                with suppress(RunStoreError, _LostError):  # the lock's end says the same to who comes next
                    self._ledger.abandon(time.time())
            finally:
                self._session.close()

        with anyio.CancelScope(shield=True):
            await self._in_thread(end)


def _parsed(url: Secret) -> "URL":
    try:
        importlib.import_module("psycopg")
        from sqlalchemy import exc, make_url  # noqa: PLC0415  # an extra
    except ImportError:
        raise RunStoreError(
            "runs in PostgreSQL need the extra `postgres`", mend="pip install 'packbelt[postgres]'"
        ) from None
    # Kept in no variable: a failure's frames may be shown.
    if (
        url.reveal().partition("://")[2].count("@") > 1
    ):  # one of a password: what follows it would be shown as the host
        raise RunStoreError(
            "the URL for runs has more than one @", mend="write an @ in user or password as %40, a ? as %3F"
        )
    try:
        parsed = make_url(url.reveal().replace(url.reveal().partition("://")[0], DRIVER, 1))
    except (exc.ArgumentError, ValueError):  # their words may quote the password
        raise RunStoreError(
            "the URL for runs cannot be read",
            mend="write postgresql://user:password@host:port/database, with %-escapes for / ? # @ : inside",
        ) from None
    if parsed.query.keys() & _IN_QUERY:
        del parsed
        raise RunStoreError(
            "the URL for runs has a password among its parameters",
            mend="write it before the @, or keep it in PGPASSWORD or ~/.pgpass",
        )
    return parsed


def _secrets_of(url: "URL") -> tuple[Secret, ...]:
    return (Secret(str(url.password)),) if url.password else ()


def _words(error: Exception) -> str:
    """The first line of what PostgreSQL said, without SQLAlchemy's frame around it."""
    said = str(getattr(error, "orig", None) or error).strip()
    return cut(one_line(said.splitlines()[0] if said else type(error).__name__), _SAID)
