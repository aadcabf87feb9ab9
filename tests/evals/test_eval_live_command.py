"""`packbelt eval` with a live model: asked over HTTP, recorded, replayed, and gone on with."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from live_endpoint import LiveEndpoint

from packbelt.cli import cli

for _needed in ("pydantic_ai", "openai", "anthropic"):
    pytest.importorskip(_needed)

ROOT = Path(__file__).parents[2]
EVAL = ["eval", "seed", "-w", str(ROOT)]


@pytest.fixture
def run(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "PACKBELT_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(cli, [*EVAL, *words])


def first_hand_off(asked):
    return "Done." if asked.answered else ("setup_skills", {"request": "x"})


def test_a_live_run_is_recorded_and_replayed_to_the_same_outcomes(run, tmp_path):
    kept = tmp_path / "kept.jsonl"
    with LiveEndpoint(first_hand_off) as server:
        live = ("--base-url", server.base("openai"), "--temperature", "0", "--max-tokens", "64")
        done = run("--model", "openai/m", *live, "--record", str(kept), "--json")
    assert done.exit_code == 1
    assert {(one.body["temperature"], one.body["max_tokens"]) for one in server.asked} == {(0, 64)}
    (asked,) = json.loads(done.stdout)["conditions"]
    assert asked["suites"][0]["model"] == "openai/m?temperature=0&max_tokens=64"
    assert asked["suites"][0]["outcomes"] == {"reached": 2, "wrong_handoff": 2, "gave_up": 1}
    (again,) = json.loads(run("--model", f"replay:{kept}", "--json").stdout)["conditions"]
    assert again["suites"][0]["cases"] == asked["suites"][0]["cases"]


def test_what_failed_of_itself_is_played_again_and_nothing_else(run, tmp_path):
    results, down = tmp_path / "results.jsonl", "benchmark"

    def flaky(asked):
        if down and any(down in str(one["content"]) for one in asked.body["messages"]):
            raise OSError(down)
        return first_hand_off(asked)

    with LiveEndpoint(flaky) as server:
        words = (
            "--model",
            "anthropic/m",
            "--base-url",
            server.base("anthropic"),
            "--results",
            str(results),
            "--json",
        )
        first = json.loads(run(*words).stdout)["conditions"][0]["suites"][0]["outcomes"]
        assert first["harness_error"] == 1
        down, before = "", len(server.asked)
        second = json.loads(run(*words).stdout)["conditions"][0]["suites"][0]["outcomes"]
    assert "harness_error" not in second
    assert len(server.asked) - before == 2


def test_the_other_side_of_a_comparison_is_asked_at_the_same_endpoint(run):
    with LiveEndpoint(first_hand_off) as server:
        live = ("--model", "openai/m", "--base-url", server.base("openai"))
        done = run(*live, "--compare", str(ROOT), "--json")
    assert done.exit_code == 1, done.stderr
    (found,) = json.loads(done.stdout)["judgement"]["comparisons"]
    assert (found["pairings"][0]["contrast"]["pairs"], found["pairings"][0]["contrast"]["gained"]) == (5, [])
    first = [one.body for one in server.asked if not one.answered]
    assert len(first) == 10


def test_what_cannot_be_asked_is_one_line(run, tmp_path):
    done = run("--model", "openai/m")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no key for openai is in the environment; set OPENAI_API_KEY, or" in done.stderr
    done = run("--executor", "ray", "--record", str(tmp_path / "x"))
    assert done.exit_code == 2
    assert "replies on a cluster are not recorded" in done.stderr
    assert not (tmp_path / "x").exists()
