"""What is left of a run when its process is killed, and who may continue it."""

import signal
import subprocess
import sys
import textwrap

import anyio
import pytest
from fleet_world import agent_file, opened, place, server

from packbelt import RunBusyError, RunNotResumableError, ToolCall, UnknownRunError

HOST = """
    import sys
    import anyio, packbelt
    from packbelt import ToolCall

    async def run(agent, request):
        turn = await agent.turn()
        agent.messages.append({"role": "user", "content": request})
        await agent.turn()
        if request == "think":
            print(agent.run_id, flush=True)
            await anyio.sleep_forever()
        print(agent.run_id, flush=True)
        await turn.run([ToolCall("1", "mcp__s__hang", {})])

    async def main():
        async with packbelt.open(packbelt.load(sys.argv[1]), run=run, trust=True, runs=sys.argv[2]) as fleet:
            async with fleet.agent("boss") as boss:
                turn = await boss.turn()
                print(boss.run_id, flush=True)
                await turn.run([ToolCall("1", "delegate_to_worker", {"request": sys.argv[3]})])

    anyio.run(main)
"""


@pytest.fixture
def workspace(tmp_path, pids):
    agents = {"boss": agent_file("boss", delegates=["worker"]), "worker": agent_file("worker")}
    return place(tmp_path / "w", agents=agents, servers={"s": server(pids, "hang", "echo")})


def killed(workspace, runs, request):
    """A host's process that is killed while its worker does as it was asked; the ids of its two runs."""
    command = [sys.executable, "-c", textwrap.dedent(HOST), str(workspace.root), str(runs), request]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        ids = [process.stdout.readline().strip() for _ in range(2)]
        assert all(ids)
        if request == "call":
            _wait_until_in_flight(runs, ids[1])
        process.send_signal(signal.SIGKILL)
    finally:
        process.wait(20)
        process.stdout.close()
    return ids


def _wait_until_in_flight(runs, run_id):
    import sqlite3
    import time

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with sqlite3.connect(f"file:{runs}?mode=ro", uri=True) as db:
            row = db.execute("SELECT resumable FROM packbelt_runs WHERE id = ?", (run_id,)).fetchone()
        db.close()
        if row and not row[0]:
            return
        time.sleep(0.02)
    raise AssertionError("the call never left")


def test_a_process_killed_in_the_middle_of_a_call_leaves_a_run_that_says_why(workspace, tmp_path):
    runs = tmp_path / "runs.sqlite3"
    boss, worker = killed(workspace, runs, "call")

    async def main():
        async with opened(workspace, runs=runs, run=_never) as fleet:
            for run_id, doing in ((worker, "server:s/hang"), (boss, "delegate_to_worker")):
                run = await fleet.runs.get(run_id)
                assert (run.status, run.resumable) == ("failed", False)
                assert doing in run.reason
                with pytest.raises(RunNotResumableError, match=doing):
                    await fleet.send_input(run_id, "go on")

    anyio.run(main)


def test_a_process_killed_between_calls_leaves_a_run_that_can_be_continued(workspace, tmp_path):
    runs = tmp_path / "runs.sqlite3"
    _, worker = killed(workspace, runs, "think")
    seen = []

    async def run(agent, request):
        seen.append((agent.path, request, list(agent.messages)))
        return "continued"

    async def main():
        async with opened(workspace, runs=runs, run=run) as fleet:
            assert (await fleet.runs.get(worker)).status == "failed"
            answer = await fleet.send_input(worker, "go on")
            assert answer.structured == {"run_id": worker, "status": "completed", "output": "continued"}

    anyio.run(main)
    assert seen == [(("boss", "worker"), "go on", [{"role": "user", "content": "think"}])]


def test_a_run_that_is_at_work_is_busy_and_an_unknown_one_unknown(workspace, tmp_path):
    async def main():
        async with opened(workspace, run=_never) as fleet, fleet.agent("boss") as boss:
            with pytest.raises(RunBusyError):
                await fleet.send_input(boss.run_id, "go on")
            with pytest.raises(UnknownRunError):
                await fleet.send_input("no-such-run", "go on")

    anyio.run(main)


def test_a_run_of_another_workspace_is_not_continued_here(workspace, tmp_path):
    other = place(tmp_path / "other", agents={"boss": agent_file("boss")})
    runs = tmp_path / "runs.sqlite3"

    async def main():
        async with opened(workspace, runs=runs, run=_never) as fleet:
            async with fleet.agent("boss") as boss:
                pass
            async with opened(other, runs=runs, run=_never) as elsewhere:
                with pytest.raises(UnknownRunError, match="another workspace"):
                    await elsewhere.send_input(boss.run_id, "go on")
            assert (await fleet.runs.get(boss.run_id)).status == "completed"

    anyio.run(main)


def test_a_continued_run_is_bound_by_what_its_spawns_cut(workspace, tmp_path):
    from packbelt.model import Outcome

    seen = []

    async def run(agent, request):
        turn = await agent.turn()
        (result,) = await turn.run([ToolCall("1", "mcp__s__echo", {})])
        seen.append(result.outcome)
        return "ok"

    async def main():
        async with opened(workspace, run=run) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("worker", deny=["s/echo"], ceiling="execute", tools=["*"]) as child:
                pass
            await fleet.send_input(child.run_id, "try")

    anyio.run(main)
    assert seen == [Outcome.REJECTED]


async def _never(_agent, _request):
    raise AssertionError("nothing here runs an agent")


def test_the_log_says_that_a_cancelled_call_may_have_happened_and_how_long_a_start_took(workspace):
    events = []

    async def main():
        async with opened(workspace, run=_never, events=events.append) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            with anyio.move_on_after(0.3):
                await turn.run([ToolCall("1", "mcp__s__hang", {})])
            assert boss.spoiled

    anyio.run(main)
    told = [event.to_json() for event in events]
    (call,) = [one for one in told if one["kind"] == "call"]
    assert (call["outcome"], call["error"]) == ("ambiguous", "CancelledError")
    servers = [one for one in told if one["kind"] == "server"]
    assert [one["status"] for one in servers] == ["starting", "connected", "disconnected"]
    assert servers[1]["ms"] > 0
    assert "error" not in servers[2]
