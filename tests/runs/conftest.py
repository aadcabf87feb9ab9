import os
import secrets
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from worker import WORKSPACE

from packbelt.live.runs import open_runs

VARIABLE = "PACKBELT_TEST_POSTGRES"
WORKER = Path(__file__).with_name("worker.py")


class SqlitePlace:
    """A SQLite file, and its database without the store."""

    def __init__(self, path):
        self.where = path

    def sql(self, statement, *values):
        with closing(sqlite3.connect(self.where)) as connection, connection:
            return connection.execute(statement, values).fetchall()


class PostgresPlace:
    """A schema of its own in PostgreSQL, and the database without the store."""

    def __init__(self, url):
        self.server = url
        self.schema = f"t{secrets.token_hex(8)}"
        self.where = f"{url}?options=-csearch_path%3D{self.schema}"

    def sql(self, statement, *values):
        import psycopg

        with psycopg.connect(self.where, autocommit=True) as connection:
            done = connection.execute(statement.replace("?", "%s"), values or None)
            return done.fetchall() if done.description else []


class Worker:
    """A real second process; see `worker.py`."""

    def __init__(self, where):
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PLACE": str(where)},
        )

    def opened(self):
        assert self.heard() == "open"
        return self

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def heard(self):
        return self.process.stdout.readline().strip()

    def ask(self, *words):
        self.say(*words)
        return self.heard()

    def kill(self):
        """By SIGKILL: it can do nothing about it."""
        self.process.kill()
        self.end()

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code


@pytest.fixture
def postgres():
    url = os.environ.get(VARIABLE)
    if not url:
        if os.environ.get("CI"):
            pytest.fail(f"{VARIABLE} is not set; .ci/postgres.sh sets it")
        pytest.skip(f"{VARIABLE} is not set; run: .ci/postgres.sh uv run pytest tests/runs")
    place = PostgresPlace(url)
    place.sql(f"CREATE SCHEMA {place.schema}")
    yield place
    place.sql(f"DROP SCHEMA {place.schema} CASCADE")


@pytest.fixture
def sqlite(tmp_path):
    return SqlitePlace(tmp_path / "runs.sqlite3")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def opened(place):
    """Open a store of the place, as an asynchronous context manager."""
    return lambda workspace=WORKSPACE: open_runs(place.where, workspace=Path(workspace))


@pytest.fixture
def worker(place):
    """Start a second process on the place; several, if asked several times."""
    started = []

    def start():
        started.append(Worker(place.where))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()
