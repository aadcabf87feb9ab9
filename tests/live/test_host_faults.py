"""What a host does wrong, by its callbacks, its tools, its store or its order of things, harms only its own call.

Each test has a fleet with agents at work on a good server while something bad happens beside them.
"""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.from_thread
import mcp_types
import pytest
from fault_world import AGENTS, GOOD, QUICK, SHORT, assert_resumable, assert_spoiled, at_work, faulty, mark_of
from fleet_world import agent_file, call, opened, server
from live_helpers import gone

import packbelt
from packbelt import Answer, Outcome, ToolCall
from packbelt.live.runs import RunStoreError, sqlite
from packbelt.live.runs.open import open_runs

# used in the wrong way ----------------------------------------------------------------------------------


def test_an_agent_is_entered_once(world, unharmed, pids):
    own = [{"db": server(pids, "echo")}]
    workspace = world(agents={**AGENTS, "worker": agent_file("worker", mcp_servers=own)})

    async def main():
        async with at_work(workspace) as (fleet, boss, _, _):
            count = len(pids())
            agent = boss.spawn("worker")
            async with agent:
                first = agent.run_id
                with pytest.raises(RuntimeError, match="once"):
                    await agent.__aenter__()
                assert agent.run_id == first
                assert (await fleet.runs.get(first)).status == "running"
                assert (await call(agent, GOOD)).outcome is Outcome.OK
            with pytest.raises(RuntimeError, match="once"):
                await agent.__aenter__()
            assert len(pids()) == count + 1
            assert (await fleet.runs.get(first)).status == "completed"

    unharmed(main)


def test_an_agent_that_was_left_takes_no_turn_and_calls_nothing(world, unharmed, pids):
    calls = []

    def note() -> str:
        """Notes."""
        calls.append(1)
        return "noted"

    workspace = world(agents={**AGENTS}, tools=[note], bad=server(pids, "echo"))

    async def run(agent, request):
        calls.append(agent)

    async def main():
        async with at_work(workspace, run=run) as (fleet, boss, _, _):
            async with boss.spawn("worker") as child:
                turn = await child.turn()
            for use in (child.turn, child.resources):
                with pytest.raises(RuntimeError, match="left"):
                    await use()
            names = ("note", "mcp__bad__echo", "delegate_to_helper")
            results = await turn.run(
                [ToolCall(name, name, {"request": "x"} if name == names[2] else {}) for name in names]
            )
            assert [result.outcome for result in results] == [Outcome.NOT_STARTED] * 3
            assert all("left" in result.text for result in results)
            with pytest.raises(RuntimeError, match="left"):
                async with child.spawn("helper"):
                    pass
            assert (await fleet.runs.get(child.run_id)).status == "completed"
        assert calls == []

    unharmed(main)


def test_an_agent_that_was_not_entered_says_so(world, unharmed):
    workspace = world()

    async def main():
        async with opened(workspace) as fleet:
            agent = fleet.agent("boss")
            for use in (agent.turn, lambda: agent.run([ToolCall("1", GOOD, {})])):
                with pytest.raises(RuntimeError, match="async with"):
                    await use()
            with pytest.raises(RuntimeError, match="async with"):
                async with agent.spawn("worker"):
                    pass

    unharmed(main)


def test_a_fleet_is_entered_once_and_agents_are_made_inside(world, unharmed, pids):
    workspace = world()

    async def main():
        fleet = packbelt.open(workspace, trust=True, runs=":memory:")
        with pytest.raises(RuntimeError, match="async with"):
            fleet.agent("boss")
        async with fleet:
            with pytest.raises(RuntimeError, match="once"):
                await fleet.__aenter__()
            async with fleet.agent("boss") as boss:
                assert (await call(boss, GOOD)).outcome is Outcome.OK
        with pytest.raises(RuntimeError, match="once"):
            await fleet.__aenter__()

    unharmed(main)
    pids.assert_gone(1)


# the store of runs --------------------------------------------------------------------------------------


class Failing:
    """A store whose methods fail where a test says so."""

    def __init__(self, store, error=None):
        self.store, self.failing = store, set()
        self.error = error or RunStoreError("the disk is full", mend="make room")

    def __getattr__(self, name):
        method = getattr(self.store, name)

        async def guarded(*args, **kwargs):
            if name in self.failing:
                raise self.error
            return await method(*args, **kwargs)

        return guarded


@asynccontextmanager
async def failing_store(error=None):
    async with open_runs(":memory:", workspace=Path("/")) as store:
        yield Failing(store, error)


