"""Every way in which a call over HTTP goes wrong, told for what it is; the connection and others unharmed."""

import asyncio
import json
from contextlib import ExitStack

import anyio
import mcp_types
import pytest
from fake_web import web
from live_helpers import QUICK, Log, call, connected, text, until

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.live.servers import posting
from packbelt.live.servers.resources import ResourceError
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])
HASTY = Times(start=20, list=20, call=0.3, shutdown=2)
PROGRESS = {
    "jsonrpc": "2.0",
    "method": "notifications/message",
    "params": {"level": "info", "data": '"error"'},
}

FAULTS = {
    "drop": ("drop", "ambiguous"),
    "cut": ("cut", "ambiguous"),
    "500": (["status", 500], "ambiguous"),
    "502": (["status", 502], "ambiguous"),
    "301": (["status", 301], "not_started"),
    "302": (["status", 302], "not_started"),
    "307": (["status", 307], "not_started"),
    "400": (["status", 400], "not_started"),
    "401": (["status", 401], "not_started"),
    "404": (["status", 404], "not_started"),
    "429": (["status", 429], "not_started"),
    "202": (["status", 202], "ambiguous"),
    "400 with words": (["refusal", (400, -32602)], "not_started"),
    "500 with words": (["refusal", (500, -32603)], "ambiguous"),
    "stream without answer": (["stream", [PROGRESS]], "ambiguous"),
    "empty stream": (["stream", []], "ambiguous"),
    "no JSON": (["body", ("application/json", "<html>")], "ambiguous"),
    "no JSON with the word": (["body", ("application/json", '{"error"')], "ambiguous"),
    "other type": (["body", ("text/html", "<html>")], "ambiguous"),
    "own error": (["error", {"code": -32000, "message": "Connection closed"}], "tool_error"),
    "own time-out": (["error", {"code": -32001, "message": "timed out"}], "tool_error"),
    "own parse error": (["error", {"code": -32700, "message": "what?"}], "tool_error"),
}


@ERAS
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_its_call_alone(era, name):
    step, outcome = FAULTS[name]
    log = Log()

    async def run(server):
        async with connected(server.spec, log=log) as connection:
            other = asyncio.create_task(call(connection, "echo", delay=0.2))
            await until(lambda: server.methods("tools/call"))
            answer = await call(connection, "bad")
            assert answer.outcome == outcome, answer
            assert text(await other) == '{"delay": 0.2}'
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    with web(era=era, calls={"bad": step, "echo": "echo"}) as server:
        asyncio.run(run(server))
        assert len([m for m in server.methods("tools/call") if m["params"]["name"] == "bad"]) == 1
    assert log.statuses == ["starting", "connected"]


@ERAS
def test_both_kinds_of_answer(era):
    async def run(server):
        async with connected(server.spec) as connection:
            assert text(await call(connection, "echo", a=None)) == '{"a": null}'
            assert text(await call(connection, "sse", a=1)) == '{"a": 1}'

    with web(era=era, calls={"echo": "echo", "sse": "sse"}) as server:
        asyncio.run(run(server))


@ERAS
def test_the_words_for_them(era):
    async def run(server):
        async with connected(server.spec) as connection:
            return [(await call(connection, name)).detail for name in server.config["calls"]]

    calls = {"a": ["status", 302], "b": ["status", 503], "c": ["refusal", (400, -32602)], "d": "drop"}
    with web(era=era, calls=calls) as server:
        details = asyncio.run(run(server))
        address = f"http://127.0.0.1:{server.port}"
    redirect = f"answered HTTP 302 with a redirect to {address}; redirects are never followed"
    assert details[:3] == [
        f"server 'web' {redirect}: write the final address into `url`",
        "server 'web' answered HTTP 503 Service Unavailable; whether the call ran is not known",
        "server 'web' answered HTTP 400 Bad Request: said so",
    ]
    assert details[3].startswith("server 'web' took the call and broke off: ")
    assert details[3].endswith("; whether the call ran is not known")


@ERAS
def test_one_that_stalls_is_given_up_and_told(era):
    async def run(server):
        async with connected(server.spec, times=HASTY) as connection:
            answer = await call(connection, "stall")
            assert answer.outcome is Outcome.AMBIGUOUS
            assert answer.detail.startswith("server 'web' did not answer within 0.3 s")
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'
            if era == "initialize":
                await until(lambda: server.methods("notifications/cancelled"))

    with web(era=era, calls={"stall": "stall", "echo": "echo"}) as server:
        asyncio.run(run(server))


@ERAS
def test_hr12_fifty_in_parallel_each_get_their_own(era):
    answers = {}

    async def run(server):
        async def one(connection, number):
            answers[number] = text(await call(connection, "echo", number=number, delay=number % 7 / 100))

        async with connected(server.spec, concurrency=50) as connection:
            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(one, connection, number)

    with web(era=era, calls={"echo": "echo"}) as server:
        asyncio.run(run(server))
    assert {number: json.loads(answer)["number"] for number, answer in answers.items()} == {
        number: number for number in range(50)
    }


