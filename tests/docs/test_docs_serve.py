"""docs/serve.md: its examples are what clients read, its commands parse, and its figures are the code's."""

import json

import pytest
import yaml
from pages import ROOT, fences, packbelt_commands, parses

from packbelt.gateway import guard, http, rounds, server, tokens

PAGE = ROOT / "docs/serve.md"
EXAMPLES = {name: text for _, name, text in fences(PAGE) if name}


def entries():
    """Every server entry in the examples."""
    for name, text in EXAMPLES.items():
        if name.endswith(".json"):
            yield from json.loads(text)["mcpServers"].items()
        else:
            for one in yaml.safe_load(text.split("---\n")[1])["mcpServers"]:
                yield from one.items()


def test_there_is_an_example_for_the_main_agent_for_a_sub_agent_and_for_http():
    assert set(EXAMPLES) == {".mcp.json", ".claude/agents/researcher.md", "remote.mcp.json"}
    kinds = [entry.get("type", "stdio") for _, entry in entries()]
    assert kinds == ["stdio", "stdio", "http"]


@pytest.mark.parametrize(("name", "entry"), list(entries()))
def test_an_entry_starts_or_reaches_the_gateway(name, entry):
    if "url" in entry:
        assert guard.AGENTS in entry["url"]
        assert entry["headers"]["Authorization"].startswith("Bearer ${")
        return
    assert entry["command"] == "packbelt"
    context = parses(entry["args"])
    assert context.params["known_as"] == name
    assert len(context.params["agents"]) == 1


@pytest.mark.parametrize("words", packbelt_commands(PAGE), ids=" ".join)
def test_every_command_parses(words):
    assert parses(words).command.name == words[0]


def test_the_figures_are_the_codes():
    text = PAGE.read_text()
    assert f"wait at most {server.QUICK:g} seconds" in text
    assert f"waits up to {rounds.PATIENCE / 60:g} minutes" in text
    assert f"at most {http.MAX_BODY >> 20} MiB" in text
    assert f"way have {http.DRAIN} seconds" in text
    assert f"`{tokens.VARIABLE}`" in text
    assert f"`GET {guard.HEALTH}`" in text
