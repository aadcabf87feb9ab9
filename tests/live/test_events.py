import io
import json
import logging
import os
import re
import runpy
import stat
import subprocess
import sys
import timeit
from pathlib import Path

import pytest
from observed import CONNECTED, Agent, relay, state

from packbelt.live.observe.events import EventLog, EventLogError, ReloadEvent, ServerEvent
from packbelt.live.observe.observer import Observer
from packbelt.live.secret import Secret, masked
from packbelt.model import AgentBrokenError, HintClass, Outcome, Rule, ServerStatus, State
from packbelt.testing import make_snapshot

CANARY = 'canary-"quoted"\\and\nbroken-7f3a'


def mask(text):
    return masked(text, [Secret(CANARY), Secret("7f3a")])


@pytest.fixture
def told():
    """The events so far."""
    return []


@pytest.fixture
def observer(told):
    return Observer(EventLog(told.append), mask=mask)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# what is in an event ------------------------------------------------------------------------------------


def test_a_call_of_a_servers_tool_through_the_opener(observer, told):
    acting = Agent("orchestrator")
    wire = acting.name_of("weather/forecast")
    inner = {"pack": "mcp:weather", "tool": wire, "arguments": {"city": "Oslo"}}
    relay(observer, acting, "use_pack", inner, answer="rain")
    [event] = told
    seen = event.to_json()
    assert list(seen)[:2] == ["kind", "time"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", seen["time"])
    assert {key: seen[key] for key in seen if key not in ("time", "queued_ms", "running_ms")} == {
        "kind": "call",
        "agent": "orchestrator",
        "run": "run-1",
        "call": "call_7",
        "name": "use_pack",
        "tool": "server:weather/forecast",
        "wire_name": wire,
        "pack": "mcp:weather",
        "state": "packed",
        "rule": str(acting.turn.belt.find("weather/forecast").decision.reasons[0].rule),
        "outcome": "ok",
    }
    assert seen["queued_ms"] >= 0
    assert seen["running_ms"] >= 0


def test_the_openers_listing_is_a_call_of_the_opener(observer, told):
    relay(observer, Agent("orchestrator"), "use_pack", {"pack": "mcp:weather"})
    assert (told[0].tool, told[0].state, told[0].outcome) == ("native:use_pack", State.DIRECT, Outcome.OK)


def test_a_refused_call_has_its_state_rule_and_hint(observer, told):
    relay(observer, Agent("orchestrator"), "shell")
    event = told[0]
    assert (event.tool, event.state, event.rule) == ("native:shell", State.DENIED, Rule.AGENT_DENY)
    assert (event.hint, event.outcome) == (HintClass.DENIED, Outcome.REJECTED)
    assert "running_ms" not in event.to_json()


def test_a_name_that_is_none_is_one_clean_short_line(observer, told):
    relay(observer, Agent("orchestrator"), "no\nsuch\x1b[31m\u2028tool \u202e" + "x" * 500 + CANARY)
    event = told[0]
    assert (event.state, event.rule, event.hint) == (State.UNKNOWN, Rule.NO_SUCH_TOOL, HintClass.UNKNOWN)
    assert "tool" not in event.to_json()
    assert event.name.startswith("no such[31m tool xxx")
    assert len(event.name.encode()) <= 240
    assert len(json.dumps(event.to_json()).splitlines()) == 1


def test_a_secret_in_a_name_is_masked(observer, told):
    relay(observer, Agent("orchestrator"), f"tool {CANARY} x")
    assert told[0].name == "tool *** x"


def test_a_hand_off_names_its_target(observer, told):
    relay(observer, Agent("orchestrator"), "ask_forecaster", {"request": "Will it rain?"})
    assert (told[0].tool, told[0].target) == ("handoff:ask_forecaster", "forecaster")


@pytest.mark.parametrize(("refusal", "said"), [("", "granted"), ("a person declined this call", "refused")])
def test_a_persons_answer(observer, told, refusal, said):
    relay(observer, Agent("orchestrator"), "clock", asked=refusal)
    event = told[0]
    assert (event.approval, event.tool) == (said, "native:clock")
    assert event.outcome is (Outcome.REJECTED if refusal else Outcome.OK)
    assert event.approval_ms >= 0


def test_a_call_that_was_broken_off_may_have_happened(observer, told):
    def cancelled():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relay(observer, Agent("orchestrator"), "clock", inside=cancelled)
    assert (told[0].outcome, told[0].error, told[0].tool) == (
        "ambiguous",
        "KeyboardInterrupt",
        "native:clock",
    )


def test_the_agents_path(observer, told):
    relay(observer, Agent("orchestrator", "forecaster", run="run-2"), "weather_forecast")
    assert (told[0].agent, told[0].run) == ("orchestrator/forecaster", "run-2")


def test_a_turn_says_what_is_where_and_what_came_and_went(observer, told):
    acting = Agent("orchestrator", snapshot=make_snapshot())
    first = acting.turn
    observer.turn(acting, first)
    acting.snapshot = CONNECTED
    second = acting.turn
    observer.turn(acting, second, first)
    observer.turn(acting, second, second)
    acting.snapshot = CONNECTED.mark("weather", ServerStatus.DISCONNECTED)
    observer.turn(acting, acting.turn, second)
    start, up, down = told
    assert (start.direct, start.packed, start.deferred, start.withheld) == (2, 0, 0, 1)
    assert (start.gained, start.lost) == ((), ())
    assert (up.direct, up.packed, up.withheld) == (3, 1, 1)  # the opener came with what it opens
    assert (up.gained, up.lost) == (("server:weather/forecast",), ())
    assert (down.gained, down.lost) == ((), ("server:weather/forecast",))
    assert start.digest == first.digest != up.digest == second.digest


def test_a_run_begins_and_ends(observer, told):
    parent = Agent("orchestrator")
    child = Agent("orchestrator", "forecaster", parent=parent, run="run-2")
    with observer.run(child) as work:
        work.ended("completed", resumable=False, reason=f"a call\nended unknown: {CANARY}")
    begun, ended = (event.to_json() for event in told)
    assert {key: begun[key] for key in begun if key != "time"} == {
        "kind": "run",
        "agent": "orchestrator/forecaster",
        "run": "run-2",
        "phase": "started",
        "status": "running",
        "parent": "run-1",
    }
    assert (ended["phase"], ended["status"], ended["resumable"]) == ("finished", "completed", False)
    assert ended["reason"] == "a call ended unknown: ***"
    assert ended["ms"] >= 0


def test_a_run_that_raises_has_failed_and_shows_no_words_of_the_exception(observer, told):
    with pytest.raises(ValueError, match="canary"), observer.run(Agent("orchestrator"), resumed=True):
        raise ValueError(CANARY)
    assert (told[0].phase, told[1].status, told[1].reason) == ("resumed", "failed", "ValueError")


def test_servers_and_reloads(observer, told):
    observer.server(state("weather", ServerStatus.STARTING))
    observer.server(state("weather", ServerStatus.FAILED, error=f"exit 1: {CANARY}"))
    for _ in range(2):  # told twice, it is one event
        observer.server(state("weather", ServerStatus.CONNECTED, tools=(1, 2)))
    observer.reload("/home/me/agents", 3, seconds=0.5)
    observer.reload("/home/me/agents", 3, error="packs/x.yaml:1: broken")
    _, failed, connected, fine, kept = (event.to_json() for event in told)
    assert (failed["status"], failed["tools"], failed["error"]) == ("failed", 0, "exit 1: ***")
    assert failed["ms"] >= 0
    assert (connected["tools"], "error" in connected, "ms" in connected) == (2, False, False)
    assert (fine["servers"], fine["ms"], "error" in fine) == (3, 500, False)
    assert kept["error"] == "packs/x.yaml:1: broken"


# arguments, results and secrets -------------------------------------------------------------------------


def everything(log):
    """Each way in which a canary might get into a log."""
    observer = Observer(log, mask=mask)
    acting = Agent("orchestrator")
    wire = acting.name_of("weather/forecast")
    for city in (CANARY, f"Oslo {CANARY}", [CANARY], {CANARY: 1}):
        relay(
            observer, acting, "use_pack", {"pack": "mcp:weather", "tool": wire, "arguments": {"city": city}}
        )
    relay(observer, acting, "clock", json.dumps({"zone": CANARY}), answer=f"the key is {CANARY}")
    relay(observer, acting, "clock", f"no JSON {CANARY}", answer="x" * 1990 + CANARY)
    relay(observer, acting, CANARY, {"a": CANARY})
    observer.server(state(CANARY, ServerStatus.FAILED, error=CANARY))


@pytest.mark.parametrize("arguments", [False, True])
def test_secrets_a_canary_is_in_no_event(tmp_path, arguments):
    path = tmp_path / "events.jsonl"
    with EventLog(path, arguments=arguments) as log:
        everything(log)
    text = path.read_text()
    assert len(lines(path)) == 8
    for part in (CANARY, json.dumps(CANARY)[1:-1], "canary", "7f3a"):
        assert part not in text


@pytest.mark.parametrize(
    "secret", ["plain-value", "it's", 'a "b" \\ c', "-----BEGIN\nKEY-----\n", "schlüssel-\u2028-\x07"]
)
@pytest.mark.parametrize("spell", [str, repr, json.dumps, lambda text: json.dumps(text, ensure_ascii=False)])
def test_a_mask_knows_a_value_however_it_is_quoted(secret, spell):
    text = masked(f"<{spell(secret)}>", [Secret("other"), Secret(secret), Secret("")])
    assert text.replace('"', "").replace("'", "") == "<***>"


def test_a_mask_of_no_secrets_changes_nothing():
    assert masked("text", [Secret("")]) == "text"


def test_the_longer_of_two_secrets_is_masked_whole():
    assert masked("abcd-efgh abcd", [Secret("abcd"), Secret("abcd-efgh")]) == "*** ***"


def test_without_being_asked_a_log_has_no_arguments_and_no_result(observer, told):
    relay(observer, Agent("orchestrator"), "clock", {"zone": "Europe/Oslo"}, answer="half past nine")
    assert "Oslo" not in json.dumps(told[0].to_json())
    assert "half past" not in json.dumps(told[0].to_json())


def test_when_asked_it_has_both_cut(told):
    observer = Observer(EventLog(told.append, arguments=True))
    relay(
        observer, Agent("orchestrator"), "clock", {"zone": "Europe/Oslo", "é": "é" * 3000}, answer="y" * 5000
    )
    event = told[0]
    assert event.arguments.startswith('{"zone": "Europe/Oslo", "é": "éé')
    assert len(event.arguments.encode()) <= 2000
    assert event.result == "y" * 1997 + "…"


def test_the_page_lists_every_key_of_every_kind():
    docs = Path(__file__).parent.parent.parent / "docs"
    generator = runpy.run_path(str(docs / "generate_events.py"))
    assert (docs / "events.md").read_text(encoding="utf-8") == generator["page"]()
    kinds = [line for line in generator["page"]().splitlines() if line.startswith("## ")]
    assert kinds == ["## `server`", "## `turn`", "## `call`", "## `run`", "## `reload`"]


# where it goes ------------------------------------------------------------------------------------------


def test_a_path_is_made_for_its_owner_alone_and_appended_to(tmp_path):
    path = tmp_path / "events.jsonl"
    before = os.umask(0)
    try:
        for workspace in ("one", "two"):
            with EventLog(path) as log:
                log.emit(ReloadEvent(workspace=workspace))
                assert lines(path)[-1]["workspace"] == workspace  # at once, not when it is closed
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [line["workspace"] for line in lines(path)] == ["one", "two"]


WRITER = """
import sys
from packbelt.live.observe.events import EventLog, ReloadEvent
with EventLog(sys.argv[1]) as log:
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(400):
        log.emit(ReloadEvent(workspace=sys.argv[2] * 3000, servers=i))
"""


def test_processes_share_a_log_line_by_line(tmp_path):
    path = tmp_path / "events.jsonl"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), letter], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for letter in "ab"
    ]
    for process in started:
        assert process.stdout.readline() == b"ready\n"
    for process in started:  # both have opened it before either writes
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
        assert process.returncode == 0
    written = lines(path)
    for letter in "ab":
        own = [line for line in written if line["workspace"] == letter * 3000]
        assert [line["servers"] for line in own] == list(range(400))
    assert len(written) == 800


