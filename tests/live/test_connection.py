"""One server from its first start to its end: states, restarts, who may stop it and when."""

import asyncio
import hashlib
import json
import os
import signal
import sys
from pathlib import Path

import anyio
import pytest
from live_helpers import AT_ONCE, IMPATIENT, QUICK, Log, call, connected, descriptors, text, tools, until

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.live.servers.backoff import Backoff
from packbelt.live.servers.connection import Connection, Settings
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
ECHO = {"echo": ["echo"], "exit": [["exit", 3]], "kill": ["kill"], "close": ["close"]}


@pytest.mark.parametrize("era", ["initialize", "modern"])
def test_it_starts_and_says_so(fake, pids, era):
    log = Log()

    async def run():
        async with connected(fake(era=era, tools=tools(2), instructions="Ask."), log=log) as connection:
            assert connection.state.names == ("t000", "t001")
            assert connection.state.instructions == "Ask."

    asyncio.run(run())
    assert log.statuses == ["starting", "connected"]
    pids.assert_gone(1)


def test_lc01_twenty_in_turn_leave_nothing(fake, pids):
    async def run():
        counts = []
        for _ in range(20):
            async with connected(fake(calls=ECHO)) as connection:
                assert text(await call(connection, "echo", a=1)) == '{"a": 1}'
            counts.append(len(descriptors()))
        return counts

    counts = asyncio.run(run())
    pids.assert_gone(20)
    assert counts[-1] == counts[0]


def test_lc02_a_wrapper_that_ends_first_takes_its_server_along(fake, pids):
    plain = fake(calls=ECHO)
    script = '"$@" <&3 3<&- & exec 3<&-; exit 0'
    wrapped = ServerSpec(
        "w", "stdio", command="sh", args=("-c", f"exec 3<&0; {script}", "sh", plain.command, *plain.args)
    )

    async def run():
        async with connected(wrapped) as connection:
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())
    pids.assert_gone(1)


def test_lc23_stopped_by_other_tasks_in_any_order(fake, pids):
    async def run():
        log = Log()
        shared = Settings(Path("/"), QUICK, None, anyio.CapacityLimiter(16), backoff=AT_ONCE)
        every = [Connection(fake(name, tools=tools(1)), shared, on_state=log) for name in "abc"]

        async def stop(connection):
            connection.stop()
            connection.stop()

        async with anyio.create_task_group() as tasks:
            for connection in every:
                tasks.start_soon(connection.run)
            for connection in every:
                await connection.settled()
            async with anyio.create_task_group() as others:
                for connection in every:  # first in, first out
                    others.start_soon(stop, connection)
        assert not asyncio.current_task().cancelling()

    asyncio.run(run())
    pids.assert_gone(3)


@pytest.mark.parametrize("when", ["before", "starting", "listing", "waiting", "connected"])
def test_lc23_stopped_at_any_time(fake, pids, when):
    async def run():
        options = {"before": {}, "starting": {"era": "mute"}, "listing": {"hang": ["tools/list"]}}.get(
            when, {"tools": tools(1)}
        )
        spec = fake(**options) if when != "waiting" else ServerSpec("e", "stdio", command="false")
        shared = Settings(
            Path("/"), QUICK, None, anyio.CapacityLimiter(1), backoff=Backoff(first=60, most=60)
        )
        connection = Connection(spec, shared, on_state=Log())
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                if when == "before":
                    connection.stop()
                tasks.start_soon(connection.run)
                if when in ("starting", "listing"):
                    await anyio.to_thread.run_sync(pids.wait_for, 1)
                else:
                    await connection.settled()
                connection.stop()
            await connection.settled()

    asyncio.run(run())
    assert all(Path(f"/proc/{pid}").exists() is False for pid in pids())


def test_cancelling_its_task_ends_it(fake, pids):
    async def run():
        shared = Settings(Path("/"), QUICK, None, anyio.CapacityLimiter(1))
        connection = Connection(fake(tools=tools(1), deaf=True), shared, on_state=Log())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            await connection.settled()
            tasks.cancel_scope.cancel()

    asyncio.run(run())
    pids.assert_gone(1)


