"""Calls that wait for answers between rounds, where the answer comes too late."""

import anyio
import mcp_types as t
import pytest

from packbelt.gateway import rounds
from packbelt.gateway.rounds import Rounds


def question(text):
    return t.ElicitRequestFormParams(message=text, requested_schema={"type": "object", "properties": {}})


def said(text):
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)])


YES = {"answer": t.ElicitResult(action="accept")}


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(rounds, "PATIENCE", 0.01)


async def ends_soon(work):
    """The first round of a call; the call's patience has ended when it is given back."""
    async with anyio.create_task_group() as tasks:
        calls, over = Rounds(tasks), anyio.Event()

        async def watched(ask):
            try:
                return await work(ask)
            finally:
                over.set()

        first = await calls.begin(watched)
        yield calls, first, over
        tasks.cancel_scope.cancel()


def test_an_answer_that_comes_after_the_call_has_ended_is_given_its_result(impatient):
    async def work(ask):
        return said((await ask(question("really?"))).action)

    async def main():
        async for calls, first, over in ends_soon(work):
            with anyio.fail_after(10):
                await over.wait()
                result = await calls.resume(first.request_state, YES)
            assert result.content[0].text == "cancel"
            assert await calls.resume(first.request_state, YES) is None

    anyio.run(main)


def test_a_late_answer_to_one_question_is_none_to_the_next(monkeypatch):
    monkeypatch.setattr(rounds, "PATIENCE", 0.01)

    async def main():
        second = anyio.Event()

        async def work(ask):
            first = (await ask(question("delete one?"))).action
            monkeypatch.setattr(rounds, "PATIENCE", 60)
            second.set()
            return said(f"{first}, {(await ask(question('delete all?'))).action}")

        async for calls, first, _ in ends_soon(work):
            with anyio.fail_after(10):
                await second.wait()
                await anyio.wait_all_tasks_blocked()
                again = await calls.resume(first.request_state, YES)
                assert again.input_requests["answer"].params.message == "delete all?"
                no = {"answer": t.ElicitResult(action="decline")}
                result = await calls.resume(again.request_state, no)
            assert result.content[0].text == "cancel, decline"

    anyio.run(main)


def test_an_answer_is_waited_for_while_the_call_goes_on(impatient):
    async def main():
        go = anyio.Event()

        async def work(ask):
            await ask(question("really?"))
            await go.wait()
            return said("done")

        async for calls, first, _ in ends_soon(work):
            await anyio.sleep(0.05)
            results = []

            async def resume(calls=calls, first=first, results=results):
                results.append(await calls.resume(first.request_state, YES))

            with anyio.fail_after(10):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(resume)
                    await anyio.wait_all_tasks_blocked()
                    assert not results
                    go.set()
            assert results[0].content[0].text == "done"

    anyio.run(main)