def test_open_files_of_text_and_of_bytes_stay_open():
    for file, read in ((io.StringIO(), str), (io.BytesIO(), bytes.decode)):
        with EventLog(file) as log:
            log.emit(ReloadEvent(workspace="é\u2028"))
        text = read(file.getvalue())
        assert json.loads(text)["workspace"] == "é\u2028"
        assert text.isascii()
        assert text.endswith("}\n")


def test_a_path_that_cannot_be_opened_is_said_at_once(tmp_path):
    with pytest.raises(EventLogError, match="cannot be opened: Is a directory; name a file"):
        EventLog(tmp_path)


async def later(_event):
    raise AssertionError


@pytest.mark.parametrize("sink", [42, later])
def test_what_is_no_sink_is_refused(sink):
    with pytest.raises(TypeError, match="a function, a path or an open file"):
        EventLog(sink)


def test_a_log_is_taken_as_it_is():
    log = EventLog(None)
    assert EventLog.of(log) is log
    assert not EventLog.of(None).active
    assert EventLog.of([].append).active


def test_a_log_closes_its_file_once(tmp_path):
    before = open_files()
    log = EventLog(tmp_path / "events.jsonl")
    assert open_files() == before + 1
    log.close()
    log.close()
    assert open_files() == before
    log.emit(ReloadEvent(workspace="gone"))
    assert (tmp_path / "events.jsonl").read_text() == ""