def test_lc11_a_dead_session_is_begun_anew_and_the_lost_call_not_repeated():
    log = Log()

    async def run(server):
        async with connected(server.spec, log=log) as connection:
            before = connection.state.tools
            server.sessions.clear()
            server.config["tools"] = [*server.config["tools"], {"name": "new", "inputSchema": {}}]
            answer = await call(connection, "echo", lost=True)
            assert answer.outcome is Outcome.NOT_STARTED
            await until(lambda: connection.state.status is ServerStatus.CONNECTED)
            assert connection.state.names == ("echo", "new")
            assert connection.state.tools[0] is before[0]
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    listed = [{"name": "echo", "inputSchema": {"type": "object"}}]
    with web(sessions=True, calls={"echo": "echo"}, tools=listed) as server:
        asyncio.run(run(server))
        sent = [m["params"]["arguments"] for m in server.methods("tools/call")]
    assert sent == [{"lost": True}, {"a": 1}]
    assert log.statuses == ["starting", "connected", "disconnected", "connected"]
    assert log.states[2].error == "answered HTTP 404: its session has ended"


@ERAS
def test_lc28_a_server_that_is_away_and_comes_back(era):
    log = Log()

    async def run():
        with ExitStack() as first:
            server = first.enter_context(web(era=era, calls={"echo": "echo"}))
            async with connected(server.spec, log=log) as connection:
                before = connection.state.tools
                first.close()
                answer = await call(connection, "echo", a=1)
                assert answer.outcome is Outcome.NOT_STARTED
                assert "connection refused: nothing listens at its address" in answer.detail
                assert connection.state.status is ServerStatus.DISCONNECTED
                assert connection.state.tools is before
                with web(server.port, era=era, calls={"echo": "echo"}):
                    await until(lambda: connection.state.status is ServerStatus.CONNECTED)
                    assert all(a is b for a, b in zip(before, connection.state.tools, strict=True))
                    assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())
    assert log.statuses == ["starting", "connected", "disconnected", "connected"]


def test_a_server_that_was_not_there_yet_is_waited_for():
    async def run():
        with web() as server:
            port = server.port
        async with connected(ServerSpec("web", "http", url=f"http://127.0.0.1:{port}/mcp")) as connection:
            assert connection.state.error == "connection refused: nothing listens at its address"
            with web(port, calls={"echo": "echo"}):
                await until(lambda: connection.state.status is ServerStatus.CONNECTED)
                assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    asyncio.run(run())


def test_a_name_that_nobody_has_is_no_call():
    async def run():
        spec = ServerSpec("web", "http", url="https://nowhere.invalid/mcp")
        async with connected(spec) as connection:
            assert connection.state.error.startswith("cannot be reached: ")
            assert (await call(connection, "echo")).outcome is Outcome.NOT_STARTED

    asyncio.run(run())


def test_lc11_a_dead_session_is_noticed_by_whatever_is_asked():
    log = Log()

    async def run(server):
        async with connected(server.spec, log=log) as connection:
            server.sessions.clear()
            with pytest.raises(ResourceError, match="resources of server 'web': "):
                await connection.resources()
            await until(lambda: len(log.states) == 4)
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    with web(sessions=True, calls={"echo": "echo"}) as server:
        asyncio.run(run(server))
    assert log.statuses == ["starting", "connected", "disconnected", "connected"]


def test_a_session_is_ended_when_the_connection_is():
    async def run(server):
        async with connected(server.spec, times=QUICK):
            pass

    with web(sessions=True) as server:
        asyncio.run(run(server))
        assert set(server.ended) == server.sessions


def test_an_endless_answer_is_cut_off(monkeypatch):
    monkeypatch.setattr(posting, "MAX_MESSAGE", 1 << 20)

    async def run(server):
        async with connected(server.spec) as connection:
            assert (await call(connection, "endless")).outcome is Outcome.AMBIGUOUS
            await until(server.hung_up.is_set)
            assert text(await call(connection, "echo", a=1)) == '{"a": 1}'

    with web(calls={"endless": "endless", "echo": "echo"}) as server:
        asyncio.run(run(server))


def test_questions_go_to_their_own_call_whatever_else_runs():
    def answering(who):
        async def elicit(_params):
            return mcp_types.ElicitResult(action="accept", content={"who": who})

        return elicit

    async def run(server):
        answers = {}
        async with connected(server.spec, answerable=True) as connection:

            async def one(who):
                answers[who] = json.loads(text(await call(connection, "ask", answering(who))))

            async with anyio.create_task_group() as tasks:
                for who in "abc":
                    tasks.start_soon(one, who)
        return {who: answer["content"]["who"] for who, answer in answers.items()}

    with web(calls={"ask": "ask"}) as server:
        assert asyncio.run(run(server)) == {"a": "a", "b": "b", "c": "c"}
