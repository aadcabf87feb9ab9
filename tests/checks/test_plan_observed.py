"""Observed calls, read from what really writes them."""

import io
import json

import pytest

from packbelt.checks.plan_observed import ObservedError, read_observed
from packbelt.live.observe.events import CallEvent, EventLog, ServerEvent, TurnEvent
from packbelt.live.observe.spans import Spans
from packbelt.model import Outcome, ServerStatus


def turn(agent, run):
    return TurnEvent(agent=agent, run=run, direct=1, packed=1, deferred=0, withheld=0, digest="sha256:0")


def call(agent, run, tool, outcome=Outcome.OK, **more):
    return CallEvent(agent=agent, run=run, name=tool.rpartition(":")[2], tool=tool, outcome=outcome, **more)


@pytest.fixture
def read(tmp_path):
    def of(text):
        path = tmp_path / "calls"
        path.write_text(text)
        return read_observed(path)

    return of


def test_the_event_log(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    for event in (
        ServerEvent(server="github", status=ServerStatus.CONNECTED),
        turn("lead", "1"), turn("lead", "1"), turn("lead", "2"), turn("lead/worker", "3"),
        call("lead", "1", "native:file_read"), call("lead", "1", "native:file_read", pack="files"),
        call("lead", "2", "native:file_read", Outcome.TOOL_ERROR),
        call("lead", "2", "native:shell", Outcome.REJECTED), call("lead", "2", "native:shell", None),
        call("lead/worker", "3", "server:github/search", Outcome.AMBIGUOUS),
    ):  # fmt: skip
        log.emit(event)
    log.close()
    with path.open("a") as file:
        file.write('{"kind": "turn", "agent": "le')  # a process that was killed
    found = read_observed(path)
    lead, worker = found["lead"], found["worker"]
    assert (lead.turns, lead.runs, lead.calls, lead.used) == (
        3,
        2,
        {"native:file_read": 3},
        {"native:file_read": 2},
    )
    assert (worker.turns, worker.runs, worker.calls) == (1, 1, {"server:github/search": 1})


def spans(writer):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(writer))
    made = Spans(provider)
    with made.agent(("lead",), "r1"):
        for tool in ("file_read", "file_read"):
            with made.tool(tool, {"gen_ai.agent.name": "lead", "gen_ai.conversation.id": "r1"}):
                pass
        with made.agent(("lead", "worker"), "r2"):
            pass
    provider.shutdown()


def test_spans_as_the_sdk_writes_them(read):
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    out = io.StringIO()
    spans(ConsoleSpanExporter(out=out))
    found = read(out.getvalue())
    assert (found["lead"].runs, found["lead"].calls) == (1, {"file_read": 2})
    assert (found["worker"].runs, found["worker"].calls) == (1, {})


def test_spans_as_otlp_has_them(read):
    def span(operation, **attributes):
        given = {"gen_ai.operation.name": operation, "gen_ai.agent.name": "lead", **attributes}
        listed = [{"key": key, "value": {"stringValue": value}} for key, value in given.items()]
        return {"traceId": "t", "name": operation, "attributes": listed}

    other = {
        "traceId": "t",
        "name": "GET",
        "attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}],
    }
    made = [
        span("chat"), span("chat"), span("execute_tool", **{"gen_ai.tool.name": "x"}),
        span("execute_tool", **{"gen_ai.tool.name": "x", "packbelt.outcome": "rejected"}), other,
    ]  # fmt: skip
    text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}, indent=1)
    lead = read(text)["lead"]
    assert (lead.turns, lead.runs, lead.calls) == (2, 1, {"x": 1})


def test_a_table(read):
    found = read("agent, tool,calls,turns\nlead,file_read,7,40\nlead,shell,2,40\nworker,x,1,\n")
    assert (found["lead"].turns, found["lead"].runs, found["lead"].calls) == (
        40,
        None,
        {"file_read": 7, "shell": 2},
    )
    assert found["worker"].turns == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no turn and no call of any agent"),
        ("agent,tool\nx,y\n", "no column 'calls'"),
        ("agent,tool,cals\nx,y,1\n", "column 'cals' is unknown; did you mean 'calls'?"),
        ("agent,tool,calls\nlead,x,many\n", ":2: calls is 'many'"),
        ('{"kind": "turn"}\n{"kind": \n{}\n', ":2: is not valid JSON"),
        ("[1, 2]", "no object"),
        ('{"kind": "server"}', "has no turn and no call of any agent"),
    ],
)
def test_files_that_say_nothing(read, text, said):
    with pytest.raises(ObservedError) as caught:
        read(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"agent,tool,calls\na,b,{'9' * 5000}\n", "calls:2: calls has more than 15 digits"),
        (f"agent,tool,calls\na,b,{'9' * 400}\n", "calls:2: calls has more than 15 digits"),
        (f"agent,tool,calls\na,{'x' * 200_000},1\n", "is no table: field larger than field limit"),
        (
            f'{{"kind": "turn", "agent": "a", "n": {"9" * 5000}}}\n',
            "calls:1: is not valid JSON: a number has",
        ),
    ],
)
def test_what_nobody_counts_is_refused_in_a_line(read, text, said):
    with pytest.raises(ObservedError, match="calls") as caught:
        read(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "part",
    [
        '{"resourceSpans": "x"}',
        '{"resourceSpans": 5}',
        '{"resourceSpans": [1]}',
        '{"resourceSpans": [{"scopeSpans": {"spans": 1}}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": {"a": 1}}]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": ["a"]}]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": ["a"], "value": 1}]}]}]}]}',
    ],
)
def test_what_is_no_span_is_left_aside(read, part):
    assert list(read(f'{part}\n{{"kind": "turn", "agent": "lead", "run": "1"}}\n')) == ["lead"]
