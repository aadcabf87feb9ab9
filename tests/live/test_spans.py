import asyncio
import contextvars
import subprocess
import sys
from itertools import pairwise

import pytest
from observed import Agent, relay
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode, get_current_span

from packbelt.live.observe.observer import Observer
from packbelt.live.observe.spans import CAPTURE, NO_SPAN, Spans
from packbelt.live.secret import Secret, masked
from packbelt.model import Outcome

CANARY = "canary-7f3a"


def mask(text):
    return masked(text, [Secret(CANARY)])


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter):
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    yield made
    made.shutdown()


@pytest.fixture
def observer(provider, monkeypatch):
    monkeypatch.delenv(CAPTURE, raising=False)
    return Observer(spans=Spans(provider), mask=mask)


def by_name(exporter):
    found = exporter.get_finished_spans()
    assert len({span.name for span in found}) == len(found)
    return {span.name: span for span in found}


def test_a_call_is_an_execute_tool_span(observer, exporter):
    acting = Agent("orchestrator")
    wire = acting.name_of("weather/forecast")
    relay(observer, acting, "use_pack", {"pack": "mcp:weather", "tool": wire, "arguments": {"city": "Oslo"}})
    [span] = exporter.get_finished_spans()
    assert (span.name, span.kind, span.status.status_code) == (
        f"execute_tool {wire}",
        SpanKind.INTERNAL,
        StatusCode.UNSET,
    )
    assert span.instrumentation_scope.name == "packbelt"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": wire,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_7",
        "gen_ai.agent.name": "orchestrator",
        "gen_ai.conversation.id": "run-1",
        "packbelt.agent.path": "orchestrator",
        "packbelt.tool.id": "server:weather/forecast",
        "packbelt.server": "weather",
        "packbelt.state": "packed",
        "packbelt.rule": str(acting.turn.belt.find("weather/forecast").decision.reasons[0].rule),
        "packbelt.outcome": "ok",
    }


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.OK])
def test_the_error_type_is_the_outcome(observer, exporter, outcome):
    relay(observer, Agent("orchestrator"), "clock", outcome=outcome)
    [span] = exporter.get_finished_spans()
    assert span.attributes["error.type"] == span.attributes["packbelt.outcome"] == str(outcome)
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)


def test_a_name_that_is_none_stays_out_of_the_spans_name(observer, exporter):
    relay(observer, Agent("orchestrator"), f"made\nup {CANARY}")
    [span] = exporter.get_finished_spans()
    assert (span.name, span.attributes["gen_ai.tool.name"]) == ("execute_tool", "made up ***")
    assert (span.attributes["packbelt.state"], span.attributes["packbelt.hint"]) == ("unknown", "unknown")
    assert span.attributes["error.type"] == "rejected"


def test_a_refused_call_of_a_tool_that_exists(observer, exporter):
    relay(observer, Agent("orchestrator"), "shell")
    [span] = exporter.get_finished_spans()
    assert (span.name, span.attributes["packbelt.rule"]) == ("execute_tool shell", "agent.disallowed_tools")


def test_a_call_that_is_not_approved_is_a_span_too(observer, exporter):
    relay(observer, Agent("orchestrator"), "clock", asked="a person declined this call")
    [span] = exporter.get_finished_spans()
    assert (span.name, span.attributes["error.type"]) == ("execute_tool clock", "rejected")


