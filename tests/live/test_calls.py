"""One call over a pipe: what comes back, and how its end is told."""

import asyncio
import json
import random

import anyio
import pytest
from live_helpers import QUICK, Log, Sent, call, connected, text, until

from packbelt.catalog.workspace import Times
from packbelt.live.servers import call as calls_module
from packbelt.live.servers import lane
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])
HASTY = Times(start=20, list=20, call=0.3, shutdown=2)
BLOCK = {"type": "text", "text": "quota exceeded"}


def one(fake, steps, *, times=QUICK, tool="t", arguments=None, **config):
    """The answer to one call of a tool that takes these steps, and the connection's states."""
    log = Log()

    async def run():
        async with connected(fake(calls={tool: steps}, **config), times=times, log=log) as connection:
            return await call(connection, tool, **(arguments or {}))

    return asyncio.run(run()), log


@ERAS
@pytest.mark.parametrize(
    ("flag", "outcome"),
    [({}, "ok"), ({"isError": None}, "ok"), ({"isError": False}, "ok"), ({"isError": True}, "tool_error")],
)
def test_lc15_lc19_is_error(fake, era, flag, outcome):
    answer, _ = one(fake, [["result", {"content": [BLOCK], **flag}]], era=era)
    assert (answer.outcome, answer.content) == (outcome, (BLOCK,))


@ERAS
def test_a_result_is_what_the_server_wrote(fake, era):
    result = {
        "content": [
            {"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"x": 1}, "unheardOf": [1]},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "hologram", "depth": 3},
        ],
        "structuredContent": {"a": [1, None, {"b": "c"}]},
        "resultType": "complete",
    }
    answer, _ = one(fake, [["result", result]], era=era)
    assert answer.outcome is Outcome.OK
    assert list(answer.content) == result["content"]
    assert answer.structured == result["structuredContent"]


@ERAS
def test_one_that_does_not_fit_its_schema_is_not_lost_and_lists_nothing(fake, era, tmp_path):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    listed = [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}]
    record = tmp_path / "record"
    result = {"content": [BLOCK], "structuredContent": {"n": "no number"}, "resultType": "complete"}
    answer, _ = one(fake, [["result", result]], era=era, tools=listed, record=str(record))
    assert (answer.outcome, answer.structured) == (Outcome.OK, {"n": "no number"})
    methods = [json.loads(line).get("method") for line in record.read_text().splitlines()]
    assert methods.count("tools/list") == 1
    assert methods.count("tools/call") == 1


@pytest.mark.parametrize(
    "result",
    [{}, {"content": None}, {"content": "text"}, {"content": ["text"]}, {"content": [{"text": "x"}]}],
)
def test_what_is_no_result_is_an_error_of_the_tool(fake, result):
    answer, log = one(fake, [["result", result]])
    assert answer.outcome is Outcome.TOOL_ERROR
    assert answer.detail == "server 'fake' answered with something that is no result of a tool"
    assert log.statuses == ["starting", "connected"]


@ERAS
@pytest.mark.parametrize("code", [-32000, -32001, -32603, -32602, -32042, 7])
def test_a_servers_own_error_is_one_whatever_its_code(fake, era, code):
    answer, log = one(fake, [["error", {"code": code, "message": "Connection closed"}]], era=era)
    assert (answer.outcome, text(answer)) == (Outcome.TOOL_ERROR, "Connection closed")
    assert str(code) in answer.detail
    assert log.statuses == ["starting", "connected"]


@pytest.mark.parametrize(
    ("size", "outcome"), [(10 << 20, "tool_error"), (1 << 20, "tool_error"), (1_000_000, "ok")]
)
def test_a_result_over_the_limit_says_so(fake, size, outcome):
    answer, log = one(fake, [["big", size]])
    assert answer.outcome == outcome
    if outcome == "tool_error":
        whole = size + len('{"content":[{"type":"text","text":""}]}')
        assert answer.detail == (
            f"server 'fake' gave a result of {whole:,} bytes; the limit is {calls_module.MAX_RESULT:,} bytes"
        )
        assert answer.content == ()
    assert log.statuses == ["starting", "connected"]


