"""One agent on standard input and output, asked by the Python SDK's client in both protocol eras."""

import json

import anyio
import mcp_types as t
import pytest
from gateway_helpers import MODES, names, run, stdio, text_of, until
from mcp import MCPError
from upstream_facts import DEFINED, PICTURE

LISTED = [
    "use_pack",
    "mcp__main__ask",
    "mcp__main__echo",
    "mcp__main__fails",
    "mcp__main__grow",
    "mcp__main__guarded",
    "mcp__main__picture",
    "mcp__main__slow",
]


@pytest.mark.parametrize("mode", MODES)
@run
async def test_tools_are_the_direct_ones_as_their_server_describes_them(home, mode):
    async with stdio(home, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == LISTED
        echo = tools["mcp__main__echo"]
        assert echo.description == DEFINED["echo"]["description"]
        assert echo.input_schema == DEFINED["echo"]["inputSchema"]
        assert (echo.annotations.title, echo.annotations.read_only_hint) == ("Echo", True)
        assert client.server_capabilities.tools.list_changed is True


@pytest.mark.parametrize("mode", MODES)
@run
async def test_results_come_back_as_the_server_gave_them(home, mode):
    async with stdio(home, mode=mode) as client:
        result = await client.call_tool("mcp__main__picture", {})
        given = [block.model_dump(by_alias=True, exclude_none=True) for block in result.content]
        assert given == PICTURE
        assert result.structured_content == {"dots": 1}
        failed = await client.call_tool("mcp__main__fails", {})
        assert (failed.is_error, text_of(failed)) == (True, "it broke")


@pytest.mark.parametrize("mode", MODES)
@run
async def test_packed_tools_are_listed_and_called_through_the_opener(home, mode):
    async with stdio(home, mode=mode) as client:
        listing = text_of(await client.call_tool("use_pack", {"pack": "mcp:boxed"}))
        assert "mcp__boxed__echo: Says it back." in listing
        call = {"pack": "mcp:boxed", "tool": "mcp__boxed__echo", "arguments": {"text": "out of the box"}}
        assert text_of(await client.call_tool("use_pack", call)) == "out of the box"
        assert text_of(await client.call_tool("mcp__boxed__echo", {"text": "by name"})) == "by name"


NOT_ADMITTED = {
    "mcp__main__ekko": "mcp__main__echo",
    "mcp__vault__echo": "kept for locked",
    "mcp__main__forbidden": "denied",
    "no_such_thing_at_all": "No tool is called",
    "": "No tool is called",
}


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_name_that_is_not_admitted_is_answered_with_a_hint(home, mode):
    async with stdio(home, mode=mode) as client:
        for name, said in NOT_ADMITTED.items():
            result = await client.call_tool(name, {})
            assert result.is_error, name
            assert said in text_of(result)
        again = text_of(await client.call_tool("mcp__vault__echo", {}))
        assert "has now failed 2 times" in again
        assert home.logged() == []


@pytest.mark.parametrize("mode", MODES)
@run
async def test_wrong_arguments_are_answered_with_the_schema(home, mode):
    async with stdio(home, mode=mode) as client:
        result = await client.call_tool("mcp__main__echo", {"text": 3})
        assert result.is_error
        assert "Schema:" in text_of(result)
        assert home.logged() == []


@pytest.mark.parametrize("mode", MODES)
@run
async def test_sections_are_instructions_and_the_prompt_is_a_prompt(home, mode):
    async with stdio(home, mode=mode) as client:
        assert "- boxed: says of itself" in client.instructions
        assert "`use_pack` with pack `mcp:boxed`" in client.instructions
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.description) == ("lead", "Leads.")
        (message,) = (await client.get_prompt("lead")).messages
        assert message.content.text.startswith("You are lead.\n\n")
        assert client.instructions in message.content.text
        with pytest.raises(MCPError, match="there is no prompt 'worker'"):
            await client.get_prompt("worker")


@pytest.mark.parametrize("mode", MODES)
@run
async def test_resources_of_the_agents_servers_pass_through(home, mode):
    async with stdio(home, mode=mode) as client:
        assert "note://1" in [one.uri for one in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        assert "note://{n}" in [one.uri_template for one in templates]
        (content,) = (await client.read_resource("note://1")).contents
        assert content.text == "note at note://1"
        with pytest.raises(MCPError, match="nowhere"):
            await client.read_resource("nowhere://1")


@run
async def test_list_changed_comes_before_the_new_list_and_only_then(home):
    told = []

    async def hear(message):
        told.append(type(message))

    async with stdio(home, mode="legacy", message_handler=hear) as client:
        first = [tool.model_dump_json() for tool in (await client.list_tools()).tools]
        assert [tool.model_dump_json() for tool in (await client.list_tools()).tools] == first
        assert t.ToolListChangedNotification not in told
        await client.call_tool("mcp__main__grow", {})
        await until(lambda: t.ToolListChangedNotification in told)
        after = [tool.model_dump_json() for tool in (await client.list_tools()).tools]
        assert after[: len(first)] == first
        assert [json.loads(tool)["name"] for tool in after[len(first) :]] == ["mcp__main__grown"]
        assert text_of(await client.call_tool("mcp__main__grown", {})) == "grown"


@run
async def test_a_server_that_ends_costs_its_own_call_and_is_started_again(home):
    home.server("frail", tools=["die", "echo"])
    told = []

    async def hear(message):
        told.append(type(message))

    async with stdio(home, agent="worker", mode="legacy", message_handler=hear) as client:
        before = await names(client)
        lost = await client.call_tool("mcp__frail__die", {})
        assert lost.is_error
        assert text_of(await client.call_tool("mcp__main__echo", {"text": "unharmed"})) == "unharmed"
        await until(lambda: t.ResourceListChangedNotification in told)
        with anyio.fail_after(60):
            while (again := await client.call_tool("mcp__frail__echo", {"text": "back"})).is_error:
                await anyio.sleep(0.1)
        assert text_of(again) == "back"
        await until(lambda: told.count(t.ToolListChangedNotification) >= 2)
        assert await names(client) == before


@run
async def test_list_changed_reaches_those_who_listen_since_2026(home):
    async with stdio(home) as client:
        before = await names(client)
        async with client.listen(tools_list_changed=True) as heard:
            await client.call_tool("mcp__main__grow", {})
            async for event in heard:
                assert type(event).__name__ == "ToolsListChanged"
                break
            assert await names(client) == [*before, "mcp__main__grown"]


async def nobody(_context, _params):
    return t.ElicitResult(action="cancel")


@pytest.mark.parametrize("asked", [None, nobody])
@run
async def test_a_call_that_the_client_gives_up_is_cancelled_at_the_server(home, asked):
    async with stdio(home, elicitation_callback=asked) as client:
        with anyio.move_on_after(30) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "mcp__main__slow", {})
                await until(lambda: "call slow" in home.logged())
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await until(lambda: "cancelled slow" in home.logged())
        assert text_of(await client.call_tool("mcp__main__echo", {"text": "still here"})) == "still here"