def test_spans_nest_along_hand_offs(observer, exporter, provider):
    """orchestrator -> ask_forecaster -> forecaster -> its call -> whatever serves that call."""
    root = Agent("orchestrator")
    child = Agent("orchestrator", "forecaster", parent=root, run="run-2")
    wire = child.name_of("weather/forecast")

    def serve():
        with provider.get_tracer("sdk").start_as_current_span("tools/call forecast"):
            pass

    def forecaster():
        with observer.run(child) as work:
            inner = {"pack": "mcp:weather", "tool": wire, "arguments": {"city": "Oslo"}}
            relay(observer, child, "use_pack", inner, inside=serve)
            work.ended("completed", resumable=True)

    with observer.run(root) as work:
        relay(observer, root, "ask_forecaster", {"request": "Rain?"}, inside=forecaster)
        relay(observer, root, "clock")
        work.ended("completed", resumable=True)
    spans = by_name(exporter)
    chain = ["invoke_agent orchestrator", "execute_tool ask_forecaster", "invoke_agent forecaster"]
    chain += [f"execute_tool {wire}", "tools/call forecast"]
    for parent, name in pairwise(chain):
        assert spans[name].parent.span_id == spans[parent].context.span_id, name
    assert spans["execute_tool clock"].parent.span_id == spans[chain[0]].context.span_id
    assert spans[chain[0]].parent is None
    assert set(spans) == {*chain, "execute_tool clock"}
    agent = spans["invoke_agent forecaster"]
    assert agent.kind is SpanKind.INTERNAL
    assert dict(agent.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "forecaster",
        "gen_ai.agent.id": "orchestrator/forecaster",
        "gen_ai.conversation.id": "run-2",
        "packbelt.agent.path": "orchestrator/forecaster",
    }


def test_calls_side_by_side_do_not_nest_in_each_other(observer, exporter):
    root = Agent("orchestrator")

    async def one(name, started, go_on):
        from packbelt.model import Answer, ToolCall, ToolResult

        call = ToolCall("1", name)
        with observer.call(root, call) as seen:
            seen.admitted(root.handle().resolve(name, {"request": "x"}))
            started.set()
            await go_on.wait()
            seen.ended(ToolResult(call, Answer(Outcome.OK)))

    async def main():
        first, second, end = asyncio.Event(), asyncio.Event(), asyncio.Event()
        end.set()
        with observer.run(root):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(one("clock", first, second))
                await first.wait()
                tasks.create_task(one("ask_forecaster", second, end))

    asyncio.run(main())
    spans = by_name(exporter)
    above = spans["invoke_agent orchestrator"].context.span_id
    assert {span.parent.span_id for span in spans.values() if span.parent} == {above}


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError])
def test_an_exception_ends_both_spans_without_its_words(observer, exporter, kind):
    def fail():
        raise kind(CANARY)

    acting = Agent("orchestrator")
    with pytest.raises(kind), observer.run(acting):
        relay(observer, acting, "clock", inside=fail)
    for span in by_name(exporter).values():
        assert span.attributes["error.type"] == kind.__name__
        assert (span.status.status_code, span.status.description, span.events) == (StatusCode.ERROR, None, ())
    assert get_current_span().get_span_context().is_valid is False


def test_a_failed_run_is_an_error(observer, exporter):
    with observer.run(Agent("orchestrator")) as work:
        work.ended("failed", resumable=True, reason=CANARY)
    [span] = exporter.get_finished_spans()
    assert (span.attributes["error.type"], span.status.description) == ("failed", None)


def test_an_agent_left_in_another_context_than_it_was_entered_in(observer, exporter, caplog):
    opened = observer.run(Agent("orchestrator"))
    contextvars.copy_context().run(opened.__enter__)
    opened.__exit__(None, None, None)
    assert [span.name for span in exporter.get_finished_spans()] == ["invoke_agent orchestrator"]
    assert caplog.records == []


class Broken(SpanProcessor):
    """A processor that raises at one end of each span."""

    def __init__(self, where):
        self.where = where

    def on_start(self, span, parent_context=None):
        del span, parent_context
        if self.where == "start":
            raise RuntimeError(self.where)

    def on_end(self, span):
        del span
        if self.where == "end":
            raise RuntimeError(self.where)


@pytest.mark.parametrize("where", ["start", "end"])
def test_what_a_tracer_raises_harms_nobody(where):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Broken(where))
    observer = Observer(spans=Spans(provider))
    acting = Agent("orchestrator")
    with observer.run(acting) as work:
        assert relay(observer, acting, "clock").outcome is Outcome.OK
        work.ended("completed", resumable=True)
    assert not get_current_span().get_span_context().is_valid


