"""docs/examples of langchain, over the wire to a loopback server, with two providers behind LangChain."""

import anyio
import pytest
import wires
from conformance import Home, Said
from loopback import Loopback
from proofs import proves
from test_api_examples import EXAMPLES, load

FILES = ("langchain/fleet.py", "langchain/own_tools.py")
PROVIDERS = {
    "openai": ("langchain_openai", wires.OpenAIChat(), "openai:fake", "OPENAI"),
    "anthropic": ("langchain_anthropic", wires.Anthropic(), "anthropic:fake", "ANTHROPIC"),
}


@proves("langchain", "visible", "denied")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("file", FILES)
def test_an_example_runs_as_it_stands(file, provider, tmp_path, monkeypatch):
    module, wire, model, prefix = PROVIDERS[provider]
    pytest.importorskip("langchain.agents", exc_type=ImportError)
    pytest.importorskip(module, exc_type=ImportError)
    home = Home(tmp_path)
    home.place()
    monkeypatch.chdir(tmp_path)
    own = [Said("c3", "make_uuid")] if "own_tools" in file else []

    def answer(path, body):
        assert path.endswith(wire.path)
        if wire.system(body).startswith("You are keeper."):
            return wire.reply((), "It is open.")
        if not wire.read(body):
            calls = [Said("c1", "mcp__main__echo", {"text": "hi"}), Said("c2", "mcp__main__wipe"), *own,
                     Said("c4", "ask_keeper", {"request": "the safe"})]  # fmt: skip
            return wire.reply(calls)
        return wire.reply((), "All done.")

    with Loopback(answer) as server:
        for name, value in {
            "MODEL": model,
            f"{prefix}_API_KEY": "no-key",
            f"{prefix}_BASE_URL": server.url,
            "PACKBELT_TRUST": str(tmp_path),
            "XDG_STATE_HOME": str(tmp_path / "state"),
        }.items():
            monkeypatch.setenv(name, value)
        assert anyio.run(load(EXAMPLES / file).main, "Say hi") == "All done."
        bodies = [request.body for request in server.requests]
    first, last = bodies[0], bodies[-1]
    assert len(bodies) == 3
    assert "Say hi" in str(first)
    assert wire.system(first).startswith("You are boss.")
    assert wire.system(first).endswith("Be brief.") is bool(own)
    assert "mcp__main__echo" in wire.shown(first)
    assert ("make_uuid" in wire.shown(first)) is bool(own)
    assert "the safe" in str(bodies[1])
    read = wire.read(last)
    assert read["c1"] == 'main/echo ran with {"text": "hi"}'
    assert "ceiling" in read["c2"]
    assert "It is open." in read["c4"]
    assert not own or len(read["c3"]) == 36
    assert home.ran() == [["main/echo", {"text": "hi"}]]
    if provider == "anthropic":  # which has a mark for an error
        blocks = [block for message in last["messages"] if isinstance(message["content"], list)
                  for block in message["content"] if block["type"] == "tool_result"]  # fmt: skip
        assert [block["tool_use_id"] for block in blocks if block.get("is_error")] == ["c2"]


def test_each_is_a_few_lines():
    assert {f"langchain/{path.name}" for path in (EXAMPLES / "langchain").glob("*.py")} == set(FILES)
    for file in FILES:
        assert len((EXAMPLES / file).read_text().splitlines()) <= 50