def test_it_outlives_closed_input_and_is_ended_all_the_same(fake, pids):
    async def run():
        async with connected(fake(tools=tools(1), deaf=True), times=IMPATIENT):
            pass

    asyncio.run(run())
    pids.assert_gone(1)


HOPELESS = {
    "missing": (ServerSpec("x", "stdio", command="no-such-command-anywhere"), "command not found"),
    "unset": (ServerSpec("x", "stdio", command="true", env={"T": "${PACKBELT_TEST_UNSET}"}), "env.T needs"),
    "plain": (ServerSpec("x", "http", url="http://example.com/"), "its `url` must be https"),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_what_waiting_cannot_mend_stays_failed(name):
    spec, line = HOPELESS[name]
    log = Log()

    async def run():
        shared = Settings(Path("/"), QUICK, None, anyio.CapacityLimiter(1), backoff=AT_ONCE)
        connection = Connection(spec, shared, on_state=log)
        with anyio.fail_after(20):
            await connection.run()  # returns by itself
        answer = await call(connection, "echo")
        assert (answer.outcome, line in answer.detail) == (Outcome.NOT_STARTED, True)

    asyncio.run(run())
    assert log.statuses[-1] == "failed"
    assert log.states[-1].error.startswith(line)


def test_hr20_a_start_that_failed_is_tried_again_and_brings_its_tools(fake, pids, tmp_path):
    log = Log()

    async def run():
        spec = fake(once=str(tmp_path / "once"), tools=tools(1))
        async with connected(spec, log=log) as connection:
            assert connection.state.error == "exited with 1 before it could answer: not yet"
            await until(lambda: connection.state.status is ServerStatus.CONNECTED)
            assert connection.state.names == ("t000",)

    asyncio.run(run())
    assert log.statuses == ["starting", "failed", "connected"]
    pids.assert_gone(2)


def test_slow_is_not_late(fake):
    async def run():
        async with connected(fake(slow=0.3, tools=tools(1))) as connection:
            assert connection.state.status is ServerStatus.CONNECTED
        late = fake(slow=60, tools=tools(1))
        async with connected(late, times=Times(start=0.2, list=20, shutdown=1)) as connection:
            assert connection.state.status is ServerStatus.FAILED
            assert connection.state.error == "did not answer within 0.2 s"

    asyncio.run(run())


def test_hanging_at_the_list_is_a_failure_in_its_own_time(fake):
    async def run():
        times = Times(start=20, list=0.3, shutdown=1)
        async with connected(fake(hang=["tools/list"]), times=times) as connection:
            assert connection.state.error == "did not list its tools within 0.3 s"

    asyncio.run(run())


@pytest.mark.parametrize("era", ["initialize", "modern"])
@pytest.mark.parametrize(
    ("tool", "line"), [("exit", "exited with 3"), ("kill", "was ended by SIGKILL"), ("close", None)]
)
def test_lc28_lost_and_started_again_with_the_same_tools(fake, pids, era, tool, line):
    log = Log()

    async def run():
        async with connected(fake(era=era, calls=ECHO), log=log) as connection:
            before = connection.state
            answer = await call(connection, tool)
            assert answer.outcome is Outcome.AMBIGUOUS
            assert connection.state.status is ServerStatus.DISCONNECTED  # at once
            assert connection.state.tools is before.tools
            await until(lambda: connection.state.status is ServerStatus.CONNECTED)
            after = connection.state
            assert all(a is b for a, b in zip(before.tools, after.tools, strict=True))
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())
    assert log.statuses == ["starting", "connected", "disconnected", "connected"]
    assert log.states[2].error == line or (line is None and log.states[2].error)
    pids.assert_gone(2)


def test_an_idle_server_that_is_killed_is_noticed_without_a_call(fake, pids):
    log = Log()

    async def run():
        async with connected(fake(tools=tools(1)), log=log) as connection:
            os.kill(pids()[0], signal.SIGKILL)
            await until(lambda: len(log.states) > 2)
            assert log.states[2].status is ServerStatus.DISCONNECTED
            await until(lambda: connection.state.status is ServerStatus.CONNECTED)

    asyncio.run(run())
    pids.assert_gone(2)