# what fails ---------------------------------------------------------------------------------------------


def test_a_sink_that_raises_is_dropped_and_said_once(caplog):
    calls = []

    def sink(event):
        calls.append(event)
        raise ValueError(event.workspace)

    log = EventLog(sink)
    with caplog.at_level(logging.WARNING, "packbelt.events"):
        for _ in range(3):
            log.emit(ReloadEvent(workspace=CANARY))
    assert len(calls) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "the event log failed and is switched off: ValueError"
    ]
    assert not log.active


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_harms_no_call(caplog):
    observer = Observer(EventLog("/dev/full"))
    with caplog.at_level(logging.WARNING, "packbelt.events"):
        results = [relay(observer, Agent("orchestrator"), "clock") for _ in range(2)]
    assert [result.outcome for result in results] == [Outcome.OK, Outcome.OK]
    assert len(caplog.records) == 1
    assert "No space left on device" in caplog.text


def test_a_mask_that_raises_harms_no_call(told, caplog):
    def broken(_text):
        raise RuntimeError(CANARY)

    observer = Observer(EventLog(told.append), mask=broken)
    with caplog.at_level(logging.WARNING, "packbelt.events"):
        assert relay(observer, Agent("orchestrator"), "clock").outcome is Outcome.OK
    assert (told, "canary" in caplog.text, len(caplog.records)) == ([], False, 1)


