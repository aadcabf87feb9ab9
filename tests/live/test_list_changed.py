"""A list that changes while the server is connected, in both protocol eras."""

import asyncio
import json

import anyio
import pytest
from live_helpers import AT_ONCE, QUICK, Log, call, connected, text, tools, until

from packbelt.catalog.workspace import Times
from packbelt.live.servers.watch import Watch
from packbelt.model import ServerStatus

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])
CHANGE = ["change", "echo"]


def entry(name, description="d"):
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def listings(record):
    return [json.loads(line).get("method") for line in record.read_text().splitlines()].count("tools/list")


@ERAS
def test_lc07_a_new_tool_arrives_during_a_call(fake, era):
    log = Log()

    async def run():
        spec = fake(
            era=era,
            listens=True,
            calls={"change": CHANGE},
            tools=[entry("change")],
            lists=[[entry("change"), entry("new")]],
        )
        async with connected(spec, log=log) as connection:
            first = connection.state.tools[0]
            assert text(await call(connection, "change", a=1)) == '{"a": 1}'
            await until(lambda: connection.state.names == ("change", "new"))
            assert connection.state.tools[0] is first

    asyncio.run(run())
    assert log.statuses == ["starting", "connected", "connected"]


@ERAS
def test_a_description_that_was_swapped_is_seen(fake, era):
    async def run():
        spec = fake(
            era=era,
            listens=True,
            calls={"t": CHANGE},
            tools=[entry("t", "Reads."), entry("u")],
            lists=[[entry("t", "Deletes."), entry("u")]],
        )
        async with connected(spec) as connection:
            before = connection.state.tools
            await call(connection, "t")
            await until(lambda: connection.state.tools[0].description == "Deletes.")
            assert connection.state.tools[0].digest != before[0].digest
            assert connection.state.tools[1] is before[1]

    asyncio.run(run())


@ERAS
def test_a_change_that_changes_nothing_is_no_news(fake, era, tmp_path):
    log, record = Log(), tmp_path / "record"

    async def run():
        spec = fake(era=era, listens=True, calls={"t": ["changed", "echo"]}, record=str(record))
        async with connected(spec, log=log) as connection:
            await call(connection, "t")
            await until(lambda: listings(record) >= 2)
            await call(connection, "t")

    asyncio.run(run())
    assert log.statuses == ["starting", "connected"]


def test_a_modern_server_that_tells_of_no_changes_is_fine(fake, tmp_path):
    record = tmp_path / "record"

    async def run():
        async with connected(fake(era="modern", calls={"t": ["echo"]}, record=str(record))) as connection:
            await until(lambda: "subscriptions/listen" in record.read_text())
            for number in range(5):
                assert text(await call(connection, "t", n=number)) == json.dumps({"n": number})

    asyncio.run(run())
    assert record.read_text().count("subscriptions/listen") == 1
    assert listings(record) == 1


@ERAS
def test_a_refresh_that_fails_keeps_the_last_good_list(fake, era, tmp_path):
    record = tmp_path / "record"

    async def run():
        spec = fake(
            era=era,
            listens=True,
            calls={"break": ["break", "changed", "echo"], "mend": ["mend", "echo"]},
            lists=[[entry("mended")]],
            record=str(record),
        )
        async with connected(spec) as connection:
            await until(lambda: era == "initialize" or listings(record) > 1)
            before = connection.state
            await call(connection, "break")
            seen = listings(record)
            await until(lambda: listings(record) > seen + 1)  # it is tried again
            assert connection.state is before
            await call(connection, "mend")
            await until(lambda: connection.state.names == ("mended",))

    asyncio.run(run())


def test_a_refresh_that_hangs_has_its_own_time(fake, tmp_path):
    record = tmp_path / "record"
    times = Times(start=20, list=0.3, call=20, shutdown=2)

    async def run():
        spec = fake(calls={"t": ["deafen", "changed", "echo"]}, record=str(record))
        async with connected(spec, times=times) as connection:
            before = connection.state
            await call(connection, "t")
            await until(lambda: listings(record) >= 3)
            assert text(await call(connection, "t", a=1)) == '{"a": 1}'
            assert connection.state is before
            assert before.status is ServerStatus.CONNECTED

    asyncio.run(run())


def test_hr07_a_change_during_a_refresh_leads_to_another():
    async def run():
        watch, began, go = Watch(AT_ONCE), [], anyio.Event()

        async def refresh():
            began.append(len(began))
            if len(began) == 1:
                watch.changed()
                watch.changed()
                await go.wait()
            return True

        async with anyio.create_task_group() as tasks:
            watch.changed()
            tasks.start_soon(watch.run, refresh)
            await until(lambda: began)
            go.set()
            await until(lambda: len(began) == 2)
            await anyio.sleep(0.05)
            tasks.cancel_scope.cancel()
        return began

    assert asyncio.run(run()) == [0, 1]


def test_hr08_many_changes_are_one_refresh_at_a_time_and_one_failure_is_one_more():
    async def run():
        watch, running, most, count = Watch(AT_ONCE), 0, 0, 0

        async def refresh():
            nonlocal running, most, count
            running += 1
            count += 1
            most = max(most, running)
            await anyio.sleep(0.01)
            running -= 1
            return count > 1

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                watch.changed()
            tasks.start_soon(watch.run, refresh)
            await until(lambda: count == 2)
            await anyio.sleep(0.05)
            tasks.cancel_scope.cancel()
        return most, count

    assert asyncio.run(run()) == (1, 2)


def test_after_a_restart_it_is_listed_again(fake, tmp_path):
    listed = tmp_path / "listed.json"
    listed.write_text(json.dumps(tools(1)))

    async def run():
        async with connected(fake(calls={"kill": ["kill"]}, tools_file=str(listed))) as connection:
            first = connection.state.tools[0]
            listed.write_text(json.dumps(tools(2)))
            await call(connection, "kill")
            await until(lambda: connection.state.status is ServerStatus.CONNECTED)
            assert connection.state.names == ("t000", "t001")
            assert connection.state.tools[0] is first

    asyncio.run(run())


def test_lc09_a_changed_list_is_read_to_its_last_page(fake):
    async def run():
        spec = fake(calls={"t000": CHANGE}, tools=tools(1), lists=[tools(70)], page=50)
        async with connected(spec, times=QUICK) as connection:
            await call(connection, "t000")
            await until(lambda: len(connection.state.tools) == 70)

    asyncio.run(run())
