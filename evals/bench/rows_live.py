"""Rows about fleets at work: real child processes, real calls."""

import json
import subprocess
import sys
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, perf_counter_ns, process_time_ns
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

import packbelt
from bench.fleet import COMMAND, place, wire
from bench.table import Row
from packbelt.live import fleet as live
from packbelt.model import ToolCall

AGENTS, SERVERS = 200, 10
STARTED = 20
ARGUMENTS = {"text": "a line of text", "number": 7}


async def rows(seconds: float) -> list[Row]:
    """The rows."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        found = await _relay(root / "relay", seconds * 0.5)
        found += await _many(root / "many")
        found += await _starts(root / "starts")
    return found + _memory()


async def _relay(root: Path, seconds: float) -> list[Row]:
    """One call through the gate and the relay, its run's record in a file, beside the SDK's own client."""
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(
            packbelt.open(place(root, 1), trust=True, runs=root / "runs.sqlite3")
        )
        agent = await stack.enter_async_context(fleet.agent("boss"))
        turn = await agent.turn()
        calls = [ToolCall("1", wire(0), ARGUMENTS)]
        parameters = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]))
        direct = await stack.enter_async_context(Client(parameters, cache=None))
        contenders: dict[str, Any] = {
            "direct": lambda: direct.call_tool("echo", ARGUMENTS),
            "relay": lambda: turn.run(calls),
        }
        if find_spec("fastmcp"):
            from fastmcp import Client as PeerClient
            from fastmcp.client.transports import StdioTransport
            from fastmcp.server import create_proxy

            transport = StdioTransport(COMMAND[0], list(COMMAND[1:]))
            behind = await stack.enter_async_context(PeerClient(transport))
            peer = await stack.enter_async_context(PeerClient(create_proxy(behind)))
            contenders["peer"] = lambda: peer.call_tool("echo", ARGUMENTS)
        wall: dict[str, list[int]] = {name: [] for name in contenders}
        cpu: dict[str, list[int]] = {name: [] for name in contenders}
        end = monotonic() + seconds
        while len(wall["direct"]) < 100 or monotonic() < end:
            for name, call in contenders.items():
                began, used = perf_counter_ns(), process_time_ns()
                await call()
                cpu[name].append(process_time_ns() - used)
                wall[name].append(perf_counter_ns() - began)
    middle = {name: median(times[5:]) / 1e6 for name, times in wall.items()}
    used = {name: median(times[5:]) / 1e6 for name, times in cpu.items()}
    best = (min(cpu["relay"]) - min(cpu["direct"])) / 1e6
    over = used["relay"] - used["direct"]
    note = f"the SDK's client: {middle['direct']:.2f} ms a call, {used['direct']:.2f} of it CPU"
    later = middle["relay"] - middle["direct"]
    found = [
        Row("relay of a call, CPU over the direct call", over, "ms", 0.3, note=note, best=best),
        Row("... elapsed over the direct call", later, "ms", note="run record in SQLite"),
    ]
    if "peer" in used:
        peer = used["peer"] - used["direct"]
        ratio, note = peer / over, f"FastMCP's proxy in the same process: {peer:.2f} ms over the direct call"
        found.append(Row("relay, times cheaper than FastMCP's proxy", ratio, "x", note=note))
    return found


async def _many(root: Path) -> list[Row]:
    """Many agents that share a few servers: each takes a turn and calls every server once."""
    async with packbelt.open(place(root, SERVERS), trust=True, runs=root / "runs.sqlite3") as fleet:
        calls = [ToolCall(str(k), wire(k), ARGUMENTS) for k in range(SERVERS)]

        async def work() -> None:
            async with fleet.agent("boss") as agent:
                results = await (await agent.turn()).run(calls)
            if any(result.is_error for result in results):
                raise RuntimeError(results)

        began, used = perf_counter(), process_time_ns()
        async with anyio.create_task_group() as tasks:
            for _ in range(AGENTS):
                tasks.start_soon(work)
        wall, spent = perf_counter() - began, (process_time_ns() - used) / 1e6
    made = AGENTS * SERVERS
    note = f"{made:,} calls in {wall:.1f} s; {SERVERS} processes in all"
    return [Row(f"{AGENTS} agents at once on {SERVERS} servers, CPU a call", spent / made, "ms", note=note)]


async def _starts(root: Path) -> list[Row]:
    """A fleet of servers, side by side and one after another."""
    workspace, times = place(root, STARTED), {}
    before = live.AT_ONCE
    for name, at_once in (("together", before), ("one by one", 1)):
        live.AT_ONCE = at_once
        began = perf_counter()
        async with packbelt.open(workspace, trust=True, runs=":memory:"):
            times[name] = (perf_counter() - began) * 1e3
    live.AT_ONCE = before
    note = f"one after another: {times['one by one']:,.0f} ms; {before} start at a time"
    ratio = times["one by one"] / times["together"]
    return [
        Row(f"start of {STARTED} servers, elapsed", times["together"], "ms", note=note),
        Row("... times faster than one after another", ratio, "x"),
    ]


def _memory() -> list[Row]:
    script = Path(__file__).parent / "memory_live.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it died"])[-1]
        return [Row("memory of an idle agent", None, "kB", note=reason)]
    said = json.loads(done.stdout)
    alone = f"the fleet alone: {said['fleet']:.0f} MB"
    note = f"{said['agents']} agents, {said['tools']} tools on each belt; {alone}"
    return [Row("memory of an idle agent", said["each"], "kB", note=note)]
