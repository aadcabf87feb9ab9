"""docs/examples/<target>: what a user would paste, run with the real client against a loopback server."""

import importlib.util
from pathlib import Path

import anyio
import pytest
import wires
from conformance import Home, Said
from loopback import Loopback

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
FILES = {
    "anthropic/loop.py": (
        "anthropic",
        wires.Anthropic(),
        {"ANTHROPIC_API_KEY": "no-key"},
        "ANTHROPIC_BASE_URL",
    ),
    "openai/responses.py": ("openai", wires.OpenAI(), {"OPENAI_API_KEY": "no-key"}, "OPENAI_BASE_URL"),
    "openai/chat.py": ("openai", wires.OpenAIChat(), {"OPENAI_API_KEY": "no-key"}, "OPENAI_BASE_URL"),
    "gemini/loop.py": (
        "google.genai",
        wires.Gemini(),
        {"GEMINI_API_KEY": "no-key"},
        "GOOGLE_GEMINI_BASE_URL",
    ),
}


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES)
def test_an_example_runs_as_it_stands(file, tmp_path, monkeypatch):
    module, wire, keys, base_url = FILES[file]
    pytest.importorskip(module, exc_type=ImportError)
    home = Home(tmp_path)
    home.place()
    monkeypatch.chdir(tmp_path)
    for name, value in {
        **keys,
        "PACKBELT_TRUST": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }.items():
        monkeypatch.setenv(name, value)

    def answer(path, body):
        assert path.endswith(wire.path)
        if not wire.read(body):
            return wire.reply([Said("c1", "mcp__main__echo", {"text": "hi"}), Said("c2", "mcp__main__wipe")])
        return wire.reply((), "All done.")

    async def main(example):
        answered = await example.main("Say hi")
        await getattr(example.client, "close", getattr(example.client, "aclose", None))()
        return answered

    with Loopback(answer) as server:
        monkeypatch.setenv(base_url, server.url)
        assert anyio.run(main, load(EXAMPLES / file)) == "All done."
        first, second = (request.body for request in server.requests)
    assert "Say hi" in str(first)
    assert "mcp__main__echo" in wire.shown(first)
    assert wire.system(first).startswith("You are boss.")
    read = wire.read(second)
    assert read["c1"] == 'main/echo ran with {"text": "hi"}'
    assert "ceiling" in read["c2"]
    assert home.ran() == [["main/echo", {"text": "hi"}]]


def test_every_bare_api_has_an_example_in_a_few_lines():
    found = {str(path.relative_to(EXAMPLES)) for name in ("anthropic", "openai", "gemini")
             for path in (EXAMPLES / name).glob("*.py")}  # fmt: skip
    assert found == set(FILES)
    for file in FILES:
        assert len((EXAMPLES / file).read_text().splitlines()) <= 50