def test_one_that_cannot_come_back_stays_disconnected_with_its_tools(fake, tmp_path):
    command = tmp_path / "python"
    command.symlink_to(sys.executable)
    spec = fake(calls=ECHO)
    spec = ServerSpec("fake", "stdio", command=str(command), args=spec.args)
    log = Log()

    async def run():
        async with connected(spec, log=log) as connection:
            tools_before = connection.state.tools
            command.unlink()
            await call(connection, "exit")
            await until(lambda: connection.state.status is ServerStatus.FAILED)
            assert connection.state.tools == tools_before
            assert connection.state.error.startswith("command not found")

    asyncio.run(run())


def test_hr10_equal_commands_and_other_environments_are_other_servers(fake):
    async def run():
        one = fake("one", env={"WHO": "1"}, reveal=["WHO"])
        two = fake("two", env={"WHO": "2"}, reveal=["WHO"])
        async with connected(one) as first, connected(two) as second:
            seen = [json.loads(c.state.tools[0].description)["seen"]["WHO"] for c in (first, second)]
            assert seen == [hashlib.sha256(value).hexdigest() for value in (b"1", b"2")]

    asyncio.run(run())


def test_en01_en04_what_reaches_it_after_a_restart_too(fake, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    environ = {"API_TOKEN": "s3cret-value", "PATH": os.environ["PATH"], "AWS_SECRET_ACCESS_KEY": "canary"}

    async def run():
        spec = fake(env={"TOKEN": "${API_TOKEN}"}, reveal=["TOKEN"], calls=ECHO)
        async with connected(spec, environ=environ) as connection:
            for _ in range(2):
                await until(lambda: connection.state.status is ServerStatus.CONNECTED)
                found = json.loads(connection.state.tools[0].description)
                assert found["seen"]["TOKEN"] == hashlib.sha256(b"s3cret-value").hexdigest()
                assert "AWS_SECRET_ACCESS_KEY" not in found["names"]
                await call(connection, "kill")
            assert "s3cret" not in repr(connection) + repr(connection.state)

    asyncio.run(run())


def test_no_secret_in_what_is_said_of_it(fake, caplog):
    environ = {"API_TOKEN": "s3cret-value", "PATH": os.environ["PATH"]}
    error = {"code": -32000, "message": "bad token s3cret-value"}
    calls = {"bad": [["error", error]], "die": [["complain", "Error: s3cret-value"], ["exit", 2]]}
    log = Log()

    async def run():
        async with connected(fake(env={"T": "${API_TOKEN}"}, calls=calls), environ=environ, log=log) as c:
            answers = [await call(c, "bad"), await call(c, "die")]
            assert text(answers[0]) == "bad token ***"
            assert "exited with 2: Error: ***" in answers[1].detail
            return repr(answers) + repr(c) + repr(c.settings) + repr(log.states)

    said = asyncio.run(run())
    assert "s3cret" not in said + caplog.text


def test_starts_wait_their_turn_and_have_their_whole_time(fake):
    async def run():
        turns = anyio.CapacityLimiter(1)
        shared = Settings(Path("/"), QUICK, None, turns, backoff=AT_ONCE)
        every = [Connection(fake(name, tools=tools(1)), shared, on_state=Log()) for name in "abc"]
        async with anyio.create_task_group() as tasks:
            for connection in every:
                tasks.start_soon(connection.run)
            for connection in every:
                await connection.settled()
                assert connection.state.status is ServerStatus.CONNECTED
            assert turns.borrowed_tokens == 0
            for connection in every:
                connection.stop()

    asyncio.run(run())


def test_pauses_double_up_to_a_limit_and_start_again_after_a_good_while():
    backoff = Backoff(first=0.5, most=60)
    for failures, longest in [(1, 0.5), (2, 1), (3, 2), (8, 60), (10_000, 60)]:
        pauses = [backoff.pause(failures) for _ in range(50)]
        assert longest / 2 <= min(pauses) <= max(pauses) <= longest
        assert len(set(pauses)) > 1
    assert backoff.after(5, lasted=59) == 6
    assert backoff.after(5, lasted=60) == 1
