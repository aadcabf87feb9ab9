"""A local model through llama.cpp itself: a tiny one of random weights says nonsense, in the right form."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import tiny_gguf

from packbelt.evals import Case, Message, ModelError, bound, model_named
from packbelt.evals.models import Local
from packbelt.evals.models.local.engine import Engine, Sampled
from packbelt.evals.models.local.grammar import names_grammar, offered, readable
from packbelt.evals.models.local.weights import WeightsError, sha256_of
from packbelt.evals.models.model import Request, call
from packbelt.testing.build import agent, make_workspace, native, pack, schema

pytest.importorskip("xllamacpp")

KEEP = ("keep_add", "clock", "to_keeper")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return tiny_gguf.write(tmp_path_factory.mktemp("weights") / "tiny-f32.gguf")


@pytest.fixture(scope="module")
def engine(weights):
    return Engine(weights, threads=1)


@pytest.fixture(scope="module")
def workspace():
    packs = [pack("keep", ["keep_add", "to_keeper"], direct=["to_keeper"])]
    tools = [native("keep_add", "Adds.", schema("what")), native("clock", "Tells the time.")]
    return make_workspace(tools=tools, packs=packs, agents=[agent("keeper", handoff="to_keeper")])


def local(weights, engine, *, written):
    model = Local(weights, written=written)
    model.__dict__["engine"] = engine  # one for all tests of this module
    return model


def case(**more):
    return Case("case", "orchestrator", (Message("user", "Keep this for me"),), (("to_keeper",),), **more)


def test_whatever_it_would_say_it_says_one_of_the_names(engine):
    for seed in range(8):
        text = engine.write("Say ", names_grammar(KEEP), 64, Sampled(temperature=5.0, seed=seed))
        assert json.loads(text.text) in KEEP
        assert not text.cut


def test_other_names_are_said_when_other_names_are_offered(engine):
    said = {
        engine.write("Say ", names_grammar([name]), 64, Sampled()).text for name in ("a b", 'q"uote', "é")
    }
    assert {json.loads(one) for one in said} == {"a b", 'q"uote', "é"}


def test_the_same_prefix_is_read_once(engine):
    first = engine.write("a long beginning " * 20, names_grammar(KEEP), 64, Sampled())
    again = engine.write("a long beginning " * 20, names_grammar(KEEP), 64, Sampled())
    assert first.prompt == again.prompt > 300
    assert again.cached > 300
    assert again.text == first.text


def test_a_prompt_that_is_too_long_is_the_model_s_error(engine):
    with pytest.raises(ModelError, match="cannot go on"):
        engine.write("x" * 40_000, names_grammar(KEEP), 8, Sampled())


def test_the_template_shows_the_tools_and_the_calls_that_were_made(engine):
    tools = [{"type": "function", "function": {"name": "clock", "description": "Tells.", "parameters": {}}}]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "When?"},
        call(1, "clock", {}),
        {"role": "tool", "tool_call_id": "call_1", "content": "Noon."},
    ]
    prompt = engine.render(messages, offered(Request(tools, messages)))
    assert all(part in prompt for part in ("Be brief.", "When?", "clock", "Noon.", "answer_directly"))
    assert "<tool_call>" in prompt
    assert prompt.endswith("<|assistant|>")


def test_a_call_that_was_cut_does_not_end_the_conversation(engine):
    long = call(1, "clock", {})
    long["tool_calls"][0]["function"]["arguments"] = '{"what": "and so on'
    refused = {"role": "tool", "tool_call_id": "call_1", "content": "That is no JSON."}
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": "When?"}, long, refused]
    assert "That is no JSON." in engine.render(readable(messages), [])
    with pytest.raises(ModelError, match="does not take the conversation"):
        engine.render(messages, [])


def test_its_port_on_loopback_answers_nobody_else(engine):
    engine.render([{"role": "user", "content": "When?"}], [])
    address = engine._server.listening_address
    assert address.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "When?"}]}
    assert httpx2.post(f"{address}/apply-template", json=body, timeout=30).status_code == 401


@pytest.mark.parametrize("written", [True, False])
def test_a_case_is_played_through_the_real_engine(workspace, weights, engine, written, one):
    report = one(workspace, local(weights, engine, written=written), "to_keeper", steps=3)
    reply = report.trace.replies[0]
    assert report.trace.fault is None
    assert reply.usage.prompt > 1000  # one token a byte
    assert reply.usage.completion > 0
    for made in report.trace.calls:
        assert made.name in reply.advertised


def test_names_alone_are_chosen_and_their_arguments_are_the_smallest_that_fit(
    workspace, weights, engine, one
):
    model = local(weights, engine, written=False)
    for steps in range(1, 4):
        report = one(workspace, model, "to_keeper", steps=steps)
        for made in report.trace.calls:
            if made.name == "to_keeper":
                assert json.loads(made.arguments) == {"request": "Install a code review skill"}
            assert made.refused is None or made.name == "use_pack"


def test_the_first_play_is_the_same_again_and_repeats_have_a_seed(workspace, weights, engine):
    model = local(weights, engine, written=True)
    bound_case = bound(workspace, case())
    assert model.begin(bound_case).sampled == Sampled()
    assert model.begin(bound_case, 2).sampled == Sampled(temperature=0.7, top_p=0.8, top_k=20, seed=2)


def test_its_name_says_the_file_and_its_digest(weights):
    assert Local(weights).name == f"local:tiny-f32@{sha256_of(weights)[:8]}"
    assert model_named(f"local-names:{weights}").name.startswith("local-names:tiny-f32@")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("local:qwen2.5-coder-0.5", "did you mean 'qwen2.5-coder-0.5b'"),
        ("local:nothing.gguf", "there is no file nothing.gguf"),
        ("local-names:qwen2.5-coder-1.5b", "python -m packbelt.evals.models.local qwen2.5-coder-1.5b"),
    ],
)
def test_a_model_that_is_not_here_is_refused_with_the_way_to_it(name, said, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match=said):
        model_named(name)


def test_the_command_plays_a_suite_and_the_process_ends_cleanly(weights, tmp_path):
    (tmp_path / "packbelt.yaml").write_text("default_tools: none\n")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "talk.yaml").write_text("cases: [{id: hello, request: Hello., expect: none}]\n")
    command = [sys.executable, "-m", "packbelt", "eval", "-w", str(tmp_path), "--json", "--model"]
    done = subprocess.run(
        [*command, f"local:{weights}"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")  # there is nothing but the answer to choose
    assert '"reached"' in done.stdout


def test_a_file_that_is_no_model_is_refused_in_one_line_and_the_process_ends_cleanly(tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF nothing")
    workspace = Path(__file__).parents[2]
    command = [sys.executable, "-m", "packbelt", "eval", "seed", "-w", str(workspace), "--model"]
    done = subprocess.run(
        [*command, f"local:{tmp_path / 'broken.gguf'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (1, 2)
    assert "cannot be loaded" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
