"""docs/examples of the gateway: its client as it stands, and the entry of a client's configuration."""

import json

import anyio
import click
import pytest
from conformance import Home
from test_api_examples import EXAMPLES, load

from packbelt.cli import cli


@pytest.mark.parametrize(
    "case",
    [
        ("mcp__main__echo", {"text": "hi"}, 'main/echo ran with {"text": "hi"}'),
        ("mcp__main__wipe", {}, "ceiling"),
        ("mcp__main__ekko", {"text": "hi"}, "mcp__main__echo"),
    ],
)
def test_the_client_runs_as_it_stands(case, tmp_path, monkeypatch, capsys):
    tool, arguments, read = case
    home = Home(tmp_path)
    home.place()
    (tmp_path / "prompts/agents/boss.md").write_text(
        "---\nname: boss\ndescription: Is boss.\n---\nYou are boss.\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PACKBELT_TRUST", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert read in anyio.run(load(EXAMPLES / "mcp/client.py").main, "boss", tool, arguments)
    listed = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert "mcp__main__echo" in listed
    assert "mcp__main__wipe" not in listed
    ran = [["main/echo", {"text": "hi"}]] if tool == "mcp__main__echo" else []
    assert home.ran() == ran


def test_the_entry_of_a_clients_configuration_starts_the_gateway():
    (entry,) = json.loads((EXAMPLES / "mcp/mcp.json").read_text())["mcpServers"].items()
    name, server = entry
    assert server["command"] == "packbelt"
    root = click.Context(cli, info_name="packbelt", **cli.context_settings)
    context = cli.get_command(root, server["args"][0]).make_context("serve", server["args"][1:], parent=root)
    assert context.params["known_as"] == name


def test_each_is_a_few_lines():
    assert {path.name for path in (EXAMPLES / "mcp").iterdir()} == {"client.py", "mcp.json"}
    assert len((EXAMPLES / "mcp/client.py").read_text().splitlines()) <= 50
