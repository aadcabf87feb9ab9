"""What a real fleet tells of itself: real servers, a hand-off, a server's secret on every way that it could take."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
from fleet_world import agent_file, call, opened, place, server

from packbelt.live.observe.events import EventLog
from packbelt.model import Outcome

CANARY = "canary-7f3a-value"
AGENTS = {
    "boss": agent_file("boss", tools=["*"], delegates=["worker"]),
    "worker": agent_file("worker", handoff="ask_worker", tools=["*/*"]),
}


def world(root, pids):
    entry = server(pids, env={"TOKEN": "${SECRET_TOKEN}"})
    entry["args"] += ["echo", "fail", "die", "hang"]
    return place(root, servers={"one": entry}, agents=AGENTS)


async def worker(agent, request):
    if agent.name != "worker":
        raise AssertionError(agent.name)
    result = await call(agent, "mcp__one__echo", word=request)
    return f"it said {result.outcome}"


async def everything(workspace, **options):
    """A hand-off and calls of every outcome, with the secret in what a model says and in what comes back."""
    environ = {"SECRET_TOKEN": CANARY, "PATH": "/usr/bin:/bin"}
    outcomes = []
    async with opened(workspace, run=worker, environ=environ, **options) as fleet:
        async with fleet.agent("boss") as boss:
            outcomes.append(await call(boss, "ask_worker", request=f"say {CANARY}"))
            outcomes.append(await call(boss, "mcp__one__fail", word=CANARY))
            outcomes.append(await call(boss, f"made_up_{CANARY}"))
            with anyio.move_on_after(0.5):
                await call(boss, "mcp__one__hang", word=CANARY)
            outcomes.append(await call(boss, "mcp__one__die"))
    return [result.outcome for result in outcomes]


def test_a_fleet_logs_each_thing_once_and_no_secret(tmp_path, pids):
    file = tmp_path / "events.jsonl"
    with EventLog(file, arguments=True) as log:
        ended = anyio.run(lambda: everything(world(tmp_path, pids), events=log))
    assert ended == [Outcome.OK, Outcome.TOOL_ERROR, Outcome.REJECTED, Outcome.AMBIGUOUS]
    told = [json.loads(line) for line in file.read_text().splitlines()]
    calls = [event for event in told if event["kind"] == "call"]
    assert [
        (event["agent"], event.get("tool"), event.get("outcome", event.get("error"))) for event in calls
    ] == [
        ("boss/worker", "server:one/echo", "ok"),
        ("boss", "handoff:ask_worker", "ok"),
        ("boss", "server:one/fail", "tool_error"),
        ("boss", None, "rejected"),
        ("boss", "server:one/hang", "ambiguous"),
        ("boss", "server:one/die", "ambiguous"),
    ]
    echo, handed, failed, made_up, *_ = calls
    assert echo["arguments"] == '{"word": "say ***"}'
    assert '"word": "say ***"' in echo["result"]
    assert (failed["result"], made_up["name"]) == ("quota exceeded", "made_up_***")
    assert handed["target"] == "worker"
    assert all(event["running_ms"] >= 0 and event["queued_ms"] >= 0 for event in (echo, handed, failed))
    runs = [(event["phase"], event["agent"], event["status"]) for event in told if event["kind"] == "run"]
    assert runs == [
        ("started", "boss", "running"),
        ("started", "boss/worker", "running"),
        ("finished", "boss/worker", "completed"),
        ("finished", "boss", "completed"),
    ]
    boss, child = (event["run"] for event in told if event.get("phase") == "started")
    assert [event.get("parent") for event in told if event["kind"] == "run"] == [None, boss, boss, None]
    assert (echo["run"], handed["run"]) == (child, boss)
    states = [event["status"] for event in told if event["kind"] == "server"]
    assert states[:2] == ["starting", "connected"]
    assert "7f3a" not in file.read_text()


SCRIPT = """
import json, sys
from pathlib import Path
import anyio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from live_helpers import Pids
from test_observed_fleet import everything, world
root = Path(sys.argv[1])
anyio.run(lambda: everything(world(root, Pids(root / "pids"))))
print(json.dumps([json.loads(span.to_json()) for span in exporter.get_finished_spans()]))
"""


def test_spans_of_a_fleet_nest_down_to_the_sdks_own_and_hold_no_secret(tmp_path, pids):
    del pids
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        cwd=Path(__file__).parent,
        env={"PATH": "/usr/bin:/bin", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Failed to detach" not in done.stderr
    assert "7f3a" not in done.stdout
    spans = json.loads(done.stdout)
    by_id = {span["context"]["span_id"]: span for span in spans}

    def line(span):
        above = by_id.get(span["parent_id"])
        return [*(line(above) if above else []), span["name"]]

    def lines(name):
        return [line(span) for span in spans if span["name"] == name]

    handed = [
        "invoke_agent boss",
        "execute_tool ask_worker",
        "invoke_agent worker",
        "execute_tool mcp__one__echo",
    ]
    assert lines("execute_tool mcp__one__echo") == [handed]
    assert lines("MCP send tools/call echo") == [[*handed, "MCP send tools/call echo"]]
    assert lines("execute_tool") == [["invoke_agent boss", "execute_tool"]]
    assert lines("execute_tool mcp__one__die") == [["invoke_agent boss", "execute_tool mcp__one__die"]]
    [hang] = [span for span in spans if span["name"] == "execute_tool mcp__one__hang"]
    assert hang["attributes"]["error.type"] == "CancelledError"
