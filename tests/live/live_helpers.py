import os
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from packbelt.catalog.workspace import Times
from packbelt.live.servers.backoff import Backoff
from packbelt.live.servers.connection import Connection, Settings

FAKE = Path(__file__).with_name("fake_server.py")
QUICK = Times(start=20, list=20, shutdown=2)
IMPATIENT = Times(start=0.6, list=0.6, shutdown=0.6)
AT_ONCE = Backoff(first=0.005, most=0.02)
"""Starts again without a pause that a test would notice."""


def gone(pid):
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return not stat.parent.parent.exists() or not stat.exists()


class Pids:
    """The processes that wrote their ids into a file."""

    def __init__(self, file):
        self.file = file

    def __call__(self):
        return [int(line) for line in self.file.read_text().split()] if self.file.exists() else []

    def wait_for(self, count):
        deadline = time.monotonic() + 20
        while len(self()) < count:
            assert time.monotonic() < deadline, f"{len(self())} of {count} processes started"
            time.sleep(0.01)

    def assert_gone(self, count):
        """So many started and none is left, at once or as soon as the system has cleaned up after SIGKILL."""
        assert len(self()) == count
        deadline = time.monotonic() + 3
        while left := [pid for pid in self() if not gone(pid)]:
            assert time.monotonic() < deadline, f"still alive: {left}"
            time.sleep(0.01)


def tools(count):
    return [
        {"name": f"t{i:03}", "description": f"Tool {i}.", "inputSchema": {"type": "object"}}
        for i in range(count)
    ]


def children():
    """The processes that this one started and has not seen the end of."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def descriptors():
    """What is open here, by number."""
    found = {}
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing's own
            found[link.name] = str(link.readlink())
    return found


async def until(true):
    """Wait for something to become true."""
    with anyio.fail_after(20):
        while not true():
            await anyio.sleep(0.005)


class Log:
    """What a connection told of itself."""

    def __init__(self):
        self.states = []

    def __call__(self, state):
        self.states.append(state)

    @property
    def statuses(self):
        return [str(state.status) for state in self.states]


@asynccontextmanager
async def connected(spec, *, times=QUICK, environ=None, log=None, concurrency=8, backoff=AT_ONCE, **settings):
    """A running connection, once it is settled; ended afterwards."""
    shared = Settings(
        root=Path("/"),
        times=times,
        environ=environ,
        starts=anyio.CapacityLimiter(16),
        backoff=backoff,
        **settings,
    )
    connection = Connection(spec, shared, on_state=log or Log(), concurrency=concurrency)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        try:
            await connection.settled()
            yield connection
        finally:
            connection.stop()


class Sent:
    """A `dispatching` that remembers how often it was awaited."""

    def __init__(self):
        self.times = 0

    async def __call__(self):
        self.times += 1


async def call(connection, tool, _elicit=None, **arguments):
    """The answer to a call."""
    return await connection.call(tool, arguments, dispatching=Sent(), elicit=_elicit)


def text(answer):
    """The text of an answer's only block."""
    (block,) = answer.content
    return block["text"]
