"""Places where runs are kept, seen from outside the store, and other processes on them."""

import multiprocessing
import secrets
import signal
import sqlite3
import time
from contextlib import closing

from runs_worker import work

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["runs_worker", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"])


class SqlitePlace:
    """A SQLite file, and its database without the store."""

    def __init__(self, path):
        self.where = path

    def sessions(self):
        return 0

    def sql(self, statement, *values):
        with closing(sqlite3.connect(self.where)) as connection, connection:
            return connection.execute(statement, values).fetchall()


class PostgresPlace:
    """A schema of its own in PostgreSQL, and the database without the store."""

    def __init__(self, url):
        self.server = url
        self.schema = f"t{secrets.token_hex(8)}"
        self.where = f"{url}?options=-csearch_path%3D{self.schema}"

    def sessions(self):
        """How many stores are connected; the server takes note of an end a moment after it."""
        return len(self.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'packbelt'"))

    def wait_for_sessions(self, count):
        deadline = time.monotonic() + 20
        while (still := self.sessions()) > count:
            assert time.monotonic() < deadline, f"{still} sessions are open"
            time.sleep(0.005)

    def sql(self, statement, *values):
        import psycopg

        with psycopg.connect(self.where, autocommit=True) as connection:
            done = connection.execute(statement.replace("?", "%s"), values or None)
            return done.fetchall() if done.description else []


class Worker:
    """A real second process; see `runs_worker.py`. It is forked from one that has all imported already."""

    def __init__(self, place):
        self.place = place
        self.pipe, theirs = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=work, args=(place.where, theirs))
        self.process.start()
        theirs.close()

    def opened(self):
        assert self.heard() == "open"
        return self

    def say(self, *words):
        self.pipe.send(" ".join(words))

    def heard(self):
        assert self.pipe.poll(60), "it does not answer"
        return self.pipe.recv()

    def ask(self, *words):
        self.say(*words)
        return self.heard()

    def kill(self):
        """By SIGKILL: it can do nothing about it."""
        before = self.place.sessions()
        self.process.kill()
        assert self.gone() == -signal.SIGKILL
        if before:
            self.place.wait_for_sessions(before - 1)

    def end(self):
        """As a process that has done its work; gives its exit code."""
        self.say("")
        return self.gone()

    def gone(self):
        self.process.join(60)
        self.pipe.close()
        return self.process.exitcode