def test_a_mask_that_raises_harms_no_call(provider, exporter):
    def broken(_text):
        raise RuntimeError(CANARY)

    observer = Observer(spans=Spans(provider, content=True), mask=broken)
    assert relay(observer, Agent("orchestrator"), "clock").outcome is Outcome.OK
    assert exporter.get_finished_spans() == ()


# arguments and results ----------------------------------------------------------------------------------


def content(exporter):
    [span] = exporter.get_finished_spans()
    keys = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
    return tuple(span.attributes.get(key) for key in keys)


def test_without_being_asked_a_span_has_no_arguments_and_no_result(observer, exporter):
    relay(observer, Agent("orchestrator"), "clock", {"zone": "Oslo"}, answer="half past nine")
    assert content(exporter) == (None, None)
    assert "Oslo" not in exporter.get_finished_spans()[0].to_json()


@pytest.mark.parametrize(
    ("said", "kept"),
    [("true", True), ("SPAN_ONLY", True), ("span_and_event", True), ("event_only", False), ("false", False)],
)
def test_the_environment_asks_for_them(provider, exporter, monkeypatch, said, kept):
    monkeypatch.setenv(CAPTURE, said)
    observer = Observer(spans=Spans(provider))
    relay(observer, Agent("orchestrator"), "clock", {"zone": "Oslo"}, answer="half past nine")
    assert content(exporter) == (('{"zone": "Oslo"}', "half past nine") if kept else (None, None))


def test_secrets_a_canary_is_in_no_span(provider, exporter):
    observer = Observer(spans=Spans(provider, content=True), mask=mask)
    acting = Agent("orchestrator")
    with observer.run(acting) as work:
        relay(observer, acting, "clock", {"zone": CANARY}, answer=f"the key is {CANARY}")
        relay(observer, acting, CANARY, {CANARY: 1})
        relay(observer, acting, "clock", f"no JSON {CANARY}")
        work.ended("failed", resumable=False, reason=CANARY)
    found = exporter.get_finished_spans()
    assert len(found) == 4
    assert "***" in found[0].attributes["gen_ai.tool.call.result"]
    for span in found:
        assert "7f3a" not in span.to_json()


# where nobody listens -----------------------------------------------------------------------------------


def test_without_a_provider_there_is_no_span():
    spans = Spans()
    assert not spans.active
    with spans.agent(("orchestrator",), "run-1") as agent, spans.tool("clock", {}) as tool:
        assert agent is NO_SPAN
        assert tool is NO_SPAN
        assert not get_current_span().get_span_context().is_valid
    NO_SPAN.set({"a": "b"})
    NO_SPAN.failed("x")
    assert not NO_SPAN.recording


def test_a_provider_that_does_nothing_counts_as_none():
    assert not Spans(NoOpTracerProvider()).active


def test_a_span_that_is_not_sampled_is_not_filled(exporter):
    off = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    off.add_span_processor(SimpleSpanProcessor(exporter))
    with Spans(off).tool("clock", {}) as span:
        assert span is NO_SPAN
    assert exporter.get_finished_spans() == ()


CONFIGURED_LATER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from packbelt.live.observe.spans import Spans
spans = Spans()
before = spans.active
trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
print(before, spans.active)
"""
WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from packbelt.live.observe.spans import Spans
spans = Spans()
with spans.tool("clock", {}) as span:
    print(spans.active, span.recording)
"""
NOT_IMPORTED = """
import sys
import packbelt.live.observe.observer
print([name for name in sys.modules if name.startswith(("opentelemetry", "mcp", "anyio"))])
"""


@pytest.mark.parametrize(
    ("script", "printed"),
    [(CONFIGURED_LATER, "False True"), (WITHOUT, "False False"), (NOT_IMPORTED, "[]")],
)
def test_when_the_extra_is_looked_for(script, printed):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == printed
