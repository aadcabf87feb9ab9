"""What a server asks a person during a call, in both protocol eras."""

import asyncio
import json

import anyio
import mcp_types
import pytest
from live_helpers import call, connected, text, until

from packbelt.catalog.workspace import Times
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])
ASK = {"ask": [["ask", "Who?"]]}
HASTY = Times(start=20, list=20, call=0.4, shutdown=2)


def answering(who, asked=None):
    async def elicit(params):
        if asked is not None:
            asked.append(params)
        return mcp_types.ElicitResult(action="accept", content={"who": who})

    return elicit


@ERAS
def test_the_calls_own_elicit_answers(fake, era):
    asked = []

    async def run():
        async with connected(fake(era=era, calls=ASK), answerable=True) as connection:
            return json.loads(text(await call(connection, "ask", answering("me", asked), a=1)))

    assert asyncio.run(run()) == {"action": "accept", "content": {"who": "me"}}
    (params,) = asked
    assert (params.mode, params.message) == ("form", "Who?")


@ERAS
@pytest.mark.parametrize("answerable", [True, False])
def test_without_one_the_question_is_declined_or_not_even_offered(fake, era, answerable, tmp_path):
    record = tmp_path / "record"

    async def run():
        spec = fake(era=era, calls=ASK, record=str(record))
        async with connected(spec, answerable=answerable) as connection:
            return await call(connection, "ask")

    answer = asyncio.run(run())
    if answerable or era == "modern":
        assert json.loads(text(answer)) == {"action": "decline"}
    else:
        assert answer.outcome is Outcome.OK  # the server was refused its question, and answered all the same
    messages = [json.loads(line) for line in record.read_text().splitlines()]
    first = next(m for m in messages if m.get("method") in ("initialize", "tools/list"))
    meta = first["params"].get("_meta", {})
    offered = first["params"].get("capabilities", meta.get("io.modelcontextprotocol/clientCapabilities"))
    assert ("elicitation" in offered) == answerable
    assert "sampling" not in offered
    assert "roots" not in offered


@ERAS
def test_while_a_person_answers_the_clock_stands_still(fake, era):
    async def slowly(_params):
        await anyio.sleep(0.8)
        return mcp_types.ElicitResult(action="accept", content={"who": "me"})

    async def run():
        calls = {**ASK, "hang": []}
        async with connected(fake(era=era, calls=calls), times=HASTY, answerable=True) as connection:
            answer = await call(connection, "ask", slowly)
            assert json.loads(text(answer))["action"] == "accept"
            assert (await call(connection, "hang", slowly)).outcome is Outcome.AMBIGUOUS

    asyncio.run(run())


@ERAS
def test_an_elicit_that_raises_is_a_cancelled_question(fake, era):
    async def fail(_params):
        raise RuntimeError("no terminal")

    async def run():
        async with connected(fake(era=era, calls=ASK), answerable=True) as connection:
            return json.loads(text(await call(connection, "ask", fail)))

    assert asyncio.run(run()) == {"action": "cancel"}


def test_modern_questions_go_to_their_own_call_whatever_else_runs(fake):
    async def run():
        async with connected(fake(era="modern", calls=ASK), answerable=True) as connection:
            answers = {}

            async def one(who):
                answers[who] = json.loads(text(await call(connection, "ask", answering(who))))

            async with anyio.create_task_group() as tasks:
                for who in "abc":
                    tasks.start_soon(one, who)
            return {who: answer["content"]["who"] for who, answer in answers.items()}

    assert asyncio.run(run()) == {"a": "a", "b": "b", "c": "c"}


def test_a_question_over_a_pipe_that_could_be_anybodys_is_declined(fake):
    async def run():
        async with connected(fake(calls={**ASK, "hang": []}), answerable=True) as connection:
            other = asyncio.create_task(call(connection, "hang", answering("other")))
            await anyio.sleep(0.05)
            answer = json.loads(text(await call(connection, "ask", answering("me"))))
            other.cancel()
            return answer

    assert asyncio.run(run()) == {"action": "decline"}


@ERAS
def test_cancelling_the_call_takes_the_question_back(fake, era):
    shown, withdrawn = [], []

    async def wait(params):
        shown.append(params)
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.append(params)

    async def run():
        async with connected(fake(era=era, calls=ASK), answerable=True) as connection:
            task = asyncio.create_task(call(connection, "ask", wait))
            await until(lambda: shown)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: withdrawn)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"method": "roots/list"}, "asked for roots/list, which is not offered"),
        (
            {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
            "asked for sampling/createMessage, which is not offered",
        ),
        ({"method": "no/such"}, "asked for something that cannot be read"),
    ],
)
def test_what_is_not_offered_is_not_given(fake, request_, line):
    result = {"resultType": "input_required", "inputRequests": {"x": request_}}

    async def run():
        spec = fake(era="modern", calls={"t": [["result", result]]})
        async with connected(spec, answerable=True) as connection:
            answer = await call(connection, "t", answering("me"))
            assert (answer.outcome, answer.detail) == (Outcome.TOOL_ERROR, f"server 'fake' {line}")

    asyncio.run(run())


def test_a_server_that_never_stops_asking_is_given_up(fake):
    result = {"resultType": "input_required", "requestState": "again"}

    async def run():
        async with connected(fake(era="modern", calls={"t": [["result", result]]})) as connection:
            answer = await call(connection, "t")
            assert answer.outcome is Outcome.TOOL_ERROR
            assert answer.detail == "server 'fake' asked more than 10 times and gave no result"

    asyncio.run(run())
