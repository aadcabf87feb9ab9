"""The target `mcp`: the form is what the gateway's clients list and read, in both eras and by FastMCP's client."""

import anyio
import pytest
from driver_mcp import KNOWN_AS, FastMcp, Sdk, all_tools, served, text_of
from fleet_world import agent_file, opened, place
from proofs import proves
from small_fleet import PICTURE, Small, deny

pytest.importorskip("mcp")

from mcp import Client

import packbelt
from packbelt.model import ToolCall
from packbelt.providers import ResidueError, TargetError

TARGET = "mcp"
CLIENTS = [
    Sdk("auto", "auto"),
    Sdk("legacy", "legacy"),
    Sdk("shown-as", "auto", KNOWN_AS),
    FastMcp("fastmcp", "auto"),
]
each = pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])


def play(root, test, client, **options):
    """`await test(small, agent, connected)` with a client connected to the gateway of `boss`."""
    pytest.importorskip(client.module)

    async def main():
        small = Small(root, **options)
        async with opened(small.workspace, approve=small.approve) as fleet, fleet.agent("boss") as agent:
            async with served(fleet, client.known_as) as server:
                async with client.connected(server, lambda _: True) as connected:
                    await test(small, agent, connected)

    anyio.run(main)


def wire(tool):
    return tool.model_dump(by_alias=True, exclude_none=True, mode="json")


@proves(TARGET, "visible")
@each
def test_what_a_client_lists_is_the_form(tmp_path, client):
    async def test(small, agent, connected):
        turn = await agent.turn()
        form = turn.compile(TARGET, shown_as=client.known_as)
        listed = await client.listed(connected)
        form.enforcement.verify(tool.name for tool in listed)
        assert [tool.name for tool in listed] == list(form.enforcement.plan)
        assert [wire(tool) for tool in listed] == form.kwargs["tools"]
        assert client.instructions(connected) == form.kwargs["instructions"]
        assert [form.names.spell(tool.name) for tool in listed] == [client.spell(t.name) for t in listed]
        deny(agent, "note")
        with pytest.raises(ResidueError, match="MCP gateway has note besides"):
            (await agent.turn()).compile(TARGET).enforcement.verify(tool.name for tool in listed)

    play(tmp_path, test, client)


@each
def test_the_prompt_is_the_forms_system_text(tmp_path, client):
    async def test(small, agent, connected):
        form = (await agent.turn()).compile(TARGET, shown_as=client.known_as)
        (message,) = (await connected.get_prompt("boss")).messages
        assert message.content.text == form.system
        assert form.system.startswith("You are boss.")
        assert client.spell("use_pack") in form.system

    play(tmp_path, test, client)


@proves(TARGET, "visible")
@each
def test_ad01_an_empty_belt_lists_no_tool(tmp_path, client):
    async def test(small, agent, connected):
        form = (await agent.turn()).compile(TARGET)
        assert form.kwargs["tools"] == []
        assert await client.listed(connected) == []
        result = await connected.call_tool("note", {"text": "a"}, **quiet(client))
        assert error(result)
        assert small.ran == []

    play(tmp_path, test, client, boss={"tools": []})


def quiet(client):
    """FastMCP's client raises what a tool answers, unless it is told not to."""
    return {"raise_on_error": False} if client.module == "fastmcp" else {}


def error(result):
    return getattr(result, "is_error", None)


@proves(TARGET, "denied", "unknown")
@each
def test_a_refusal_is_a_result_marked_as_an_error(tmp_path, client):
    async def test(small, agent, connected):
        wrong = await connected.call_tool("note", {"txt": "a"}, **quiet(client))
        unknown = await connected.call_tool("notes", {"text": "a"}, **quiet(client))
        failed = await connected.call_tool("fail", {}, **quiet(client))
        drawn = await connected.call_tool("draw", {}, **quiet(client))
        assert (error(wrong), error(unknown), error(failed), error(drawn)) == (True, True, True, False)
        assert "do not fit" in text_of(wrong)
        assert client.spell("note") in text_of(unknown)
        assert "it broke" in text_of(failed)
        assert [block.type for block in drawn.content] == ["text", "image"]
        assert drawn.content[1].data == PICTURE
        assert small.ran == []

    play(tmp_path, test, client)


