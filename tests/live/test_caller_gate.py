"""A tool that calls servers for its caller gives it no longer arm than it has."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, opened, place, server

import packbelt
from packbelt import toolkits
from packbelt.model import Outcome

TOOL = "mcp_registry_tool_call"
SERVERS = 'servers: {"*": {permission: execute}, one: {tools: {fail: {permission: dangerous}}}}\n'


def world(tmp_path, pids, config="", **keys):
    made = toolkits.mcp_registry(tmp_path, registry="http://127.0.0.1:9")
    keys = {"tools": ["*", "*/*"], "delegates": ["child"], **keys}
    agents = {"boss": agent_file("boss", **keys), "child": agent_file("child", tools=["*", "*/*"])}
    return place(
        tmp_path,
        servers={"one": server(pids), "two": server(pids)},
        agents=agents,
        config=f"orchestrator: boss\n{config}",
        tools=made,
    )


async def both(agent, tool, **arguments):
    """The same call by the tool's own name and through the registry's tool; they must not differ.

    But for the repetition, which is counted whatever way it came by.
    """
    direct = await call(agent, f"mcp__one__{tool}", **arguments)
    through = await call(agent, TOOL, server="one", tool=tool, arguments=arguments)
    assert through.outcome is direct.outcome
    if through.outcome is Outcome.REJECTED:
        assert through.text.endswith(direct.text)
    else:
        assert through.answer.content == direct.answer.content
    return through


def test_an_admitted_call_is_the_servers_own_answer(tmp_path, pids):
    workspace = world(tmp_path, pids)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            result = await both(boss, "echo", x=1)
            assert json.loads(result.text)["arguments"] == {"x": 1}
            assert (await both(boss, "fail")).outcome is Outcome.TOOL_ERROR

    anyio.run(main)


@pytest.mark.parametrize(
    "case",
    [
        ("deny: [one/echo]\n", {}, "echo", "is denied"),
        ("", {"disallowed_tools": ["one/echo"]}, "echo", "is denied"),
        ("", {"tools": [TOOL, "two/*"]}, "echo", "is not on this agent's belt"),
        ("", {"tools": ["*", "*/*"], "inherit_mcp_servers": ["two"]}, "echo", "is not on this agent's belt"),
        (SERVERS, {}, "fail", "over this agent's ceiling"),
        ("servers: {one: {access: handoff, owners: [child]}}\n", {}, "echo", "is not for this agent to call"),
        ("approve: [one/echo]\n", {}, "echo", "needs a person's approval"),
        ("", {}, "no_such_tool", "no_such_tool"),
    ],
    ids=["deny", "own-deny", "grant", "scope", "ceiling", "access", "approval", "unknown"],
)
def test_what_the_gate_keeps_from_an_agent_it_keeps_on_this_way_too(tmp_path, pids, case):
    config, keys, tool, said = case
    workspace = world(tmp_path, pids, config, **keys)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            assert (await boss.turn()).belt[TOOL].state == "direct"
            result = await both(boss, tool)
            assert result.outcome is Outcome.REJECTED
            assert said in result.text

    anyio.run(main)


def test_a_spawn_that_cuts_a_server_cuts_every_way_to_it(tmp_path, pids):
    workspace = world(tmp_path, pids)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("child", mcp_servers=["two"]) as child:
                assert (await both(child, "echo")).outcome is Outcome.REJECTED
                for what in ("connect", "disconnect"):
                    result = await call(child, f"mcp_registry_{what}", server="one")
                    assert "agent 'child' has no server 'one'; choose one of: two" in result.text
                assert (await call(child, "mcp_registry_disconnect", server="two")).outcome is Outcome.OK
            assert fleet.snapshot.servers["one"].status == "connected"
            async with boss.spawn("child", deny=["one/echo"]) as child:
                assert (await both(child, "echo")).outcome is Outcome.REJECTED
                assert (await both(child, "env")).outcome is Outcome.OK

    anyio.run(main)


def test_a_person_is_asked_about_the_servers_tool_and_not_about_the_way_to_it(tmp_path, pids):
    workspace = world(tmp_path, pids, "approve: [one/echo]\n")
    asked = []

    def approve(approval):
        asked.append((str(approval.tool.id), dict(approval.arguments)))
        return True

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss", approve=approve) as boss:
            result = await call(boss, TOOL, server="one", tool="echo", arguments={"x": 1})
            assert result.outcome is Outcome.OK

    anyio.run(main)
    assert asked == [("server:one/echo", {"x": 1})]


def test_a_call_whose_end_nobody_knows_spoils_the_run_on_this_way_too(tmp_path, pids):
    workspace = world(tmp_path, pids)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, TOOL, server="one", tool="die")  # not listed, and so not known
            assert result.outcome is Outcome.REJECTED
            await call(boss, "mcp__one__echo")
            assert not boss.spoiled

    anyio.run(main)

    killed = place(
        tmp_path,
        servers={"one": server(pids, "die")},
        agents={"boss": agent_file("boss", tools=["*", "*/*"])},
        tools=toolkits.mcp_registry(tmp_path, registry="http://127.0.0.1:9"),
    )

    async def again():
        async with opened(killed) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, TOOL, server="one", tool="die")
            assert result.outcome is Outcome.AMBIGUOUS
            assert boss.spoiled

    anyio.run(again)


def test_no_tool_but_a_servers_is_called_on_this_way(tmp_path, pids):
    def secret() -> str:
        """Secret."""
        return "told"

    made = [*toolkits.mcp_registry(tmp_path, registry="http://127.0.0.1:9"), secret]
    workspace = place(tmp_path, agents={"boss": agent_file("boss", tools=[TOOL])}, tools=made)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            for named in ("native", "", "handoff", "server:native"):
                result = await call(boss, TOOL, server=named, tool="secret")
                assert result.outcome is Outcome.REJECTED
                assert "told" not in result.text

    anyio.run(main)


def test_outside_of_a_fleet_nothing_is_called():
    *_, tool_call = toolkits.mcp_registry(".", registry="http://127.0.0.1:9")
    with pytest.raises(packbelt.NoCallerError):
        anyio.run(tool_call, "one", "echo")