def test_a_second_answer_and_one_to_nobody_are_dropped(fake):
    first, second = ({"content": [{"type": "text", "text": word}]} for word in ("first", "second"))
    steps = [["other", second], ["result", first], ["result", second]]

    async def run():
        async with connected(fake(calls={"t": steps, "echo": ["echo"]})) as connection:
            assert text(await call(connection, "t")) == "first"
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'
            assert text(await call(connection, "t")) == "first"

    asyncio.run(run())


@pytest.mark.parametrize("steps", [[["other", {"content": [BLOCK]}]], ["junk-only"], [["raw", "{}"]]])
def test_an_answer_that_is_none_is_waited_for_in_vain(fake, steps):
    answer, _ = one(fake, steps, times=HASTY)
    assert answer.outcome is Outcome.AMBIGUOUS


def test_a_flood_of_junk_costs_nothing_but_itself(fake):
    answer, log = one(fake, [["junk", 8], "echo"], arguments={"a": 1})
    assert text(answer) == '{"a": 1}'
    assert log.statuses == ["starting", "connected"]


def test_lc13_a_hundred_megabytes_on_standard_error(fake, capfd):
    answer, _ = one(fake, [["stderr", 100], "echo"], arguments={"a": 1})
    assert text(answer) == '{"a": 1}'
    assert capfd.readouterr() == ("", "")


@ERAS
def test_lc20_a_call_has_its_own_time(fake, era, tmp_path):
    record = tmp_path / "record"
    answer, log = one(fake, [], times=HASTY, era=era, record=str(record))
    assert answer.outcome is Outcome.AMBIGUOUS
    assert answer.detail == "server 'fake' did not answer within 0.3 s; whether the call ran is not known"
    assert log.statuses == ["starting", "connected"]
    assert_cancelled(record)


@ERAS
def test_cancelling_the_caller_tells_the_server_and_raises(fake, era, tmp_path):
    record = tmp_path / "record"

    async def run():
        spec = fake(era=era, calls={"hang": [], "echo": ["echo"]}, record=str(record))
        async with connected(spec) as connection:
            task = asyncio.create_task(call(connection, "hang"))
            await until(lambda: "tools/call" in record.read_text())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())
    assert_cancelled(record)


def assert_cancelled(record):
    messages = [json.loads(line) for line in record.read_text().splitlines()]
    (called,) = [m for m in messages if m["method"] == "tools/call" and m["params"]["name"] != "echo"]
    (told,) = [m for m in messages if m["method"] == "notifications/cancelled"]
    assert told["params"]["requestId"] == called["id"]


def test_a_late_answer_is_nobodys(fake):
    async def run():
        late = [["sleep", 0.5], ["result", {"content": [BLOCK]}]]
        async with connected(
            fake(calls={"late": late, "echo": ["sleep", "echo"]}), times=HASTY
        ) as connection:
            assert (await call(connection, "late")).outcome is Outcome.AMBIGUOUS
            assert text(await call(connection, "echo", delay=0.25)) == '{"delay": 0.25}'
            assert connection.state.status is ServerStatus.CONNECTED

    asyncio.run(run())


@ERAS
def test_hr12_fifty_in_parallel_each_get_their_own(fake, era):
    delays = [random.Random(7).random() / 20 for _ in range(50)]

    async def run():
        answers = {}

        async def one(connection, number):
            answers[number] = text(await call(connection, "echo", number=number, delay=delays[number]))

        spec = fake(era=era, calls={"echo": ["sleep", "echo"]})
        async with connected(spec, concurrency=50) as connection, anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(one, connection, number)
        return answers

    answers = asyncio.run(run())
    assert {number: json.loads(answer)["number"] for number, answer in answers.items()} == {
        number: number for number in range(50)
    }


