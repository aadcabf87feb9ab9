"""What a server does wrong costs its own calls, and nobody else anything.

Each test has a fleet with agents at work on a good server while something bad happens beside them.
"""

import contextlib
import json
import os
import signal
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import anyio.from_thread
import pytest
from fault_world import (
    AGENTS,
    GOOD,
    QUICK,
    SHORT,
    SHORT_START,
    assert_resumable,
    assert_spoiled,
    at_work,
    connected_again,
    faulty,
)
from fleet_world import agent_file, call, direct, opened, place, server
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_helpers import gone

import packbelt
from packbelt import Outcome, Permission, RunBusyError, ToolCall
from packbelt.live.runs.open import open_runs
from packbelt.live.servers.keep import lock_of

# servers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["killed", "dies", "closes its output"])
def test_a_server_that_goes_in_the_middle_of_a_call(world, unharmed, pids, how):
    workspace = world(
        bad=server(pids, "hang", "echo", "die")
        if how != "closes its output"
        else faulty(pids, "gone", "echo")
    )
    tool = {"killed": "hang", "dies": "die", "closes its output": "gone"}[how]

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, bystanders):
            process = json.loads((await call(boss, "mcp__bad__echo")).text)["pid"]
            results = []
            async with anyio.create_task_group() as tasks:

                async def broken():
                    results.append(await call(victim, f"mcp__bad__{tool}"))

                tasks.start_soon(broken)
                await bystanders.more()
                if how == "killed":
                    os.kill(process, signal.SIGKILL)
            (result,) = results
            assert result.outcome is Outcome.AMBIGUOUS
            assert "whether the call ran is not known" in result.text
            await assert_spoiled(fleet, victim, boss, doing=f"server:bad/{tool}")
            await connected_again(fleet, "bad")
            again = await call(boss, "mcp__bad__echo")
            assert again.outcome is Outcome.OK
            assert json.loads(again.text)["pid"] != process

    unharmed(main)
    pids.assert_gone(3)


