"""Models behind endpoints, asked by the real clients over HTTP: what is sent, what comes back, whose fault."""

import json
import threading
from functools import partial

import anyio
import pytest
from live_endpoint import LiveEndpoint, StatusError

from packbelt.catalog.snapshot import Snapshot
from packbelt.evals import (
    Case,
    Endpoint,
    EndpointError,
    Message,
    Recorder,
    Replay,
    ReplayError,
    Result,
    Sampling,
    bound,
    model_named,
    run_case,
)
from packbelt.evals.trace import Usage
from packbelt.evals.world import Simulation
from packbelt.model import PackbeltError
from packbelt.testing.build import agent, make_workspace, native, pack, policy, schema, server_tool

for _needed in ("pydantic_ai", "openai", "anthropic"):
    pytest.importorskip(_needed)

PROTOCOLS = ["openai", "anthropic"]
KEY = "sk-loopback-0123456789"
KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]
AWKWARD = {
    "type": "object",
    "$defs": {
        "point": {"type": "object", "properties": {"x": {"type": "number", "minimum": 0}}, "title": "P"}
    },
    "properties": {
        "at": {"$ref": "#/$defs/point"},
        "how": {"oneOf": [{"const": "fast"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]},
        "when": {"type": ["string", "null"], "format": "date-time", "default": None},
    },
    "dependentRequired": {"how": ["at"]},
    "additionalProperties": True,
}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in (*KEYS, "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fleet():
    return make_workspace(
        tools=[native("keep_add", "Adds.", schema("what")), native("clock", "Tells the time.")],
        packs=[
            pack("keep", ["keep_add", "to_keeper"], access="owners", owners=["keeper"], direct=["to_keeper"]),
            pack("time", ["clock"]),
        ],
        agents=[agent("keeper", handoff="to_keeper", tools=["pack:keep"])],
        policies={"*": policy(exposure="direct")},
    )


def case_of(*expect, **more):
    now = Snapshot().connect("s", [server_tool("awkward", "Takes it all.", AWKWARD)])
    said = (Message("user", "Keep this"), Message("assistant", "What?"), Message("user", "A note"))
    return Case("keep", "orchestrator", said, tuple((one,) for one in expect), snapshot=now, **more)


def ask(workspace, server, protocol, case=None, repeat=0, *, sampling="", model=None, **endpoint):
    live = model or model_named(f"{protocol}/m{sampling}", Endpoint(server.base(protocol), **endpoint))
    return anyio.run(run_case, workspace, bound(workspace, case or case_of("to_keeper")), live, repeat)


def hands_over(asked):
    """Takes the hand-off where it is advertised, and is done when it was answered."""
    if asked.answered > 1:
        return "It is kept."
    return ("to_keeper", {"request": "A note"}) if "to_keeper" in asked.names else "I cannot."


def compiled(workspace, case, target):
    async def turn():
        async with Simulation(workspace, case) as fleet, fleet.agent(case.agent, request="") as agent:
            return (await agent.turn()).compile(target, strict=False)

    return anyio.run(turn)


@pytest.mark.parametrize(("protocol", "target"), [("openai", "openai-chat"), ("anthropic", "anthropic")])
def test_what_is_sent_is_packbelt_s_own_form(fleet, protocol, target):
    form = compiled(fleet, case_of("to_keeper"), target)
    with LiveEndpoint(hands_over) as server:
        report = ask(fleet, server, protocol)
    assert report.result is Result.REACHED
    first, second = (one.body for one in server.asked)
    assert first["tools"] == second["tools"] == form.kwargs["tools"]
    assert AWKWARD in [tool.get("input_schema") or tool["function"]["parameters"] for tool in first["tools"]]
    assert first["tool_choice"] in ("auto", {"type": "auto"})
    if protocol == "openai":
        assert first["messages"][0] == {"role": "system", "content": form.system}
        assert [one["role"] for one in second["messages"]] == [
            *("system", "user", "assistant", "user"),
            *("assistant", "tool"),
        ]
        answered = second["messages"][-1]
        assert answered["tool_call_id"] == "call_1"
    else:
        system = first["system"]
        assert (system if isinstance(system, str) else system[0]["text"]) == form.system
        assert [one["role"] for one in second["messages"]] == ["user", "assistant"] * 2 + ["user"]
        (answered,) = second["messages"][-1]["content"]
        assert answered["tool_use_id"] == "toolu_1"
    assert "Done." in json.dumps(answered["content"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_reply_took_is_kept_with_what_was_cached(fleet, protocol):
    with LiveEndpoint(hands_over) as server:
        report = ask(fleet, server, protocol)
    assert [one.usage for one in report.trace.replies] == [Usage(100, 7, 64)] * 2


def test_arguments_are_judged_as_they_were_written_and_sent_back(fleet):
    written = '{"reqest":  "A note"}'
    with LiveEndpoint(lambda asked: "Oh." if asked.answered > 1 else ("to_keeper", written)) as server:
        report = ask(fleet, server, "openai")
    assert report.result is Result.MALFORMED_ARGUMENTS
    assert report.trace.calls[0].arguments == written
    sent_back = server.asked[1].body["messages"][-2]["tool_calls"][0]["function"]
    assert (sent_back["name"], json.loads(sent_back["arguments"])) == ("to_keeper", json.loads(written))


def test_arguments_that_are_no_json_are_judged_as_they_were_written(fleet):
    written = '{"request": "A note'
    with LiveEndpoint(lambda asked: "Oh." if asked.answered > 1 else ("to_keeper", written)) as server:
        report = ask(fleet, server, "openai")
    assert (report.result, report.trace.calls[0].arguments) == (Result.MALFORMED_ARGUMENTS, written)
    sent_back = server.asked[1].body["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent_back) == {
        "INVALID_JSON": written
    }  # endpoints refuse a conversation that is not JSON


def test_thinking_goes_back_to_the_endpoint_that_signed_it(fleet):
    def thinks(asked):
        return "Kept." if asked.answered > 1 else ("to_keeper", {"request": "x"}, "It is the keeper's.")

    with LiveEndpoint(thinks) as server:
        report = ask(fleet, server, "anthropic")
    assert report.result is Result.REACHED
    thought = server.asked[1].body["messages"][-2]["content"][0]
    assert thought == {"type": "thinking", "thinking": "It is the keeper's.", "signature": "c2lnbmVk"}


def test_the_repeat_is_the_seed_and_only_what_is_set_is_sent(fleet):
    with LiveEndpoint(hands_over) as server:
        ask(fleet, server, "openai", repeat=3)
        ask(fleet, server, "openai", sampling="?temperature=0&max_tokens=9")
        ask(fleet, server, "anthropic", repeat=3, sampling="?max_tokens=9&temperature=0.50")
    plain, sampled, other = (server.asked[i].body for i in (0, 2, 4))
    assert plain["seed"] == 3
    assert not {"temperature", "max_tokens", "max_completion_tokens"} & set(plain)
    assert (sampled["seed"], sampled["temperature"], sampled["max_tokens"]) == (0, 0, 9)
    assert (other["temperature"], other["max_tokens"]) == (0.5, 9)
    assert "seed" not in other


@pytest.mark.parametrize(("protocol", "variable"), [("openai", KEYS[0]), ("anthropic", KEYS[1])])
def test_the_key_comes_from_the_environment_and_is_said_nowhere(fleet, monkeypatch, protocol, variable):
    def refuses(asked):
        raise StatusError(
            401, {"error": {"type": "authentication_error", "message": f"Incorrect API key {KEY}"}}
        )

    monkeypatch.setenv(variable, KEY)
    entries = []
    with LiveEndpoint(hands_over) as server:
        live = Recorder(model_named(f"{protocol}/m", Endpoint(server.base(protocol))), entries.append)
        report = ask(fleet, server, protocol, model=live)
        sent = server.asked[0].headers
    assert KEY in (sent.get("authorization", "") + sent.get("x-api-key", ""))
    with LiveEndpoint(refuses) as server:
        refused = ask(fleet, server, protocol)
    assert refused.result is Result.HARNESS_ERROR
    assert "refuses the key; set one in the environment" in refused.trace.error
    assert KEY not in f"{report}{refused}{[entry.to_line() for entry in entries]}"


CONTEXT = {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "Too long."}
BAD_SCHEMA = {"type": "invalid_request_error", "param": "tools[3].function.parameters", "message": "Bad."}
FAULTS = [
    ("openai", 400, {"error": BAD_SCHEMA}, Result.AGENT_ERROR, "refuses the request (400: Bad.)"),
    ("openai", 400, {"error": CONTEXT}, Result.AGENT_ERROR, "is longer than openai/m can read"),
    ("openai", 400, {"error": {"message": "No.", "param": "temperature"}}, Result.HARNESS_ERROR, "`temperature`"),
    ("openai", 413, {"error": {"message": "Big."}}, Result.AGENT_ERROR, "(413: Big.)"),
    ("openai", 422, {"error": {"message": "No."}}, Result.AGENT_ERROR, "refuses the request (422: No.)"),
    ("openai", 404, {"error": {"message": "No m."}}, Result.HARNESS_ERROR, "no model openai/m (404: No m.)"),
    ("openai", 403, {"error": {"message": "No."}}, Result.HARNESS_ERROR, "refuses the key"),
    ("openai", 429, {"error": {"message": "Slow."}}, Result.HARNESS_ERROR, "limits the rate"),
    ("openai", 500, {"error": {"message": "Oh."}}, Result.HARNESS_ERROR, "failed (500: Oh.)"),
    ("openai", 200, b"<html>A portal</html>", Result.HARNESS_ERROR, "the endpoint of openai/m failed"),
    ("openai", 200, {"choices": []}, Result.HARNESS_ERROR, "the endpoint of openai/m failed"),
    ("anthropic", 400, {"type": "error", "error": BAD_SCHEMA}, Result.AGENT_ERROR, "refuses the request"),
    ("anthropic", 404, {"type": "error", "error": {"message": "x"}}, Result.HARNESS_ERROR, "no model anthropic/m"),
    ("anthropic", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}}, Result.HARNESS_ERROR, "Busy."),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_whose_fault_it_is_that_no_reply_came(fleet, fault):
    protocol, code, body, result, said = fault

    def answer(asked):
        raise StatusError(code, body)

    with LiveEndpoint(answer) as server:
        report = ask(fleet, server, protocol, retries=0)
    assert (report.result, len(server.asked)) == (result, 1)
    assert said in report.trace.error


def test_a_busy_endpoint_is_asked_again_and_costs_nothing(fleet):
    turns = iter([StatusError(429, {}, Retry_After_Ms=1), StatusError(503, {}, Retry_After_Ms=1)])

    def answer(asked):
        if status := next(turns, None):
            raise status
        return hands_over(asked)

    with LiveEndpoint(answer) as server:
        report = ask(fleet, server, "openai", retries=2)
    assert (report.result, len(server.asked)) == (Result.REACHED, 4)


def test_an_endpoint_that_is_not_there_or_does_not_answer_is_the_harness_s_error(fleet):
    with LiveEndpoint(hands_over) as server:
        pass
    report = ask(fleet, server, "openai", retries=0)
    assert (report.result, report.trace.error.partition(";")[0]) == (
        Result.HARNESS_ERROR,
        "EndpointError: the endpoint of openai/m cannot be reached",
    )
    over = threading.Event()
    with LiveEndpoint(lambda _: over.wait() and "x") as server:
        report = ask(fleet, server, "openai", retries=0, timeout=0.2)
        over.set()
    assert report.result is Result.HARNESS_ERROR
    assert "did not answer in time" in report.trace.error


def test_no_more_requests_at_once_than_allowed(fleet):
    lock, both = threading.Lock(), threading.Barrier(2)
    now = most = 0

    def answer(asked):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        both.wait(30)  # goes on when two are in: one at a time would hang
        with lock:
            now -= 1
        return "No."

    async def several(live):
        async with anyio.create_task_group() as tasks:
            for repeat in range(6):
                tasks.start_soon(run_case, fleet, bound(fleet, case_of("to_keeper")), live, repeat)

    with LiveEndpoint(answer) as server:
        live = model_named("openai/m", Endpoint(server.base("openai"), max_connections=2))
        anyio.run(several, live)
        anyio.run(several, live)  # another loop
    assert (most, len(server.asked)) == (2, 12)


@pytest.fixture(params=PROTOCOLS)
def recorded(request, fleet, tmp_path):
    """Two repeats of a case, recorded: the file, what was played, and their reports."""
    file = tmp_path / "kept.jsonl"
    with LiveEndpoint(hands_over) as server, file.open("w") as lines:
        live = model_named(f"{request.param}/m?temperature=0", Endpoint(server.base(request.param)))
        model = Recorder(live, lambda entry: lines.write(entry.to_line()))
        played = [(case_of("to_keeper"), repeat) for repeat in (0, 1)]
        reports = [ask(fleet, server, "", case, repeat, model=model) for case, repeat in played]
    return file, played, reports


def test_a_recording_replays_to_the_same_outcomes_without_an_endpoint(fleet, recorded):
    file, played, reports = recorded
    again = model_named(f"replay:{file}")
    replay = partial(ask, fleet, None, "", model=again)
    assert [replay(case, repeat) for case, repeat in played] == reports
    (other,) = [replay(played[0][0], 2)]
    assert other.result is Result.HARNESS_ERROR
    assert "has no reply number 1 for this case" in other.trace.error


def test_the_sampling_is_a_part_of_the_name():
    assert Sampling(0.5).of("openai/m?max_tokens=9") == "openai/m?temperature=0.5&max_tokens=9"
    assert Sampling().of("openai/m") == "openai/m"
    assert Sampling.read("max_tokens=9&temperature=0.50") == Sampling(0.5, 9)
    for wrong in ("top_k=3", "temperature=warm", "temperature=-1", "temperature=nan", "max_tokens=0", "x"):
        with pytest.raises(PackbeltError, match=r"is no sampling; write \?temperature=0&max_tokens=512"):
            model_named(f"openai/m?{wrong}")


def test_a_recording_of_another_sampling_or_model_is_not_replayed(fleet, recorded):
    file, played, reports = recorded
    name = json.loads(file.read_text().splitlines()[0])["model"]
    assert name.endswith("/m?temperature=0")
    for other in ("openai/other", name.replace("=0", "=1")):
        with pytest.raises(ReplayError) as error:
            model_named(f"replay:{file}#{other}")
        assert f"has no reply of {other}; it has those of {name}" in str(error.value)
    both = file.read_text() + file.read_text().replace(name, "openai/other")
    file.write_text(both)
    with pytest.raises(ReplayError, match="is of several models; name one of them after the file: #"):
        model_named(f"replay:{file}")
    chosen = model_named(f"replay:{file}#{name}")
    assert isinstance(chosen, Replay)
    assert ask(fleet, None, "", *played[0], model=chosen) == reports[0]


def test_a_model_that_cannot_be_asked_is_refused_before_anything_is_played():
    with pytest.raises(
        EndpointError, match=r"no key for openai is in the environment; set OPENAI_API_KEY, or"
    ):
        model_named("openai/m")
    with pytest.raises(PackbeltError, match=r"no model is called 'opnai/m'.*openai/MODEL"):
        model_named("opnai/m")