def test_an_agent_whose_file_is_gone_ends_no_log(observer, told):
    acting = Agent("orchestrator")

    def gone():
        raise AgentBrokenError("agent 'orchestrator' did not load")

    acting.handle = gone
    with pytest.raises(AgentBrokenError):
        relay(observer, acting, "clock")
    [event] = told
    assert (event.name, event.state, event.error) == ("clock", State.UNKNOWN, "AgentBrokenError")
    assert observer.log.active


def test_a_handler_that_raises_harms_nobody():
    class Broken(logging.Handler):
        def emit(self, record):
            raise RuntimeError(record)

    handler = Broken()
    logging.getLogger("packbelt.events").addHandler(handler)
    try:
        log = EventLog(lambda _event: 1 / 0)
        log.emit(ReloadEvent(workspace="x"))
    finally:
        logging.getLogger("packbelt.events").removeHandler(handler)
    assert not log.active


def test_where_nobody_listens_no_event_is_built(monkeypatch):
    def never(_self):
        raise AssertionError

    for kind in (ServerEvent, ReloadEvent):
        monkeypatch.setattr(kind, "to_json", never)
    observer = Observer()
    acting = Agent("orchestrator")
    with observer.run(acting) as work:
        assert relay(observer, acting, "clock", asked="").outcome is Outcome.OK
        work.ended("completed", resumable=True)
    observer.server(state("weather", ServerStatus.CONNECTED))
    observer.turn(acting, acting.turn)
    assert not observer.active


def test_where_nobody_listens_an_observation_costs_next_to_nothing():
    log, rounds = EventLog(None), 20_000
    event = ReloadEvent(workspace="x")
    per_call = min(timeit.repeat(lambda: log.emit(event), number=rounds, repeat=5)) / rounds
    assert per_call < 50e-6  # a hang guard: it is well under 1e-6
