"""docs/examples/claude-agent-sdk: what a user would paste, by the real command line to a loopback server."""

import json

import anyio
import claude_wire as wire
import pytest
from conformance import Home
from test_api_examples import EXAMPLES, load

pytest.importorskip("claude_agent_sdk", exc_type=ImportError)

FILES = ("fleet.py", "own_options.py")


@pytest.mark.parametrize("file", FILES)
def test_an_example_runs_as_it_stands(file, tmp_path, monkeypatch):
    home = Home(tmp_path)
    home.place()
    monkeypatch.chdir(tmp_path)
    own = file == "own_options.py"

    async def ask(body):
        if "You are keeper." in wire.system(body):
            return [wire.say("It is open.")]
        if wire.read(body):
            return [wire.say("All done.")]
        said = [("c1", "mcp__main__echo", {"text": "hi"}), ("c2", "ask_keeper", {"request": "the safe"})]
        said += [("c3", "make_uuid", {})] if own else []
        return [wire.use(id_, f"mcp__packbelt__{name}", json.dumps(given)) for id_, name, given in said]

    async def main():
        with wire.Api(ask) as api:
            given = wire.environment(api.url, tmp_path)
            state = {"PACKBELT_TRUST": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
            for name, value in {**given, **state}.items():
                monkeypatch.setenv(name, value)
            return await load(EXAMPLES / "claude-agent-sdk" / file).main("Say hi"), api.bodies

    answer, bodies = anyio.run(main)
    assert answer == "All done."
    assert len(bodies) == 3
    assert "Say hi" in str(bodies[0])
    assert "You are boss." in wire.system(bodies[0])
    assert ("Be short." in wire.system(bodies[0])) is own
    assert "the safe" in str(bodies[1])
    read = wire.read(bodies[-1])
    assert read["c1"] == 'main/echo ran with {"text": "hi"}'
    assert "It is open." in read["c2"]
    assert not own or len(read["c3"]) == 36
    assert home.ran() == [["main/echo", {"text": "hi"}]]


def test_each_is_a_few_lines():
    found = sorted(path.name for path in (EXAMPLES / "claude-agent-sdk").glob("*.py"))
    assert found == sorted(FILES)
    assert all(len((EXAMPLES / "claude-agent-sdk" / file).read_text().splitlines()) <= 50 for file in FILES)
