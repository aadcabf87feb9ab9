"""A child has its parent's MCP tools, over its parent's connections: the first report, line by line."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, direct, opened, place, server

from packbelt.model import Outcome, SelectorError, ToolCall

BRAVE, TAVILY = "mcp__brave__echo", "mcp__tavily__echo"
AGENTS = {
    "boss": agent_file("boss", delegates=["investigator"]),
    "investigator": agent_file("investigator", delegates=["reader"]),
    "reader": agent_file("reader"),
}


@pytest.fixture
def two(tmp_path, pids):
    def make(agents=AGENTS, **more):
        servers = {"brave": server(pids, "echo"), "tavily": server(pids, "echo", "slow")}
        return place(tmp_path, servers=servers, agents=agents, **more)

    return make


@pytest.mark.parametrize("fork_context", [False, True])
def test_sa01_a_child_has_its_parents_mcp_tools_over_its_connections(two, pids, fork_context):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss:
            boss.messages.append({"role": "user", "content": "hello"})
            mine = json.loads((await call(boss, BRAVE, q=1)).text)
            async with boss.spawn("investigator", fork_context=fork_context) as child:
                assert {BRAVE, TAVILY} <= set(direct(await child.turn()))
                assert child.messages == (boss.messages if fork_context else [])
                his = json.loads((await call(child, BRAVE, q=2)).text)
                assert his == {"arguments": {"q": 2}, "pid": mine["pid"], "tool": "echo"}

    anyio.run(main)
    pids.assert_gone(2)


def test_no_second_process_is_started_at_depth_three(two, pids):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as one:
            async with one.spawn("investigator") as two_, two_.spawn("reader") as three:
                seen = [json.loads((await call(each, TAVILY)).text)["pid"] for each in (one, two_, three)]
                assert len(set(seen)) == 1
                assert three.path == ("boss", "investigator", "reader")

    anyio.run(main)
    pids.assert_gone(2)


def test_mcp_servers_leaves_a_child_only_those(two):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("investigator", mcp_servers=["brave"]) as child:
                assert TAVILY not in direct(await child.turn())
                refused = await call(child, TAVILY)
                assert refused.outcome is Outcome.REJECTED
                async with child.spawn("reader", mcp_servers=["tavily"]) as below:  # what was cut stays cut
                    assert not {BRAVE, TAVILY} & set(direct(await below.turn()))
                    assert (await call(below, TAVILY)).outcome is Outcome.REJECTED
            async with boss.spawn("investigator", mcp_servers=[]) as none:
                assert not {BRAVE, TAVILY} & set(direct(await none.turn()))
            with pytest.raises(SelectorError, match=r"no server is called 'brvae'.*brave"):
                async with boss.spawn("investigator", mcp_servers=["brvae"]):
                    pass

    anyio.run(main)


def test_a_hand_off_passes_mcp_servers_on(two):
    seen = []

    async def run(agent, request):
        seen.append((agent.path, request, direct(await agent.turn())))
        return "done"

    async def main():
        async with opened(two(), run=run) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, "delegate_to_investigator", request="look", mcp_servers=["tavily"])
            assert result.answer.structured["status"] == "completed"
            unknown = await call(boss, "delegate_to_investigator", request="look", mcp_servers=["x"])
            assert unknown.outcome is Outcome.REJECTED
            assert "no server is called 'x'" in unknown.text

    anyio.run(main)
    ((path, request, tools),) = seen
    assert (path, request) == (("boss", "investigator"), "look")
    assert TAVILY in tools
    assert BRAVE not in tools


def test_a_late_server_reaches_children_that_are_at_work(tmp_path, pids):
    late = server(pids, "echo")
    workspace = place(tmp_path, servers={}, agents=AGENTS)

    async def main():
        async with (
            opened(workspace) as fleet,
            fleet.agent("boss") as boss,
            boss.spawn("investigator") as child,
        ):
            before = direct(await child.turn())
            assert BRAVE not in before
            place(tmp_path, servers={"brave": late}, agents=AGENTS)
            await fleet.reload()
            after = direct(await child.turn())
            assert after == [*before, BRAVE]  # appended: nothing before it moves
            assert (await call(child, BRAVE)).outcome is Outcome.OK

    anyio.run(main)


def test_a_changed_list_reaches_children_at_their_next_turn(two):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss, boss.spawn("investigator") as child:
            first = await child.turn()
            changed = anyio.Event()
            fleet.subscribe(changed.set)
            brave = fleet._connection("brave")

            async def nothing():
                pass

            await brave.call("list", {"tools": ["echo", "fresh"]}, dispatching=nothing)
            with anyio.fail_after(10):
                await changed.wait()
            assert "mcp__brave__fresh" not in direct(first)
            assert direct(await child.turn()) == [*direct(first), "mcp__brave__fresh"]

    anyio.run(main)


def test_a_slow_server_makes_nobody_wait_for_another(two):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss, boss.spawn("investigator") as child:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: call(child, "mcp__tavily__slow", seconds=600))
                with anyio.fail_after(10):
                    for _ in range(20):
                        assert (await call(boss, BRAVE)).outcome is Outcome.OK
                tasks.cancel_scope.cancel()

    anyio.run(main)


def test_a_cancelled_call_is_cancelled_at_the_server(two):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss, boss.spawn("investigator") as child:
            with anyio.move_on_after(0.3):
                await call(child, "mcp__tavily__slow", seconds=600)

            async def nothing():
                pass

            with anyio.fail_after(10):
                while (
                    await fleet._connection("tavily").call("cancelled", {}, dispatching=nothing)
                ).text == "[]":
                    await anyio.sleep(0.02)
            for each in (child, boss):
                run = await fleet.runs.get(each.run_id)
                assert not run.resumable
                assert "server:tavily/slow" in run.reason

    anyio.run(main)


def test_calls_of_one_reply_run_side_by_side_and_come_back_in_order(two):
    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            calls = [
                ToolCall("a", "mcp__tavily__slow", {"seconds": 0.4}),
                ToolCall("b", BRAVE, '{"n": 1}'),
                ToolCall("c", "no_such_tool", {}),
                ToolCall("d", BRAVE, "no json"),
            ]
            results = await turn.run(calls)
            assert [result.id for result in results] == ["a", "b", "c", "d"]
            assert [result.outcome for result in results] == ["ok", "ok", "rejected", "rejected"]
            assert json.loads(results[1].text)["arguments"] == {"n": 1}

    anyio.run(main)


# denies, cuts and ceilings hold when the call is made ---------------------------------------------------


@pytest.mark.parametrize(
    "cut",
    [
        {"deny": ["brave/echo"]},
        {"deny": ["brave/*"]},
        {"tools": ["tavily/*"]},
        {"ceiling": "read"},
        {"mcp_servers": ["tavily"]},
    ],
    ids=["deny", "deny-server", "tools", "ceiling", "servers"],
)
def test_a_grandchild_cannot_escape_what_a_spawn_cut(tmp_path, pids, cut):
    agents = {
        **AGENTS,
        # Its own file asks for all of it again.
        "reader": agent_file("reader", tools=["*"], mcp_servers=["brave"], ceiling="dangerous"),
    }
    servers = {"brave": server(pids, "echo"), "tavily": server(pids, "echo")}
    workspace = place(tmp_path, servers=servers, agents=agents)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("investigator", **cut) as child, child.spawn("reader") as below:
                for each in (child, below):
                    assert BRAVE not in direct(await each.turn())
                    assert (await call(each, BRAVE)).outcome is Outcome.REJECTED
            assert (await call(boss, BRAVE)).outcome is Outcome.OK  # the cut binds the tree below alone

    anyio.run(main)


def test_what_is_denied_after_the_turn_was_decided_is_refused_when_it_is_called(two):
    from packbelt import Snapshot

    async def main():
        async with opened(two()) as fleet, fleet.agent("boss") as boss, boss.spawn("investigator") as child:
            turn = await child.turn()
            fleet.revise(Snapshot.from_data({"deny": ["brave/*"]}))
            (result,) = await turn.run([ToolCall("1", BRAVE, {})])
            assert result.outcome is Outcome.REJECTED
            assert result.hint.kind == "denied"

    anyio.run(main)