@proves(TARGET, "auto_approved")
def test_a_client_that_shows_no_forms_is_asked_nothing_and_nothing_runs(tmp_path):
    async def main():
        small = Small(tmp_path)
        async with opened(small.workspace, approve=small.approve) as fleet, served(fleet) as server:
            async with Client(server.mcp, cache=None) as client:
                result = await client.call_tool("pay", {"amount": 3})
        assert result.is_error
        assert "needs a person's approval" in text_of(result)
        assert (small.ran, small.asked) == ([], [])

    anyio.run(main)


@proves(TARGET, "late", "callable")
def test_what_is_revoked_is_listed_no_more_and_refused_with_a_hint(tmp_path):
    async def main():
        small = Small(tmp_path)
        async with opened(small.workspace) as fleet, served(fleet) as server:
            async with Client(server.mcp, cache=None) as client:
                before = [tool.name for tool in await all_tools(client)]
                async with fleet.agent("boss") as agent:
                    deny(agent, "note")
                with anyio.fail_after(30):
                    while (after := [tool.name for tool in await all_tools(client)]) == before:
                        await anyio.sleep(0.01)
                result = await client.call_tool("note", {"text": "a"})
        assert "note" in before
        assert after == [name for name in before if name != "note"]
        assert "denied" in text_of(result)
        assert small.ran == []

    anyio.run(main)


def test_a_name_that_no_client_shows_as_it_is_cannot_be_compiled(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            turn = await agent.turn()
            for name in ("my belt", "", "a.b", "x" * 65):
                with pytest.raises(TargetError, match="use letters, digits, `_` and `-`"):
                    turn.compile(TARGET, shown_as=name)
            long = turn.compile(TARGET, shown_as="x" * 62)
            with pytest.raises(TypeError, match="mcp runs the tools itself"):
                long.calls({})
        warned = {one.name for one in long.diagnostics}
        assert warned == {long.names.spell(name) for name in long.enforcement.plan}
        assert all("some providers take 64" in one.message for one in long.diagnostics)

    anyio.run(main)


def test_a_call_in_the_clients_spelling_is_understood(tmp_path):
    async def main():
        small = Small(tmp_path)
        async with small.boss(approve=small.approve) as agent:
            form = (await agent.turn()).compile(TARGET, shown_as=KNOWN_AS)
            said = ToolCall("1", form.names.unspell("mcp__packbelt__note"), {"text": "a"}, form.speech)
            inner = {"pack": "box", "tool": "mcp__packbelt__weigh", "arguments": {"thing": "gold"}}
            opened_ = ToolCall("2", form.names.unspell("mcp__packbelt__use_pack"), inner, form.speech)
            noted, weighed = await agent.run([said, opened_])
        assert (noted.text, weighed.text) == ("noted a", "gold: 3 kg")

    anyio.run(main)


def test_annotations_are_listed_where_the_protocol_knows_them(tmp_path):
    given = {"title": "Echo", "readOnlyHint": True, "destructiveHint": "no", "secret": 1}
    listed = [{"name": "echo", "inputSchema": {"type": "object"}, "annotations": given}]
    snapshot = packbelt.Snapshot().connect("main", listed)
    workspace = place(tmp_path, agents={"boss": agent_file("boss")}, config="orchestrator: boss\n")
    form = packbelt.turn(workspace, snapshot, "boss").compile(TARGET)
    (entry,) = form.kwargs["tools"]
    assert entry == {
        "name": "mcp__main__echo",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"title": "Echo", "readOnlyHint": True},
    }
