"""Approvals, and questions of servers, put to the user of the client whose call it is, in both protocol eras."""

import json

import mcp_types as t
import pytest
from gateway_helpers import MODES, http, over_http, run, stdio, text_of
from mcp import MCPError

GUARDED = ("mcp__main__guarded", {"text": "done"})


class Person:
    """Answers every question the same way, and remembers it."""

    def __init__(self, action, content=None):
        self.asked = []
        self._answer = t.ElicitResult(action=action, content=content)

    async def __call__(self, _context, params):
        self.asked.append(params)
        return self._answer


@pytest.mark.parametrize("mode", MODES)
@run
async def test_an_approved_call_is_made_and_a_declined_one_is_not(home, mode):
    yes, no = Person("accept", {}), Person("decline")
    async with stdio(home, mode=mode, elicitation_callback=yes) as client:
        assert text_of(await client.call_tool(*GUARDED)) == "done"
    (asked,) = yes.asked
    assert asked.message == 'May lead call guarded of MCP server "main"? Arguments: {"text":"done"}'
    async with stdio(home, mode=mode, elicitation_callback=no) as client:
        result = await client.call_tool(*GUARDED)
        assert (result.is_error, text_of(result)) == (
            True,
            f"{GUARDED[0]} was not called: a person declined it",
        )
    assert len(no.asked) == 1
    assert home.logged() == ["call guarded"]


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_client_without_elicitation_has_such_calls_rejected_and_is_told_why(home, mode):
    async with stdio(home, mode=mode) as client:
        result = await client.call_tool(*GUARDED)
        assert result.is_error
        assert "needs a person's approval" in text_of(result)
        assert "elicitation" in text_of(result)
    assert home.logged() == []


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_call_through_the_opener_is_approved_too(home, mode):
    home.configure("boxed: {exposure: packed}", "boxed: {exposure: packed, tools: {echo: {approve: true}}}")
    person = Person("accept", {})
    call = {"pack": "mcp:boxed", "tool": "echo", "arguments": {"text": "opened"}}
    async with stdio(home, mode=mode, elicitation_callback=person) as client:
        assert text_of(await client.call_tool("use_pack", {"pack": "mcp:boxed"}))
        assert person.asked == []
        assert text_of(await client.call_tool("use_pack", call)) == "opened"
    assert len(person.asked) == 1


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_servers_question_reaches_the_client_and_its_answer_the_server(home, mode):
    person = Person("accept", {"colour": "green"})
    async with stdio(home, mode=mode, elicitation_callback=person) as client:
        answer = json.loads(text_of(await client.call_tool("mcp__main__ask", {})))
        assert answer == {"action": "accept", "content": {"colour": "green"}}
    (asked,) = person.asked
    assert asked.message == 'MCP server "main" asks: Which colour?'
    assert asked.requested_schema["required"] == ["colour"]


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_servers_question_is_cancelled_where_the_client_cannot_ask(home, mode):
    async with stdio(home, mode=mode) as client:
        answer = json.loads(text_of(await client.call_tool("mcp__main__ask", {})))
        assert answer == {"action": "cancel"}


@run
async def test_over_http_approvals_are_rounds_that_need_no_memory(home):
    yes, no = Person("accept", {}), Person("decline")
    with http(home) as gateway:
        async with over_http(gateway, elicitation_callback=yes) as client:
            assert text_of(await client.call_tool(*GUARDED)) == "done"
        async with over_http(gateway, elicitation_callback=no) as client:
            assert (
                text_of(await client.call_tool(*GUARDED))
                == f"{GUARDED[0]} was not called: a person declined it"
            )
        async with over_http(gateway, mode="legacy", elicitation_callback=yes) as client:
            result = await client.call_tool(*GUARDED)
            assert "no way back" in text_of(result)
    assert (len(yes.asked), len(no.asked)) == (1, 1)
    assert home.logged() == ["call guarded"]


@run
async def test_an_approval_of_one_process_counts_in_another_and_for_that_call_alone(home):
    never = Person("decline")
    with http(home) as one, http(home) as other:
        async with (
            over_http(one, elicitation_callback=never) as first,
            over_http(other, elicitation_callback=never) as second,
        ):
            asked = await ask(first, *GUARDED)
            assert asked.input_requests.keys() == {"approval"}
            done = await ask(second, *GUARDED, asked.request_state)
            assert text_of(done) == "done"
            with pytest.raises(MCPError, match="requestState"):
                await ask(second, "mcp__main__guarded", {"text": "another"}, asked.request_state)
            with pytest.raises(MCPError, match="requestState"):
                await ask(second, *GUARDED, "approval")
    assert never.asked == []
    assert home.logged() == ["call guarded"]


async def ask(client, name, arguments, state=None):
    """One round of a call, by hand."""
    answers = {"approval": t.ElicitResult(action="accept", content={})} if state else None
    return await client.session.call_tool(
        name, arguments, input_responses=answers, request_state=state, allow_input_required=True
    )
