"""Hand-offs of a belt that is served: not on it, answered with a brief, or run by a function of the user's."""

import json
import shlex

import mcp_types as t
import pytest
from gateway_helpers import MODES, http, names, over_http, run, stdio, text_of

RUNNER = """
from packbelt import ToolCall

async def run(agent, request):
    turn = await agent.turn()
    (result,) = await turn.run([ToolCall("1", "mcp__vault__echo", {"text": request})])
    return f"{agent.name} found: {result.text}"

async def breaks(agent, request):
    raise ValueError("out of order")
"""
HANDOFF = ("ask_locked", {"request": "open it", "context": "the third one", "mcp_servers": ["vault"]})


@run
async def test_without_a_runner_they_are_not_on_the_belt(home):
    async with stdio(home) as client:
        assert not {"ask_worker", "ask_locked"} & set(await names(client))
        refused = await client.call_tool("ask_worker", {"request": "x"})
        assert refused.is_error
        assert "ask_worker" not in client.instructions


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_brief_is_all_that_a_sub_agent_of_the_clients_needs(home, mode):
    events = home.root / "events.jsonl"
    options = ("--handoffs", "brief", "--as", "belt", "--events", str(events))
    async with stdio(home, *options, mode=mode) as client:
        assert {"ask_worker", "ask_locked"} <= set(await names(client))
        result = await client.call_tool(*HANDOFF)
        text = text_of(result)
    assert not result.is_error
    for part in (
        "locked: Keeps the vault.",
        "## Task\n\nopen it",
        "## Context\n\nthe third one",
        "You are locked.",
    ):
        assert part in text
    assert "only these are meant for it: vault. packbelt cannot see to that" in text
    command = shlex.join(["packbelt", "serve", "--agent", "locked", "-w", str(home.root), "--as", "belt"])
    assert f"`{command}`, on stdio" in text
    assert "under the name `belt`" in text
    assert home.logged() == []
    (call,) = [one for line in events.read_text().splitlines() if (one := json.loads(line))["kind"] == "call"]
    assert (call["tool"], call["outcome"]) == ("handoff:ask_locked", "ok")


@run
async def test_the_belt_that_a_brief_names_is_there(home):
    with http(home, "--handoffs", "brief") as gateway:
        async with over_http(gateway) as client:
            text = text_of(await client.call_tool(*HANDOFF))
        assert "`/agents/locked` of this gateway" in text
        async with over_http(gateway, "locked") as client:
            assert text_of(await client.call_tool("mcp__vault__echo", {"text": "it is"})) == "it is"


@run
async def test_a_brief_is_given_through_the_opener_and_by_its_rules(home):
    text = (home.root / "packbelt.yaml").read_text()
    (home.root / "packbelt.yaml").write_text(text + "\n")
    (home.root / "packs").mkdir()
    (home.root / "packs/people.yaml").write_text("id: people\nsummary: Whom to ask.\ntools: [ask_worker]\n")
    async with stdio(home, "--handoffs", "brief") as client:
        assert "ask_worker" not in await names(client)
        call = {"pack": "people", "tool": "ask_worker", "arguments": {"request": "dig"}}
        assert "## Task\n\ndig" in text_of(await client.call_tool("use_pack", call))
        wrong = await client.call_tool("ask_locked", {"request": "x", "mcp_servers": ["nowhere"]})
        assert wrong.is_error
        assert "nowhere" in text_of(wrong)


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_brief_that_a_person_must_approve_is_asked_for_first(home, mode):
    home.configure("approve: [main/guarded]", "approve: [ask_worker]")
    asked = []

    async def person(context, params):
        asked.append(params.message)
        return t.ElicitResult(action="accept" if len(asked) == 1 else "decline")

    async with stdio(home, "--handoffs", "brief", mode=mode, elicitation_callback=person) as client:
        assert "## Task" in text_of(await client.call_tool("ask_worker", {"request": "dig"}))
        assert "declined" in text_of(await client.call_tool("ask_worker", {"request": "dig"}))
    assert len(asked) == 2
    async with stdio(home, "--handoffs", "brief", mode=mode) as client:
        assert "needs a person's approval" in text_of(
            await client.call_tool("ask_worker", {"request": "dig"})
        )


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_runner_runs_them_in_the_gateway(home, mode):
    (home.root / "my_loop.py").write_text(RUNNER)
    async with stdio(home, "--runner", "my_loop:run", mode=mode) as client:
        result = await client.call_tool("ask_locked", {"request": "open it"})
        assert json.loads(text_of(result).partition("\n")[2])["output"] == "locked found: open it"
        assert result.structured_content["status"] == "completed"
    async with stdio(home, "--runner", "my_loop:breaks", mode=mode) as client:
        result = await client.call_tool("ask_locked", {"request": "open it"})
        assert result.is_error
        assert "out of order" in text_of(result)


@pytest.mark.parametrize("mode", MODES)
@run
async def test_what_a_runners_agent_calls_is_approved_by_the_client_that_handed_off(home, mode):
    (home.root / "my_loop.py").write_text(RUNNER)
    home.configure("approve: [main/guarded]", "approve: [vault/echo]")
    asked = []

    async def person(context, params):
        asked.append(params.message)
        return t.ElicitResult(action="accept")

    async with stdio(home, "--runner", "my_loop:run", mode=mode, elicitation_callback=person) as client:
        assert "locked found: open it" in text_of(
            await client.call_tool("ask_locked", {"request": "open it"})
        )
    (message,) = asked
    assert message.startswith('May lead > locked call echo of MCP server "vault"?')
    async with stdio(home, "--runner", "my_loop:run", mode=mode) as client:
        assert "approval" in text_of(await client.call_tool("ask_locked", {"request": "open it"}))
    assert home.logged() == ["call echo"]
