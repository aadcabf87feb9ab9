"""One server's fault is its own: the others go on, and nothing is left behind."""

import asyncio
import json
import signal
import subprocess
import sys

import anyio
import pytest
from live_helpers import FAKE, QUICK, Log, call, connected, gone, text, until

from packbelt.catalog.workspace import Times
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])
HASTY = Times(start=20, list=20, call=0.5, shutdown=2)

FAULTS = {
    "exit": ([["exit", 0]], "ambiguous"),
    "killed": (["kill"], "ambiguous"),
    "output closed": (["close"], "ambiguous"),
    "hang": ([], "ambiguous"),
    "junk and silence": ([["junk", 2]], "ambiguous"),
    "junk and an answer": ([["junk", 2], "echo"], "ok"),
    "errors and an answer": ([["stderr", 20], "echo"], "ok"),
    "other answer": ([["other", {"content": []}]], "ambiguous"),
    "ten megabytes": ([["big", 10 << 20]], "tool_error"),
    "nested too deep": ([["raw", '{"jsonrpc":"2.0","id":3,"result":' + "[" * 100_000]], "ambiguous"),
}


@ERAS
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_its_own_servers(fake, pids, era, name):
    steps, outcome = FAULTS[name]
    log = Log()

    async def run():
        good = fake("good", era=era, calls={"echo": ["sleep", "echo"]})
        async with connected(good, log=log) as other:
            times = QUICK if name == "output closed" else HASTY
            async with connected(
                fake("bad", era=era, calls={"bad": steps, "echo": ["echo"]}), times=times
            ) as c:
                beside = asyncio.create_task(call(other, "echo", delay=0.2))
                answer = await call(c, "bad")
                assert answer.outcome == outcome, answer
                assert text(await beside) == '{"delay": 0.2}'
                await until(lambda: c.state.status is ServerStatus.CONNECTED)
                assert text(await call(c, "echo", a=1)) == '{"a": 1}'
            assert text(await call(other, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())
    assert log.statuses == ["starting", "connected"]
    assert all(map(gone, pids()))


def test_lc06_one_callers_end_is_not_anothers(fake):
    async def run():
        async with connected(fake(calls={"echo": ["sleep", "echo"]})) as connection:

            async def caller(delay):
                return text(await call(connection, "echo", delay=delay))

            for first, second in [(0.05, 0.15), (0.15, 0.05)]:
                tasks = [asyncio.create_task(caller(first)), asyncio.create_task(caller(second))]
                assert [json.loads(await task)["delay"] for task in tasks] == [first, second]
            leaving, staying = (asyncio.create_task(caller(0.2)) for _ in range(2))
            await anyio.sleep(0.05)
            leaving.cancel()
            assert json.loads(await staying)["delay"] == 0.2

    asyncio.run(run())


def test_a_server_that_does_not_read_is_not_waited_for_for_ever(fake):
    async def run():
        spec = fake(calls={"wedge": ["wedge"], "echo": ["echo"]})
        async with connected(spec, times=HASTY) as connection:
            await call(connection, "wedge")
            full = await call(connection, "echo", text="x" * (4 << 20))
            assert full.outcome is Outcome.AMBIGUOUS
            behind = await call(connection, "echo", text="x")
            assert behind.outcome in (Outcome.AMBIGUOUS, Outcome.NOT_STARTED)

    asyncio.run(run())


SCRIPT = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from live_helpers import connected
from packbelt.catalog.workspace import ServerSpec

async def main():
    async with connected(ServerSpec("s", "stdio", command=sys.executable, args=("-S", *sys.argv[2:]))):
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_server_that_reads_its_input_does_not_outlive_a_killed_host(pids):
    config = json.dumps({"pids": str(pids.file), "calls": {"echo": ["echo"]}})
    command = [sys.executable, "-c", SCRIPT, str(FAKE.parent), str(FAKE), config]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout.readline() == "ready\n"
        host.send_signal(signal.SIGKILL)
    pids.assert_gone(1)
