"""Servers that an agent declares for itself: each row of the fifth report's sections 5 and 6, and what follows."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, direct, opened, place, server
from live_helpers import gone

from packbelt import AgentRefusedError
from packbelt.model import Code, Outcome

SHARED = "mcp__shared__echo"
MISSING = {"command": "no-such-command-anywhere"}


@pytest.fixture
def fleet_of(tmp_path, pids):
    """A fleet with one shared server, a root agent, and an agent `explorer` with these keys."""

    def make(config="orchestrator: boss\n", files=None, **keys):
        agents = {
            "boss": agent_file("boss", delegates=["explorer"]),
            "explorer": agent_file("explorer", delegates=["reader"], **keys),
            "reader": agent_file("reader"),
        }
        shared = {"shared": server(pids, "echo")}
        return opened(place(tmp_path, servers=shared, agents=agents, config=config, files=files))

    return make


def names(turn, server):
    return [tool.name for tool in turn.tools if tool.id.server == server]


def codes(turn):
    return [one.code for one in turn.diagnostics]


# section 6 ----------------------------------------------------------------------------------------------


def test_empty_mcp_servers_leaves_the_parents_as_they_are(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[]) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("explorer") as child:
                ours = set(direct(await boss.turn())) - {"delegate_to_explorer"}
                assert set(direct(await child.turn())) - {"delegate_to_reader"} == ours == {SHARED}

    anyio.run(main)
    pids.assert_gone(1)


def test_named_reference_only_is_the_shared_connection_and_stays_open(fleet_of, pids):
    async def main():
        async with (
            fleet_of(mcp_servers=["shared"], inherit_mcp_servers=False) as fleet,
            fleet.agent("boss") as boss,
        ):
            mine = json.loads((await call(boss, SHARED)).text)["pid"]
            async with boss.spawn("explorer") as child:
                assert json.loads((await call(child, SHARED)).text)["pid"] == mine
            assert json.loads((await call(boss, SHARED)).text)["pid"] == mine

    anyio.run(main)
    pids.assert_gone(1)


def test_inline_definition_starts_its_own_and_ends_it_on_completion(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            assert len(pids()) == 1  # nothing is started for an agent that is not at work
            async with boss.spawn("explorer") as child:
                assert names(await child.turn(), "explorer.db") == ["echo"]
                assert names(await boss.turn(), "explorer.db") == []
                (wire,) = [
                    tool.wire_name for tool in (await child.turn()).tools if tool.id.server == "explorer.db"
                ]
                own = json.loads((await call(child, wire, n=1)).text)
                assert own["pid"] == pids()[1]
                assert (await call(boss, wire)).outcome is Outcome.REJECTED
            assert gone(own["pid"])
            assert not gone(pids()[0])
            run = await fleet.runs.get(child.run_id)
            assert (run.status, run.resumable) == ("completed", True)

    anyio.run(main)
    pids.assert_gone(2)


def test_mixed_references_and_inline_work_together(fleet_of, pids):
    async def main():
        keys = {"mcp_servers": ["shared", {"db": server(pids, "echo")}], "inherit_mcp_servers": False}
        async with fleet_of(**keys) as fleet, fleet.agent("explorer") as explorer:
            turn = await explorer.turn()
            assert names(turn, "shared") == names(turn, "explorer.db") == ["echo"]

    anyio.run(main)
    pids.assert_gone(2)


def test_tool_deduplication_equal_names_are_two_tools_and_each_call_reaches_its_own(fleet_of, pids):
    async def main():
        async with (
            fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet,
            fleet.agent("explorer") as agent,
        ):
            wires = [tool.wire_name for tool in (await agent.turn()).tools if tool.name == "echo"]
            assert len(set(wires)) == 2
            assert SHARED in wires  # the shared one keeps its name
            reached = {json.loads((await call(agent, wire)).text)["pid"] for wire in wires}
            assert reached == set(pids())

    anyio.run(main)


@pytest.mark.parametrize("how", ["error", "cancel"])
def test_cleanup_on_error_and_on_abort(fleet_of, pids, how):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            child = boss.spawn("explorer")
            with anyio.CancelScope() as scope:
                try:
                    async with child:
                        if how == "error":
                            raise ZeroDivisionError  # the very exception, in no group
                        scope.cancel()
                        await anyio.sleep_forever()
                except ZeroDivisionError:
                    pass
            assert gone(pids()[1])
            assert (await call(boss, SHARED)).outcome is Outcome.OK
            run = await fleet.runs.get(child.run_id)
            assert run.status == "failed"
            assert run.reason == ("ZeroDivisionError" if how == "error" else "it was cancelled")

    anyio.run(main)
    pids.assert_gone(2)


def test_policy_restricted_skips_what_is_no_plugins(fleet_of, pids):
    config = "orchestrator: boss\nplugins_only: true\n"

    async def main():
        async with fleet_of(config, mcp_servers=[{"db": server(pids, "echo")}]) as fleet:
            assert fleet.snapshot.servers == {}
            async with fleet.agent("explorer") as agent:
                assert direct(await agent.turn()) == []
            assert Code.SERVER_IGNORED in [one.code for one in fleet.workspace.diagnostics]

    anyio.run(main)
    assert pids() == []


# section 5 ----------------------------------------------------------------------------------------------


def test_named_server_that_is_not_configured_is_warned_about_and_skipped(fleet_of):
    async def main():
        async with fleet_of(mcp_servers=["postgres", "shared"]) as fleet, fleet.agent("explorer") as agent:
            turn = await agent.turn()
            assert SHARED in direct(turn)
            assert Code.SERVER_UNKNOWN in codes(turn)

    anyio.run(main)


def test_inline_server_that_fails_is_warned_about_and_skipped(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": MISSING}]) as fleet, fleet.agent("explorer") as agent:
            turn = await agent.turn()
            assert SHARED in direct(turn)
            (failed,) = [one for one in turn.diagnostics if one.code is Code.SERVER_FAILED]
            assert "no-such-command-anywhere" in failed.message

    anyio.run(main)
    pids.assert_gone(1)


@pytest.mark.parametrize(
    "keys",
    [
        {"mcp_servers": [{"db": {**MISSING, "required": True}}]},
        {"mcp_servers": [{"db": MISSING}], "tools": ["db/query", "shared/*"]},
    ],
    ids=["required", "selected-by-name"],
)
def test_an_inline_server_that_fails_refuses_the_start_where_it_must_be_there(fleet_of, pids, keys):
    keys["mcp_servers"].append({"other": server(pids, "echo")})

    async def main():
        async with fleet_of(**keys) as fleet:
            with pytest.raises(AgentRefusedError, match="db"):
                async with fleet.agent("explorer"):
                    pass
            assert gone(pids()[1])  # what had started beside it is ended again
            assert fleet.snapshot.servers["shared"].status == "connected"

    anyio.run(main)
    pids.assert_gone(2)


def test_the_same_inline_server_twice_is_one_process_ended_once(fleet_of, pids):
    db = server(pids, "echo")

    async def main():
        async with (
            fleet_of(mcp_servers=[{"db": db}, {"again": db}]) as fleet,
            fleet.agent("explorer") as agent,
        ):
            turn = await agent.turn()
            assert names(turn, "explorer.db") == names(turn, "explorer.again") == ["echo"]
            wires = [tool.wire_name for tool in turn.tools if (tool.id.server or "").startswith("explorer.")]
            assert len({json.loads((await call(agent, wire)).text)["pid"] for wire in wires}) == 1

    anyio.run(main)
    pids.assert_gone(2)


def test_equal_inline_definitions_of_two_runs_are_two_processes(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("explorer") as one, boss.spawn("explorer") as other:
                seen = []
                for agent in (one, other):
                    turn = await agent.turn()
                    (wire,) = [tool.wire_name for tool in turn.tools if tool.id.server == "explorer.db"]
                    seen.append(json.loads((await call(agent, wire)).text)["pid"])
                assert len(set(seen)) == 2

    anyio.run(main)
    pids.assert_gone(3)


def test_en10_equal_commands_with_other_environments_are_two_processes(fleet_of, pids):
    servers = [{name: server(pids, "echo", env={"ACCOUNT": name})} for name in ("a", "b")]

    async def main():
        async with fleet_of(mcp_servers=servers) as fleet, fleet.agent("explorer"):
            assert len(pids()) == 3

    anyio.run(main)
    pids.assert_gone(3)


# what follows -------------------------------------------------------------------------------------------


def test_an_inline_server_is_inherited_by_the_run_below_and_by_nobody_else(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("explorer") as child, child.spawn("reader") as below:
                turn = await below.turn()
                (wire,) = [tool.wire_name for tool in turn.tools if tool.id.server == "explorer.db"]
                assert (await call(below, wire)).outcome is Outcome.OK
                async with boss.spawn("reader") as elsewhere:
                    assert names(await elsewhere.turn(), "explorer.db") == []
                    assert (await call(elsewhere, wire)).outcome is Outcome.REJECTED

    anyio.run(main)
    pids.assert_gone(2)


@pytest.mark.parametrize("left", [[], ["shared"]])
def test_an_inline_server_that_the_spawn_cuts_is_not_started(fleet_of, pids, left):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("explorer", mcp_servers=left) as child:
                assert names(await child.turn(), "explorer.db") == []

    anyio.run(main)
    pids.assert_gone(1)


def test_sa06_one_definition_gives_one_belt_by_both_ways_in(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet:
            async with fleet.agent("explorer") as root:
                top = direct(await root.turn())
            async with fleet.agent("boss") as boss, boss.spawn("explorer") as child:
                assert direct(await child.turn()) == top

    anyio.run(main)


def test_lc01_runs_one_after_the_other_leave_no_process_each(fleet_of, pids):
    async def main():
        async with fleet_of(mcp_servers=[{"db": server(pids, "echo")}]) as fleet, fleet.agent("boss") as boss:
            for count in range(2, 12):
                async with boss.spawn("explorer"):
                    assert [gone(pid) for pid in pids()].count(False) == 2
                assert len(pids()) == count
                assert [gone(pid) for pid in pids()].count(False) == 1

    anyio.run(main)
    pids.assert_gone(11)


@pytest.mark.parametrize("first", [0, 1])
def test_lc06_overlapping_runs_end_in_either_order(fleet_of, pids, first):
    async def main():
        async with fleet_of(mcp_servers=["shared"]) as fleet, fleet.agent("boss") as boss:
            agents = [boss.spawn("explorer"), boss.spawn("explorer")]
            for agent in agents:
                await agent.__aenter__()
            await agents[first].__aexit__(None, None, None)
            other = agents[1 - first]
            assert (await call(other, SHARED)).outcome is Outcome.OK
            await other.__aexit__(None, None, None)

    anyio.run(main)
    pids.assert_gone(1)


def test_nothing_untrusted_is_started(tmp_path, pids, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PACKBELT_TRUST", raising=False)
    agents = {"boss": agent_file("boss", mcp_servers=[{"db": server(pids, "echo")}])}
    workspace = place(tmp_path / "w", servers={"shared": server(pids, "echo")}, agents=agents)

    async def main():
        async with opened(workspace, trust=False) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            assert direct(turn) == []
            failed = [one.message for one in turn.diagnostics if one.code is Code.SERVER_FAILED]
            assert len(failed) == 2
            assert all("not trusted" in message for message in failed)

    anyio.run(main)
    assert pids() == []
