"""docs/examples of openai-agents and pydantic-ai: what a user would paste, over the wire to a loopback server."""

import anyio
import pytest
import wires
from conformance import Home, Said
from loopback import Loopback
from test_api_examples import EXAMPLES, load

FILES = {
    "openai-agents/fleet.py": "agents",
    "openai-agents/own_tools.py": "agents",
    "pydantic-ai/fleet.py": "pydantic_ai",
    "pydantic-ai/own_tools.py": "pydantic_ai",
}


@pytest.mark.parametrize("file", FILES)
def test_an_example_runs_as_it_stands(file, tmp_path, monkeypatch):
    module = pytest.importorskip(FILES[file], exc_type=ImportError)
    home, wire = Home(tmp_path), wires.OpenAI()
    home.place()
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "OPENAI_API_KEY": "no-key",
        "PACKBELT_TRUST": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }.items():
        monkeypatch.setenv(name, value)
    if module.__name__ == "agents":
        module.set_tracing_disabled(True)  # else it would send what it did to its maker
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
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert anyio.run(load(EXAMPLES / file).main, "Say hi") == "All done."
        bodies = [request.body for request in server.requests]
    first, last = bodies[0], bodies[-1]
    assert len(bodies) == 3
    assert "Say hi" in str(first)
    assert "You are boss." in wire.system(first)
    assert "mcp__main__echo" in wire.shown(first)
    assert "make_uuid" in wire.shown(first) or not own
    assert "the safe" in str(bodies[1])
    read = wire.read(last)
    assert read["c1"] == 'main/echo ran with {"text": "hi"}'
    assert "ceiling" in read["c2"]
    assert "It is open." in read["c4"]
    assert not own or len(read["c3"].removeprefix("id-")) == 36
    assert home.ran() == [["main/echo", {"text": "hi"}]]


def test_each_is_a_few_lines():
    found = {
        f"{name}/{path.name}"
        for name in ("openai-agents", "pydantic-ai")
        for path in (EXAMPLES / name).glob("*.py")
    }
    assert found == set(FILES)
    for file in FILES:
        assert len((EXAMPLES / file).read_text().splitlines()) <= 50