def test_first_come_first_served_and_so_many_at_a_time(fake, tmp_path):
    record = tmp_path / "record"

    async def run():
        spec = fake(calls={"echo": ["sleep", "echo"]}, record=str(record))
        async with connected(spec, concurrency=1) as connection, anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(lambda n=number: call(connection, "echo", number=n, delay=0.01))
                await anyio.sleep(0)

    asyncio.run(run())
    messages = [json.loads(line) for line in record.read_text().splitlines()]
    called = [m["params"]["arguments"]["number"] for m in messages if m["method"] == "tools/call"]
    assert called == list(range(5))


def test_the_queue_has_its_own_time_and_its_end_is_no_dispatch(fake):
    times = Times(start=20, list=20, call=20, queue=0.2, shutdown=2)

    async def run():
        async with connected(fake(calls={"hang": []}), times=times, concurrency=1) as connection:
            first = asyncio.create_task(call(connection, "hang"))
            await anyio.sleep(0.05)
            sent = Sent()
            answer = await connection.call("hang", {}, dispatching=sent)
            assert (answer.outcome, sent.times) == (Outcome.NOT_STARTED, 0)
            assert answer.detail == (
                "server 'fake' was not called: its queue did not reach the call within 0.2 s"
            )
            first.cancel()

    asyncio.run(run())


def test_a_full_queue_says_so(fake, monkeypatch):
    monkeypatch.setattr(lane, "MAX_WAITING", 0)
    answer, _ = one(fake, ["echo"])
    assert (answer.outcome, answer.detail) == (
        Outcome.NOT_STARTED,
        "server 'fake' was not called: 0 calls wait for it already",
    )


def test_nobody_waits_for_another_server(fake):
    async def run():
        async with connected(fake("slow", calls={"hang": []}), concurrency=1) as slow:
            hanging = asyncio.create_task(call(slow, "hang"))
            async with connected(fake("quick", calls={"echo": ["echo"]})) as quick:
                with anyio.fail_after(10):
                    assert text(await call(quick, "echo", a=1)) == '{"a": 1}'
            hanging.cancel()

    asyncio.run(run())


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}])
def test_arguments_that_are_no_json_are_not_sent_and_cost_nothing(fake, value):
    async def run():
        async with connected(fake(calls={"echo": ["echo"]})) as connection:
            sent = Sent()
            answer = await connection.call("echo", {"a": value}, dispatching=sent)
            assert (answer.outcome, sent.times) == (Outcome.NOT_STARTED, 0)
            assert text(await call(connection, "echo", a=None)) == '{"a": null}'

    asyncio.run(run())


def test_dispatching_is_awaited_once_and_what_it_raises_stops_the_call(fake, tmp_path):
    record = tmp_path / "record"

    async def refuse():
        raise RuntimeError("the record cannot be written")

    async def run():
        spec = fake(calls={"echo": ["echo"]}, record=str(record))
        async with connected(spec, concurrency=1) as connection:
            with pytest.raises(RuntimeError, match="cannot be written"):
                await connection.call("echo", {}, dispatching=refuse)
            sent = Sent()
            await connection.call("echo", {}, dispatching=sent)
            assert sent.times == 1

    asyncio.run(run())
    assert record.read_text().count("tools/call") == 1


def test_calls_under_way_when_it_is_lost_are_ambiguous_and_those_that_wait_never_started(fake):
    async def run():
        spec = fake(calls={"hang": [], "exit": [["sleep", 0.1], ["exit", 3]]})
        async with connected(spec, concurrency=2) as connection:
            tasks = [asyncio.create_task(call(connection, name)) for name in ("hang", "exit", "hang")]
            return [(await task).outcome for task in tasks]

    assert asyncio.run(run()) == ["ambiguous", "ambiguous", "not_started"]


def test_calls_under_way_when_it_is_stopped_are_told_honestly(fake):
    async def run():
        async with connected(fake(calls={"hang": []}), concurrency=1) as connection:
            under_way, waiting = (asyncio.create_task(call(connection, "hang")) for _ in range(2))
            await anyio.sleep(0.1)
            connection.stop()
            return [(await under_way).outcome, (await waiting).outcome]

    assert asyncio.run(run()) == ["ambiguous", "not_started"]
