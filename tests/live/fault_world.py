"""A fleet at work while something bad happens beside it: who is harmed, and what is left."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.from_thread
import pytest
from fleet_world import agent_file, call, opened, place, server

from packbelt import Outcome

FAULTY = Path(__file__).with_name("faulty_server.py")
AGENTS = {
    "boss": agent_file("boss", delegates=["worker"]),
    "worker": agent_file("worker", delegates=["helper"]),
    "helper": agent_file("helper"),
}
GOOD = "mcp__good__echo"
QUICK = "orchestrator: boss\ntimes: {start: 20, list: 20, call: 20, queue: 20, shutdown: 2}\n"
SHORT = "orchestrator: boss\ntimes: {start: 20, list: 20, call: 0.3, queue: 20, shutdown: 1}\n"
SHORT_START = "orchestrator: boss\ntimes: {start: 0.6, list: 0.6, shutdown: 0.6}\n"


def faulty(pids, *tools, fault="", **more):
    """An entry of `.mcp.json` whose server misbehaves; see faulty_server.py."""
    entry = server(pids, *tools, env={"FAULT": fault} if fault else None, **more)
    return {**entry, "args": ["-S", str(FAULTY), *entry["args"][2:]]}


@pytest.fixture
def world(tmp_path, pids):
    """A workspace with a good server, and others."""

    def make(*, config=QUICK, agents=AGENTS, good=True, tools=(), files=None, **servers):
        every = {**({"good": server(pids, "echo", "slow")} if good else {}), **servers}
        return place(tmp_path / "w", servers=every, agents=agents, config=config, tools=tools, files=files)

    return make


@pytest.fixture
def unharmed(nothing_left):
    """Run a test's coroutine; no task, process or descriptor is left by it."""

    def run(main, limit=60):
        async def whole():
            before = asyncio.all_tasks()
            with anyio.fail_after(limit):
                await main()
            for _ in range(200):
                if not (left := asyncio.all_tasks() - before):
                    return
                await asyncio.sleep(0.005)
            pytest.fail(f"tasks left: {left}")

        anyio.run(whole)

    return run


class Bystanders:
    """Agents that go on calling the good server all the time."""

    def __init__(self, agents):
        self.agents = agents
        self.made = dict.fromkeys(range(len(agents)), 0)
        self.failed = []
        self.over = False

    async def work(self, number):
        agent = self.agents[number]
        while not self.over:
            result = await call(agent, GOOD, by=number)
            if result.outcome is not Outcome.OK or json.loads(result.text)["arguments"] != {"by": number}:
                self.failed.append(result)
                return
            self.made[number] += 1
            await anyio.sleep(0.005)

    async def more(self, count=3):
        """Each has made so many more calls from here on."""
        goal = {number: made + count for number, made in self.made.items()}
        with anyio.fail_after(20):
            while any(self.made[number] < goal[number] for number in goal) and not self.failed:
                await anyio.sleep(0.005)
        assert self.failed == []


@asynccontextmanager
async def at_work(workspace, **options):
    """A fleet, a root with a child that meets the fault, and bystanders: a root of its own, and that root's child."""
    async with opened(workspace, **options) as fleet, fleet.agent("boss") as boss:
        async with (
            boss.spawn("worker") as victim,
            fleet.agent("boss") as other,
            other.spawn("worker") as below,
        ):
            bystanders = Bystanders([other, below])
            async with anyio.create_task_group() as tasks:
                for number in range(2):
                    tasks.start_soon(bystanders.work, number)
                await bystanders.more(1)
                yield fleet, boss, victim, bystanders
                await bystanders.more()
                bystanders.over = True
            assert bystanders.failed == []
            for agent in (other, below):
                run = await fleet.runs.get(agent.run_id)
                assert (run.resumable, run.spoiled) == (True, False)


async def mark_of(fleet, agent):
    run = await fleet.runs.get(agent.run_id)
    return run.resumable, run.reason


async def assert_spoiled(fleet, *agents, doing):
    for agent in agents:
        resumable, reason = await mark_of(fleet, agent)
        assert not resumable
        assert doing in reason


async def assert_resumable(fleet, *agents):
    for agent in agents:
        assert await mark_of(fleet, agent) == (True, "")


async def connected_again(fleet, name):
    with anyio.fail_after(20):
        while fleet.snapshot.servers[name].status != "connected":
            await anyio.sleep(0.01)