@pytest.mark.parametrize("error", [None, ConnectionResetError("lost")], ids=["RunStoreError", "its own"])
def test_nothing_is_dispatched_that_cannot_be_recorded(world, unharmed, pids, error):
    made = []

    def note() -> str:
        """Notes."""
        made.append(1)
        return "noted"

    async def run(agent, request):
        made.append(agent.name)

    workspace = world(tools=[note], bad=server(pids, "echo"))

    async def main():
        async with failing_store(error) as store, opened(workspace, runs=store, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                store.failing = {"begin"}
                calls = [
                    ToolCall("1", "note", {}),
                    ToolCall("2", GOOD, {}),
                    ToolCall("3", "delegate_to_worker", {"request": "x"}),
                ]
                results = await (await boss.turn()).run(calls)
                assert [result.outcome for result in results] == [Outcome.NOT_STARTED] * 3
                assert made == []
                store.failing = set()
                assert (await call(boss, GOOD)).outcome is Outcome.OK
                await assert_resumable(fleet, boss)

    unharmed(main)


@pytest.mark.parametrize("error", [None, ConnectionResetError("lost")], ids=["RunStoreError", "its own"])
@pytest.mark.parametrize("method", ["settle", "spoil", "finish", "keep"])
def test_an_answer_is_never_lost_to_the_store(world, unharmed, pids, method, error):
    config = QUICK if method != "spoil" else SHORT
    workspace = world(config=config, bad=server(pids, "hang", "echo"))

    async def run(agent, request):
        agent.messages.append("something to keep")
        return f"worker did {request}"

    async def main():
        async with failing_store(error) as store, opened(workspace, runs=store, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                turn = await boss.turn()
                store.failing = {method}
                tool = "mcp__bad__hang" if method == "spoil" else GOOD
                calls = [ToolCall("1", tool, {}), ToolCall("2", "delegate_to_worker", {"request": "x"})]
                one, two = await turn.run(calls)
                assert one.outcome is (Outcome.AMBIGUOUS if method == "spoil" else Outcome.OK)
                assert two.outcome is Outcome.OK
                assert two.answer.structured["output"] == "worker did x"
                resumable, _ = await mark_of(fleet, boss)
                assert resumable is (
                    method not in ("settle", "spoil")
                )  # what could not be written stays marked
                store.failing = set()

    unharmed(main)


def test_a_run_that_cannot_be_kept_does_not_begin(world, unharmed, pids):
    own = [{"db": server(pids, "echo")}]
    workspace = world(agents={**AGENTS, "worker": agent_file("worker", mcp_servers=own)})

    async def run(agent, request):
        pytest.fail("it has no record")

    async def main():
        async with failing_store() as store, opened(workspace, runs=store, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                store.failing = {"create"}
                with pytest.raises(RunStoreError, match="disk is full"):
                    async with boss.spawn("worker"):
                        pass
                result = await call(boss, "delegate_to_worker", request="x")
                assert result.outcome is Outcome.NOT_STARTED
                assert [gone(pid) for pid in pids()] == [False, True, True]
                await assert_resumable(fleet, boss)

    unharmed(main)


def test_a_database_that_another_process_locks(world, unharmed, pids, tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAIT", 0.1)
    workspace, file = world(), tmp_path / "runs.sqlite3"

    async def main():
        async with opened(workspace, runs=file) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                (result,) = await turn.run([ToolCall("1", GOOD, {})])
                assert result.outcome is Outcome.NOT_STARTED
                assert "another process" in result.text
                other.execute("ROLLBACK")
            (result,) = await turn.run([ToolCall("1", GOOD, {})])
            assert result.outcome is Outcome.OK
            await assert_resumable(fleet, boss)

    unharmed(main)


@pytest.mark.parametrize("how", ["removed", "replaced", "read-only", "full"])
def test_a_database_that_goes_bad(world, unharmed, tmp_path, how):
    workspace, file = world(), tmp_path / "runs.sqlite3"

    async def main():
        agent = None
        with pytest.raises(RunStoreError):  # noqa: PT012 - leaving raises it
            async with opened(workspace, runs=file) as fleet, fleet.agent("boss") as agent:
                turn = await agent.turn()
                if how in ("removed", "replaced"):
                    for path in tmp_path.glob("runs.sqlite3*"):
                        if path.is_file():
                            path.unlink()
                    if how == "replaced":
                        file.write_bytes(b"")
                else:
                    statement = "PRAGMA query_only = 1" if how == "read-only" else "PRAGMA max_page_count = 1"
                    fleet.runs._file._connection.execute(statement)
                    if how == "full":
                        agent.messages.append("x" * 100_000)
                        with pytest.raises(RunStoreError, match="disk is full"):
                            await agent.turn()
                        return
                (result,) = await turn.run([ToolCall("1", GOOD, {})])
                assert result.outcome is Outcome.NOT_STARTED
                assert "not started" in result.text

    unharmed(main)


# the host's callbacks -----------------------------------------------------------------------------------


def test_approvers_that_raise_hang_or_talk_nonsense(world, unharmed, pids):
    config = QUICK + "approve: [bad/*]\n"
    workspace = world(config=config, bad=server(pids, "echo"))

    async def own_cancel(_):
        raise asyncio.CancelledError

    async def deep(_):
        raise RecursionError

    async def hang(_):
        await anyio.sleep_forever()

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, bystanders):
            turn = await victim.turn()
            for approve in (own_cancel, deep, lambda _: 1, lambda _: [True], lambda: True, "yes"):
                calls = [ToolCall("1", "mcp__bad__echo", {}), ToolCall("2", GOOD, {})]
                one, two = await turn.run(calls, approve=approve)
                assert (one.outcome, two.outcome) == (Outcome.REJECTED, Outcome.OK)
            with anyio.move_on_after(0.2) as scope:
                await turn.run([ToolCall("1", "mcp__bad__echo", {})], approve=hang)
            assert scope.cancelled_caught
            await bystanders.more()
            await assert_resumable(fleet, boss, victim)  # nothing was sent

    unharmed(main)


def test_elicitors_that_raise_hang_or_talk_nonsense(world, unharmed, pids):
    workspace = world(bad=faulty(pids, "ask", "echo"))
    entered = anyio.Event()

    async def own_cancel(*_):
        raise asyncio.CancelledError

    async def fail(*_):
        raise ValueError("mine")

    async def hang(*_):
        entered.set()
        await anyio.sleep_forever()

    async def nonsense(*_):
        return "sure"

    async def wild(*_):
        return mcp_types.ElicitResult(action="accept", content={"it": "x" * 10})

    async def main():
        async with at_work(workspace, elicit=wild) as (fleet, boss, victim, bystanders):
            turn = await victim.turn()
            (plain,) = await turn.run([ToolCall("1", "mcp__bad__ask", {})])
            assert json.loads(plain.text) == {"action": "accept", "content": {"it": "x" * 10}}
            for elicit in (fail, nonsense, own_cancel, lambda *_: None):
                (result,) = await turn.run([ToolCall("1", "mcp__bad__ask", {})], elicit=elicit)
                assert result.outcome is Outcome.OK, elicit
                assert json.loads(result.text)["action"] == "cancel", elicit
                assert (await call(boss, "mcp__bad__echo")).outcome is Outcome.OK
            await assert_resumable(fleet, boss, victim)
            async with anyio.create_task_group() as tasks:

                async def asking():
                    await turn.run([ToolCall("1", "mcp__bad__ask", {})], elicit=hang)

                tasks.start_soon(asking)
                await entered.wait()
                await bystanders.more()
                tasks.cancel_scope.cancel()
            await assert_spoiled(fleet, boss, victim, doing="server:bad/ask")
            assert (await call(boss, "mcp__bad__echo")).outcome is Outcome.OK

    unharmed(main)


class Loop(dict):
    """What no JSON can say."""

    def __init__(self):
        self["self"] = self


@pytest.mark.parametrize(
    ("what", "status"),
    [
        (ValueError("mine"), "failed"),
        (asyncio.CancelledError(), "failed"),
        (Loop(), "failed"),
        (object(), "failed"),
        (None, "completed"),
        ("x" * 10_000_000, None),
        ("\ud800", "completed"),
    ],
    ids=["raises", "cancels itself", "circle", "object", "none", "10 MB", "surrogate"],
)
def test_model_loops_that_raise_or_talk_nonsense(world, unharmed, what, status):
    workspace = world()

    async def run(agent, request):
        if isinstance(what, BaseException):
            raise what
        return what

    async def main():
        async with at_work(workspace, run=run) as (fleet, boss, victim, _):
            turn = await boss.turn()
            calls = [ToolCall("1", "delegate_to_worker", {"request": "x"}), ToolCall("2", GOOD, {})]
            one, two = await turn.run(calls)
            assert two.outcome is Outcome.OK
            if status:
                assert one.answer.structured["status"] == status
                run_id = one.answer.structured["run_id"]
                assert (await fleet.runs.get(run_id)).status == status
            else:
                assert one.outcome is Outcome.TOOL_ERROR
                assert "1,048,576" in one.text
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_a_conversation_that_is_no_json_costs_no_answer_and_leaves_no_run_at_work(world, unharmed):
    workspace = world()

    async def run(agent, request):
        agent.messages.append(object())
        return "done"

    async def main():
        async with at_work(workspace, run=run) as (fleet, boss, _, _):
            result = await call(boss, "delegate_to_worker", request="x")
            assert result.outcome is Outcome.OK
            assert result.answer.structured["output"] == "done"
            kept = await fleet.runs.get(result.answer.structured["run_id"])
            assert kept.status == "completed"
            assert kept.output == "done"
            with pytest.raises(RunStoreError, match="messages"):
                async with boss.spawn("worker") as child:
                    child.messages.append(object())
            assert (await fleet.runs.get(child.run_id)).status != "running"

    unharmed(main)


def test_event_sinks_and_listeners_that_raise(world, unharmed, caplog):
    seen = []

    def sink(event):
        seen.append(event)
        raise RuntimeError("mine")

    def listener():
        seen.append("listener")
        raise RuntimeError("mine")

    workspace = world()

    async def main():
        async with opened(workspace, events=sink) as fleet:
            end = fleet.subscribe(listener)
            others = []
            fleet.subscribe(lambda: others.append(1))
            async with fleet.agent("boss") as boss:
                fleet.revise(packbelt.Snapshot())
                assert (await call(boss, GOOD)).outcome is Outcome.OK
                os.kill(json.loads((await call(boss, GOOD)).text)["pid"], signal.SIGKILL)
                with anyio.fail_after(20):
                    while (await call(boss, GOOD)).outcome is not Outcome.OK:
                        await anyio.sleep(0.01)
            end()
            end()
            before = len(others)
            fleet.revise(packbelt.Snapshot())
            assert len(others) == before + 1
        assert seen.count("listener") >= 2

    unharmed(main)


# native tools -------------------------------------------------------------------------------------------


def leaves() -> str:
    """Exits."""
    sys.exit(3)


async def leaves_in_the_loop() -> str:
    """Exits."""
    sys.exit(3)


def interrupts() -> str:
    """Interrupts, in a thread: it is no person's Ctrl-C."""
    raise KeyboardInterrupt


def cancels() -> str:
    """Raises what only the loop should."""
    raise asyncio.CancelledError


async def cancels_in_the_loop() -> str:
    """Waits for what somebody cancelled."""
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task
    return ""


def generator_exit() -> str:
    """Raises what only a generator should."""
    raise GeneratorExit


def group() -> str:
    """Raises a group."""
    raise BaseExceptionGroup("two", [SystemExit(1), ValueError("x")])


def stops() -> str:
    """Raises what no future takes."""
    raise StopIteration("over")


def huge() -> str:
    """Gives too much."""
    return "x" * 10_000_000


def circle() -> dict:
    """Gives what no JSON can say."""
    return Loop()


def wordless() -> str:
    """Fails without words."""

    class WordlessError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    raise WordlessError


NATIVES = [
    leaves,
    leaves_in_the_loop,
    interrupts,
    cancels,
    cancels_in_the_loop,
    generator_exit,
    group,
    stops,
    huge,
    circle,
    wordless,
]


@pytest.mark.parametrize("tool", NATIVES, ids=lambda f: f.__name__)
def test_a_native_tool_that_does_the_worst_costs_one_error_result(world, unharmed, tool):
    workspace = world(tools=[tool])

    async def main():
        async with at_work(workspace) as (fleet, boss, victim, _):
            turn = await victim.turn()
            calls = [ToolCall("1", GOOD, {}), ToolCall("2", tool.__name__, {}), ToolCall("3", GOOD, {})]
            results = await turn.run(calls)
            assert [one.outcome for one in results] == [Outcome.OK, Outcome.TOOL_ERROR, Outcome.OK]
            assert len(results[1].text) < 500
            (alone,) = await turn.run([calls[1]])
            assert alone.outcome is Outcome.TOOL_ERROR
            await assert_resumable(fleet, boss, victim)

    unharmed(main)


def test_a_native_tool_that_gives_an_answer_that_is_none(world, unharmed):
    def odd() -> Answer:
        """Gives an answer of no known kind."""
        return Answer(Outcome.OK, ({"type": "text", "text": "x" * 10_000_000},))

    def objects() -> list:
        """Gives objects."""
        return [object(), {1, 2}, b"\xff", float("nan")]

    workspace = world(tools=[odd, objects])

    async def main():
        async with at_work(workspace) as (_, _, victim, _):
            big = await call(victim, "odd")
            assert (big.outcome, "1,048,576" in big.text) == (Outcome.TOOL_ERROR, True)
            some = await call(victim, "objects")
            assert isinstance(some.text, str)

    unharmed(main)
