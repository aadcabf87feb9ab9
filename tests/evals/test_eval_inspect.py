"""The task of inspect-ai: its own `eval` with its own model plays the cases, and its log says what packbelt says."""

import gc
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import anyio
import pytest
from live_endpoint import LiveEndpoint

from packbelt.catalog.snapshot import Snapshot
from packbelt.evals import Case, Message, Result, bound, run_case
from packbelt.evals.world import Simulation
from packbelt.model import PackbeltError
from packbelt.testing.build import agent, make_workspace, native, policy, server_tool

pytest.importorskip("inspect_ai")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

from packbelt.evals.inspect.model import Asked
from packbelt.evals.inspect.task import REPORT, routing

ROOT = Path(__file__).parents[2]
SCHEMA = {
    "type": "object",
    "$defs": {"point": {"type": "object", "title": "P", "properties": {"x": {"type": "number"}}}},
    "properties": {
        "at": {"$ref": "#/$defs/point"},
        "how": {"oneOf": [{"const": "fast"}, {"type": "array", "minItems": 1}]},
        "when": {"type": ["string", "null"], "default": None},
    },
}
FEW = GenerateConfig(max_tokens=64)


@pytest.fixture
def played(tmp_path, monkeypatch):
    """A task played by inspect-ai's `eval`: the log as it was written."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(task, says, **more):
        model = get_model("mockllm/model", custom_outputs=says, memoize=False)
        with warnings.catch_warnings():  # inspect-ai leaves streams of its own unclosed
            warnings.simplefilter("ignore", ResourceWarning)
            (log,) = inspect_eval(task, model=model, display="none", log_dir=str(tmp_path / "logs"), **more)
            gc.collect()
        return read_eval_log(log.location)

    return run


def counted(output):
    """With a usage: else mockllm counts tokens by tables that it fetches."""
    output.usage = ModelUsage(input_tokens=36, output_tokens=7, total_tokens=107, input_tokens_cache_read=64)
    return output


def willing(seed):
    """Calls the hand-offs that a request needs, in order, as far as it is shown them."""
    steps = {case.request: [step[0] for step in case.expect] for case in seed.cases}

    def says(messages, tools, tool_choice, config):
        request = next(one.text for one in messages if one.role == "user")
        made = [call.function for one in messages if one.role == "assistant" for call in one.tool_calls or ()]
        left = [name for name in steps[request] if name not in made]
        if left and left[0] in [tool.name for tool in tools]:
            return counted(ModelOutput.for_tool_call("mockllm", left[0], {"request": request}))
        return counted(ModelOutput.from_content("mockllm", "That is all."))

    return says


def rates(log):
    return {name: score.metrics["mean"].value for score in log.results.scores for name in [score.name]}


def outcomes(log):
    return {sample.id: sample.scores["outcome"].metadata["outcome"] for sample in log.samples}


def test_promoted_the_cases_are_reached_and_packed_they_are_not(seed, played):
    log = played(routing(), willing(seed))
    assert log.status == "success"
    assert outcomes(log) == {case.id: "reached" for case in seed.cases}
    assert rates(log) == {"first_step": 1, "within_steps": 1}
    packed = played(routing(layout="packed"), willing(seed))
    assert set(outcomes(packed).values()) == {"answered_without_tool"}
    assert rates(packed) == {"first_step": 0, "within_steps": 0}


def test_a_breakage_of_the_belt_is_seen_and_half_a_case_is_told_apart(seed, played):
    log = played(routing(mutation="repack-handoffs"), willing(seed))
    assert set(outcomes(log).values()) == {"answered_without_tool"}


def test_the_log_keeps_the_trace_and_the_conversation(seed, played):
    log = played(routing(), willing(seed), epochs=2, sample_id="skill-find-install-run")
    assert [sample.epoch for sample in log.samples] == [1, 2]
    for sample in log.samples:
        calls = [call for reply in sample.store[REPORT]["trace"]["replies"] for call in reply["calls"]]
        assert [call["tool"] for call in calls] == ["handoff:setup_skills", "handoff:run_skill"]
        roles = [message.role for message in sample.messages]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
        assert "setup_skills" in sample.messages[0].text
        took = sample.store[REPORT]["trace"]["replies"][0]["usage"]
        assert took == {"prompt": 100, "completion": 7, "cached": 64}
        assert sample.target == "setup_skills, run_skill"


def test_what_the_model_s_endpoint_fails_at_is_inspect_s_error_and_no_score(seed, played):
    asks = willing(seed)

    def fails(messages, *more):
        if any("benchmark" in one.text for one in messages if one.role == "user"):
            raise OSError("unplugged")
        return asks(messages, *more)

    log = played(routing(), fails, fail_on_error=False)
    (failed,) = [sample for sample in log.samples if sample.error]
    assert (failed.id, failed.scores) == ("skill-install-from-source", {})
    assert "unplugged" in failed.error.message
    assert rates(log) == {"first_step": 1, "within_steps": 1}


def test_inspect_s_own_limits_end_a_case(seed, played):
    log = played(routing(), willing(seed), token_limit=1, sample_id="skill-install-by-purpose")
    (sample,) = log.samples
    assert sample.limit.type == "token"


def test_a_task_of_what_does_not_exist_is_refused():
    with pytest.raises(PackbeltError, match="no suite is called 'sed'; did you mean 'seed'"):
        routing(suite="sed")
    with pytest.raises(PackbeltError, match="layout"):
        routing(layout="folded")


@pytest.mark.parametrize(("protocol", "target"), [("openai", "openai-chat"), ("anthropic", "anthropic")])
def test_inspect_sends_the_belt_s_schemas_as_they_are(protocol, target):
    fleet = make_workspace(
        tools=[native("web_search", "Searches.")], agents=[agent("keeper", handoff="to_keeper")],
        policies={"*": policy(exposure="direct")},
    )  # fmt: skip
    now = Snapshot().connect("s", [server_tool("awkward", "Takes it all.", SCHEMA)])
    case = Case("c", "orchestrator", (Message("user", "x"),), (("to_keeper",),), snapshot=now)

    async def play(url):
        async with Simulation(fleet, case) as live, live.agent(case.agent, request="") as one:
            form = (await one.turn()).compile(target, strict=False)
        given = {"responses_api": False} if protocol == "openai" else {"streaming": False}
        model = get_model(f"{protocol}/m", base_url=url, api_key="none", config=FEW, memoize=False, **given)
        async with model:
            return form, await run_case(fleet, bound(fleet, case), Asked(model))

    def answer(asked):
        return "Kept." if asked.answered else ("to_keeper", {"request": "x"})

    with LiveEndpoint(answer) as server:
        form, report = anyio.run(play, server.base(protocol))
    assert report.result is Result.REACHED
    assert [_plain(tool) for tool in server.asked[0].body["tools"]] == form.kwargs["tools"]
    assert SCHEMA in [
        tool.get("input_schema") or tool["function"]["parameters"] for tool in form.kwargs["tools"]
    ]
    assert report.trace.replies[0].usage.cached == 64


def _plain(tool):
    """A tool without the mark that inspect-ai sets for the prompt cache of Messages."""
    return {name: value for name, value in tool.items() if name != "cache_control"}


def test_it_runs_from_the_command_line(tmp_path):
    task = ROOT / "src/packbelt/evals/inspect/task.py"
    command = [sys.executable, "-m", "inspect_ai", "eval", f"{task}@routing", "-T", "layout=packed"]
    said = ["--limit", "1", "--display", "none", "--log-format", "json", "--log-dir", str(tmp_path)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_DATA_HOME": str(tmp_path / "data")}
    with LiveEndpoint(lambda _: "I cannot.") as server:
        model = [
            "--model",
            "openai/m",
            "--model-base-url",
            server.base("openai"),
            "-M",
            "responses_api=false",
        ]
        key = {"OPENAI_API_KEY": "none"}
        subprocess.run(
            [*command, *model, *said], check=True, cwd=tmp_path, env={**environ, **key}, timeout=120
        )
    (file,) = tmp_path.glob("*.json")
    log = json.loads(file.read_text())
    assert log["samples"][0]["scores"]["outcome"]["metadata"]["outcome"] == "answered_without_tool"