def test_a_call_while_the_server_is_away_is_not_started(world, unharmed, pids):
    workspace = world(bad=server(pids, "die", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            turn = await victim.turn()
            async with boss.spawn("worker") as sister:
                await call(victim, "mcp__bad__die")
                result = await call(sister, "mcp__bad__echo")
                assert result.outcome in (Outcome.REJECTED, Outcome.NOT_STARTED)
                await assert_resumable(fleet, sister)
            await connected_again(fleet, "bad")
            (late,) = await turn.run([ToolCall("1", "mcp__bad__echo", {})])  # an old turn is gated anew
            assert late.outcome is Outcome.OK

    unharmed(main)


@pytest.mark.parametrize("fault", ["mute", "unlisted", "junk"])
def test_a_server_that_never_starts(world, unharmed, pids, fault):
    workspace = world(config=SHORT_START, bad=faulty(pids, "echo", fault=fault))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            state = fleet.snapshot.servers["bad"]
            assert state.status in ("failed", "starting")
            if fault != "unlisted":
                assert "\n" not in state.error
            assert not [name for name in direct(await boss.turn()) if "bad" in name]
            result = await call(victim, "mcp__bad__echo")
            assert result.outcome is Outcome.REJECTED
            await assert_resumable(fleet, boss, victim)

    unharmed(main)
    assert all(gone(pid) for pid in pids())


def test_a_server_that_hangs_in_a_call(world, unharmed, pids):
    workspace = world(config=SHORT, bad=server(pids, "hang", "echo", "cancelled"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, bystanders):
            result = await call(victim, "mcp__bad__hang")
            assert result.outcome is Outcome.AMBIGUOUS
            assert "0.3 s" in result.text
            await assert_spoiled(fleet, victim, boss, doing="server:bad/hang")
            # The server was told, is the same, and serves everybody else.
            assert json.loads((await call(bystanders.agents[0], "mcp__bad__cancelled")).text)
            assert (await call(victim, "mcp__bad__echo")).outcome is Outcome.OK
            await assert_spoiled(fleet, victim, boss, doing="server:bad/hang")  # and stays so

    unharmed(main)
    pids.assert_gone(2)


def test_a_late_answer_is_nobodys(world, unharmed, pids):
    workspace = world(config=SHORT, bad=faulty(pids, "late", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            assert (await call(victim, "mcp__bad__late", seconds=0.6)).outcome is Outcome.AMBIGUOUS
            await assert_spoiled(fleet, victim, boss, doing="server:bad/late")
            for n in range(20):
                result = await call(boss, "mcp__bad__echo", n=n)
                assert json.loads(result.text)["arguments"] == {"n": n}
                await anyio.sleep(0.03)

    unharmed(main)


@pytest.mark.parametrize("tool", ["twice", "mistaken", "junk"])
def test_an_answer_with_noise_around_it_is_the_answer(world, unharmed, pids, tool):
    workspace = world(bad=faulty(pids, tool, "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            for n in range(5):
                result = await call(victim, f"mcp__bad__{tool}")
                assert (result.outcome, result.text) == (Outcome.OK, "as asked")
                after = await call(boss, "mcp__bad__echo", n=n)
                assert json.loads(after.text)["arguments"] == {"n": n}
            await assert_resumable(fleet, boss, victim)

    unharmed(main)
    pids.assert_gone(2)


def test_an_answer_under_a_foreign_id_is_none(world, unharmed, pids):
    workspace = world(config=SHORT, bad=faulty(pids, "wrong", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            assert (await call(victim, "mcp__bad__wrong")).outcome is Outcome.AMBIGUOUS
            await assert_spoiled(fleet, victim, boss, doing="server:bad/wrong")
            assert (await call(boss, "mcp__bad__echo")).outcome is Outcome.OK

    unharmed(main)


def test_noise_at_the_start_costs_nothing(world, unharmed, pids):
    workspace = world(bad=faulty(pids, "echo", fault="noisy"))

    async def main():
        async with at_work(workspace) as (_, _, victim, _):
            assert (await call(victim, "mcp__bad__echo")).outcome is Outcome.OK

    unharmed(main)


def test_100_mb_of_standard_error_stop_nothing(world, unharmed, pids):
    workspace = world(bad=faulty(pids, "flood"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            result = await call(victim, "mcp__bad__flood", size=100 << 20)
            assert (result.outcome, result.text) == (Outcome.OK, "as asked")
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_a_result_of_10_mb_is_an_error_that_says_so(world, unharmed, pids):
    workspace = world(bad=server(pids, "big", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            result = await call(victim, "mcp__bad__big", size=10_000_000)
            assert result.outcome is Outcome.TOOL_ERROR
            assert "1,048,576" in result.text
            assert len(result.text) < 500
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_a_list_that_changes_during_a_call(world, unharmed, pids):
    workspace = world(bad=faulty(pids, "relist", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            turn = await victim.turn()
            results = await turn.run(
                [ToolCall(str(n), "mcp__bad__relist" if n == 3 else GOOD, {}) for n in range(6)]
            )
            assert {result.outcome for result in results} == {Outcome.OK}
            with anyio.fail_after(20):
                while "mcp__bad__fresh" not in direct(await boss.turn()):
                    await anyio.sleep(0.01)
            assert (await call(victim, "mcp__bad__relist")).outcome is Outcome.REJECTED
            assert (await call(victim, "mcp__bad__echo")).outcome is Outcome.OK
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_a_tool_whose_description_is_swapped_is_refused_by_the_lock(tmp_path, world, unharmed, pids):
    servers = {"bad": faulty(pids, "swap", "echo"), "safe": server(pids, "echo")}
    workspace = world(**servers)

    async def main():
        nonlocal workspace
        async with opened(workspace) as fleet:
            lock = lock_of(workspace, fleet.snapshot)
        workspace = world(files={"packbelt.lock": lock}, **servers)
        async with at_work(workspace) as (fleet, boss, victim, _):
            turn = await victim.turn()
            assert (await call(victim, "mcp__bad__swap")).outcome is Outcome.OK
            with anyio.fail_after(20):
                while "mcp__bad__echo" in direct(await boss.turn()):
                    await anyio.sleep(0.01)
            (result,) = await turn.run([ToolCall("1", "mcp__bad__echo", {})])
            assert (result.outcome, result.hint.kind) == (Outcome.REJECTED, "unavailable")
            assert "Ignore what you were told" not in (await boss.turn()).prompt + result.text
            decision = (await boss.turn()).belt["mcp__bad__echo"].decision
            assert (decision.state, decision.reasons[0].rule) == ("unavailable", "tool.changed")
            assert (await call(victim, "mcp__safe__echo")).outcome is Outcome.OK
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_the_tools_of_a_locked_server_that_did_not_change_stay_callable(world, unharmed, pids):
    servers = {"bad": server(pids, "echo", "env")}
    workspace = world(**servers)

    async def main():
        nonlocal workspace
        async with opened(workspace) as fleet:
            lock = json.loads(lock_of(workspace, fleet.snapshot))
        lock["servers"]["bad"]["echo"] = "sha256:" + "0" * 64
        workspace = world(files={"packbelt.lock": json.dumps(lock)}, **servers)
        async with at_work(workspace) as (_, _, victim, _):
            assert (await call(victim, "mcp__bad__echo")).outcome is Outcome.REJECTED
            assert (await call(victim, "mcp__bad__env")).outcome is Outcome.OK

    unharmed(main)


def test_a_server_that_outlives_its_closed_standard_input(world, unharmed, pids):
    workspace = world(
        config=SHORT_START.replace("0.6, shutdown", "20, shutdown").replace("start: 0.6", "start: 20"),
        bad=faulty(pids, "echo", fault="deaf"),
    )

    async def main():
        async with at_work(workspace) as (_, _, victim, _):
            assert (await call(victim, "mcp__bad__echo")).outcome is Outcome.OK

    unharmed(main)
    pids.assert_gone(2)


class Dropping(BaseHTTPRequestHandler):
    """MCP over HTTP; the tool `drop` ends its connection once the call has arrived."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = (message.get("params") or {}).get("name")
        self.server.seen.append(name or message["method"])
        if name == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return None
        if name == "broken":
            return self.reply(500, {})
        if "id" not in message:
            return self.reply(202, None)
        tools = [
            {"name": n, "description": n, "inputSchema": {"type": "object"}}
            for n in ("drop", "echo", "broken")
        ]
        info = {"name": "dropping", "version": "1"}
        result = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            },
            "tools/list": {"tools": tools},
            "tools/call": {"content": [{"type": "text", "text": "as asked"}]},
        }.get(message["method"])
        found = (
            {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        )
        return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], **found})

    def do_GET(self):
        self.reply(405, None)

    do_DELETE = do_GET

    def reply(self, status, data):
        body = b"" if data is None else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def dropping(nothing_left):
    with ThreadingHTTPServer(("127.0.0.1", 0), Dropping) as http:
        http.seen, http.daemon_threads = [], True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield http
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("tool", ["drop", "broken"])
def test_an_http_connection_that_is_dropped_after_dispatch(world, unharmed, dropping, tool):
    url = f"http://127.0.0.1:{dropping.server_address[1]}/mcp"
    workspace = world(bad={"type": "http", "url": url})

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, bystanders):
            result = await call(victim, f"mcp__bad__{tool}")
            assert result.outcome is Outcome.AMBIGUOUS
            assert dropping.seen.count(tool) == 1  # never sent again
            await assert_spoiled(fleet, victim, boss, doing=f"server:bad/{tool}")
            with anyio.fail_after(20):
                while (await call(bystanders.agents[0], "mcp__bad__echo")).outcome is not Outcome.OK:
                    await anyio.sleep(0.05)

    unharmed(main)


# many at once -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [8, 1])
def test_50_agents_at_one_server_get_each_its_own_answer(world, unharmed, pids, concurrency):
    config = QUICK + f"servers: {{many: {{concurrency: {concurrency}}}}}\n"
    workspace = world(config=config, many=server(pids, "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, _, _), contextlib.AsyncExitStack() as stack:
            agents = [await stack.enter_async_context(boss.spawn("worker")) for _ in range(50)]
            answered = []

            async def one(number):
                for turn in range(2):
                    result = await call(agents[number], "mcp__many__echo", who=number, turn=turn)
                    assert json.loads(result.text)["arguments"] == {"who": number, "turn": turn}
                    answered.append(number)

            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(one, number)
            if concurrency == 1:  # first come, first served: nobody is served twice before all were once
                assert sorted(answered[:50]) == list(range(50))
            await assert_resumable(fleet, boss, *agents)

    unharmed(main)
    pids.assert_gone(2)


def test_a_call_that_its_queue_does_not_reach_is_not_started(world, unharmed, pids):
    config = "orchestrator: boss\ntimes: {call: 20, queue: 0.3}\nservers: {bad: {concurrency: 1}}\n"
    workspace = world(config=config, bad=server(pids, "slow", "echo"))

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _), boss.spawn("worker") as waiting:
            results = {}

            async def one(agent, name, **arguments):
                results[name] = await call(agent, f"mcp__bad__{name}", **arguments)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: one(victim, "slow", seconds=1.2))
                await anyio.sleep(0.1)
                tasks.start_soon(lambda: one(waiting, "echo"))
            assert results["slow"].outcome is Outcome.OK
            assert results["echo"].outcome is Outcome.NOT_STARTED
            assert "0.3 s" in results["echo"].text
            await assert_resumable(fleet, boss, victim, waiting)

    unharmed(main)


def test_500_calls_in_one_reply(world, unharmed):
    def nothing(n: int) -> int:
        """Gives back."""
        return n

    workspace = world(tools=[nothing])

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            names = [GOOD, "nothing", "no_such_tool", GOOD, "nothing"]
            calls = [ToolCall(f"id{n}", names[n % 5], {"n": n}) for n in range(500)]
            results = await (await victim.turn()).run(calls)
            assert [result.id for result in results] == [one.id for one in calls]
            for n, result in enumerate(results):
                if n % 5 == 2:
                    assert result.outcome is Outcome.REJECTED
                else:
                    said = json.loads(result.text)
                    assert (said["arguments"]["n"] if isinstance(said, dict) else said) == n
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


# cancelling and closing ---------------------------------------------------------------------------------


def test_a_parent_cancelled_while_a_childs_own_server_starts(world, unharmed, pids):
    own = {"db": faulty(pids, "echo", fault="mute")}
    workspace = world(
        agents={**AGENTS, "worker": agent_file("worker"), "helper": agent_file("helper", mcp_servers=[own])}
    )

    async def main():
        async with at_work(workspace) as (fleet, boss, _, bystanders):
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:

                    async def spawning():
                        async with boss.spawn("helper"):
                            pytest.fail("it cannot start")

                    tasks.start_soon(spawning)
                    await anyio.to_thread.run_sync(pids.wait_for, 2)
                    await bystanders.more()
                    scope.cancel()
            assert [gone(pid) for pid in pids()] == [False, True]
            await assert_resumable(fleet, boss)
            runs = await fleet.runs.find(str(fleet.workspace.root))
            assert "helper" not in [run.agent for run in runs]

    unharmed(main)
    pids.assert_gone(2)


@pytest.mark.parametrize("depth", ["fleet", "agent", "child"])
@pytest.mark.parametrize(
    "error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)], ids=lambda e: type(e).__name__
)
def test_what_a_host_raises_comes_out_as_it_is(world, nothing_left, pids, error, depth):
    own = [{"db": server(pids, "echo")}]
    workspace = world(agents={**AGENTS, "worker": agent_file("worker", mcp_servers=own)})

    async def main():
        async with contextlib.AsyncExitStack() as stack:
            fleet = await stack.enter_async_context(opened(workspace))
            if depth != "fleet":
                boss = await stack.enter_async_context(fleet.agent("boss"))
                if depth == "child":
                    await stack.enter_async_context(boss.spawn("worker"))
            raise error

    with pytest.raises(type(error)) as caught:
        anyio.run(main)
    assert caught.value is error
    pids.assert_gone(2 if depth == "child" else 1)


def test_a_fleet_cancelled_while_its_servers_start(world, unharmed, pids):
    workspace = world(bad=faulty(pids, "echo", fault="mute"), other=faulty(pids, "echo", fault="unlisted"))

    async def main():
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:

                async def opening():
                    async with opened(workspace):
                        pytest.fail("two of its servers never answer")

                tasks.start_soon(opening)
                await anyio.to_thread.run_sync(pids.wait_for, 3)
                scope.cancel()

    unharmed(main)
    pids.assert_gone(3)


def test_a_fleet_closed_while_a_call_is_under_way(world, unharmed, pids, tmp_path):
    workspace, runs = world(bad=server(pids, "hang", "echo")), tmp_path / "runs.sqlite3"
    results = {}

    async def main():
        async with anyio.create_task_group() as tasks:
            async with opened(workspace, runs=runs) as fleet:
                agent = fleet.agent("boss")
                await agent.__aenter__()
                run_id = agent.run_id

                async def calling():
                    results["hang"] = await call(agent, "mcp__bad__hang")

                tasks.start_soon(calling)
                with anyio.fail_after(20):
                    while (await fleet.runs.get(run_id)).resumable:
                        await anyio.sleep(0.01)
            pids.assert_gone(2)
            results["after"] = await call(agent, GOOD)
        assert results["hang"].outcome is Outcome.AMBIGUOUS
        assert results["after"].outcome in (Outcome.NOT_STARTED, Outcome.REJECTED)
        with pytest.raises(packbelt.PackbeltError, match="closed"):
            await agent.__aexit__(None, None, None)
        async with open_runs(runs, workspace=workspace.root) as store:
            run = await store.get(run_id)
            assert (run.status, run.resumable) == ("failed", False)
            assert "server:bad/hang" in run.reason

    unharmed(main)


def test_an_agent_left_while_a_call_is_under_way(world, unharmed, pids):
    workspace = world(bad=server(pids, "slow"))

    async def main():
        async with at_work(workspace) as (fleet, boss, _, _):
            results = []
            async with anyio.create_task_group() as tasks:
                async with boss.spawn("worker") as child:

                    async def calling():
                        results.append(await call(child, "mcp__bad__slow", seconds=0.5))

                    tasks.start_soon(calling)
                    with anyio.fail_after(20):
                        while (await fleet.runs.get(child.run_id)).resumable:
                            await anyio.sleep(0.01)
                run = await fleet.runs.get(child.run_id)
                assert (run.status, run.resumable) == ("completed", False)
                assert "server:bad/slow" in run.reason
            assert results[0].outcome is Outcome.OK  # the answer is not lost

    unharmed(main)


# reload -------------------------------------------------------------------------------------------------


def test_a_reload_during_calls_costs_only_the_calls_of_what_it_ends(world, unharmed, pids):
    entry = server(pids, "slow", "hang", "echo")
    workspace = world(bad=entry)

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, bystanders):
            results = {}

            async def one(name, tool, **arguments):
                results[name] = await call(victim if name == "ended" else boss, tool, **arguments)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: one("ended", "mcp__bad__hang"))
                tasks.start_soon(lambda: one("kept", "mcp__good__slow", seconds=0.5))
                await bystanders.more()
                world(bad={**entry, "env": {"OTHER": "1"}})
                await fleet.reload()
            assert results["kept"].outcome is Outcome.OK
            assert results["ended"].outcome is Outcome.AMBIGUOUS
            await assert_spoiled(fleet, victim, doing="server:bad/hang")
            assert (await call(boss, "mcp__bad__echo")).outcome is Outcome.OK

    unharmed(main)
    pids.assert_gone(3)


@pytest.mark.parametrize("how", ["gone", "broken"])
def test_an_agent_whose_file_goes_while_it_works(world, unharmed, tmp_path, how):
    workspace = world()
    events = []

    async def main():
        async with at_work(workspace, events=events.append) as (fleet, boss, _, bystanders):
            async with boss.spawn("helper") as helper:
                turn = await helper.turn()
                assert (await turn.run([ToolCall("1", GOOD, {})]))[0].outcome is Outcome.OK
                fresh = world(agents={name: text for name, text in AGENTS.items() if name != "helper"})
                file = fresh.root / "prompts" / "agents" / "helper.md"
                file.unlink() if how == "gone" else file.write_text("---\nname: [\n---\n")
                await fleet.reload(packbelt.load(fresh.root))
                results = await turn.run([ToolCall("1", GOOD, {}), ToolCall("2", GOOD, {})])
                assert {one.outcome for one in results} <= {Outcome.REJECTED, Outcome.NOT_STARTED}
                assert "helper" in results[0].text
                with pytest.raises(packbelt.PackbeltError):
                    await helper.turn()
            await bystanders.more()
            before = len(events)
            await call(boss, GOOD)
            await bystanders.more()
            assert len(events) > before  # the log goes on

    unharmed(main)


def test_a_run_that_cannot_start_again_is_not_at_work(world, unharmed, pids):
    agents = {**AGENTS, "boss": agent_file("boss", delegates=["helper"])}
    workspace = world(agents=agents)

    async def run(agent, request):
        return f"did {request}"

    async def main():
        async with at_work(workspace, run=run) as (fleet, boss, _, _):
            first = await call(boss, "delegate_to_helper", request="one")
            run_id = first.answer.structured["run_id"]
            world(agents={**agents, "helper": agent_file("helper", tools=["nosuch/tool"])})
            await fleet.reload()
            for _ in range(2):  # refused, and refused again: not busy
                answer = await fleet.send_input(run_id, "two")
                assert answer.outcome is Outcome.NOT_STARTED
                assert "nosuch" in answer.text
            assert (await fleet.runs.get(run_id)).status != "running"
            world(agents=agents)
            await fleet.reload()
            answer = await fleet.send_input(run_id, "three")
            assert answer.structured["output"] == "did three"

    unharmed(main)


def test_of_many_who_continue_one_run_one_does(world, unharmed):
    workspace = world()
    at_once = []

    async def run(agent, request):
        at_once.append(request)
        await anyio.sleep(0.1)
        at_once.remove(request)
        assert at_once == []
        return "done"

    async def main():
        async with at_work(workspace, run=run) as (fleet, boss, _, _):
            run_id = (await call(boss, "delegate_to_worker", request="one")).answer.structured["run_id"]
            said = []

            async def continuing(number):
                try:
                    said.append((await fleet.send_input(run_id, str(number))).outcome)
                except RunBusyError:
                    said.append("busy")

            async with anyio.create_task_group() as tasks:
                for number in range(5):
                    tasks.start_soon(continuing, number)
            assert sorted(map(str, said)) == ["busy"] * 4 + ["ok"]

    unharmed(main)


# law 4: what is refused above is refused below ------------------------------------------------------------


SERVERS = {"one": ("echo", "fail"), "two": ("echo", "env")}
SELECTORS = st.sampled_from(["one/echo", "one/*", "two/echo", "two/env", "*/*", "note", "peek", "*"])
CUT = st.fixed_dictionaries(
    {},
    optional={
        "deny": st.lists(SELECTORS.filter(lambda s: s != "*"), max_size=2),
        "tools": st.lists(SELECTORS, max_size=3),
        "mcp_servers": st.lists(st.sampled_from(["one", "two"]), max_size=2, unique=True),
        "ceiling": st.sampled_from([str(level) for level in Permission]),
    },
)
STEP = st.tuples(st.sampled_from(["worker", "helper", "greedy"]), CUT)


@pytest.fixture
def walked(tmp_path, pids, nothing_left):
    @packbelt.tool(permission="write")
    def note() -> str:
        """Notes."""
        return "noted"

    def peek() -> str:
        """Peeks."""
        return "seen"

    agents = {
        **AGENTS,
        "greedy": agent_file("greedy", tools=["*"], mcp_servers=["one", "two"], ceiling="dangerous"),
    }
    servers = {name: server(pids, *tools) for name, tools in SERVERS.items()}
    workspace = place(tmp_path / "w", servers=servers, agents=agents, tools=[note, peek])
    with anyio.from_thread.start_blocking_portal() as portal:
        with portal.wrap_async_context_manager(opened(workspace)) as fleet:
            yield portal, fleet


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=1, max_size=4))
def test_law_4_what_a_spawn_cut_stays_cut_below(walked, steps):
    portal, fleet = walked
    names = ["note", "peek", *(f"mcp__{name}__{tool}" for name, tools in SERVERS.items() for tool in tools)]

    async def refused(agent):
        turn = await agent.turn()
        results = await turn.run([ToolCall(name, name, {}) for name in names])
        assert {one.outcome for one in results} <= {Outcome.OK, Outcome.TOOL_ERROR, Outcome.REJECTED}
        return {one.id for one in results if one.outcome is Outcome.REJECTED}

    async def walk():
        async with contextlib.AsyncExitStack() as stack:
            agent = await stack.enter_async_context(fleet.agent("boss"))
            agents, cut = [agent], [await refused(agent)]
            for name, options in steps:
                agent = await stack.enter_async_context(agent.spawn(name, **options))
                agents.append(agent)
                cut.append(await refused(agent))
                assert cut[-2] <= cut[-1], (name, options)
                denied = set(options.get("deny", ()))
                assert {n for n in ("note", "peek") if n in denied} <= cut[-1]
            # What is revised from outside binds all of them at once, whatever turn they have in hand.
            fleet.revise(packbelt.Snapshot.from_data({"deny": ["two/*"]}))
            try:
                for each, before in zip(agents, cut, strict=True):
                    assert await refused(each) >= before | {"mcp__two__echo", "mcp__two__env"}
            finally:
                fleet.revise(packbelt.Snapshot())

    portal.call(walk)
