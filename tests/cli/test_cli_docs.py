"""Help and docs: every command has both, with an example, and the page is what `--help` says."""

import runpy
from pathlib import Path

import click
import pytest

from packbelt._version import __version__
from packbelt.cli import COMMANDS, cli

ROOT = Path(__file__).parent.parent.parent


def test_the_page_is_up_to_date():
    generator = runpy.run_path(str(ROOT / "docs/generate_commands.py"))
    assert (ROOT / "docs/commands.md").read_text(encoding="utf-8") == generator["page"]()


def test_help_lists_the_commands_there_are(run, tmp_path):
    text = run(tmp_path, "--help").stdout
    listed = text.split("Commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == list(COMMANDS)
    assert run(tmp_path).stdout == text


def test_version(run, tmp_path):
    assert run(tmp_path, "--version").stdout == f"packbelt {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_an_example_and_the_common_options(run, tmp_path, name):
    done = run(tmp_path, name, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"Example: packbelt {name}" in done.stdout
    for option in ("-w, --workspace DIR", "--snapshot FILE", "--json"):
        assert option in done.stdout
    command = cli.get_command(click.Context(cli), name)
    assert command.name == name
    assert all(p.help for p in command.params if isinstance(p, click.Option))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_stands_on_the_page(name):
    assert f"## packbelt {name}\n" in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


def complete(run, monkeypatch, where, words):
    monkeypatch.setenv("_PACKBELT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    lines = run(where).stdout.splitlines()
    return [line.split(",")[1] for line in lines if line]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("packbelt ", list(COMMANDS)),
        ("packbelt dump mc", ["mcp_agent"]),
        ("packbelt explain orchestrator file_", ["file_read", "file_write"]),
        ("packbelt explain --snapshot now.yaml orchestrator mcp__w", ["mcp__weather__get_forecast"]),
        ("packbelt hint orchestrator x --pack int", ["integrations"]),
    ],
)
def test_completion(fleet, run, monkeypatch, words, found):
    assert complete(run, monkeypatch, fleet, words) == found


def test_completion_in_a_broken_workspace_is_silent(fleet, run, monkeypatch):
    (fleet / "packbelt.yaml").write_text("{")
    assert complete(run, monkeypatch, fleet, "packbelt dump o") == []


def test_completion_knows_the_snapshot_of_the_environment(fleet, run, monkeypatch):
    words = "packbelt explain orchestrator mcp__w"
    assert complete(run, monkeypatch, fleet, words) == []
    monkeypatch.setenv("PACKBELT_SNAPSHOT", "now.yaml")
    assert complete(run, monkeypatch, fleet, words) == ["mcp__weather__get_forecast"]


def test_the_help_of_connect_says_what_a_server_gets_and_how_trust_is_revoked(run, tmp_path):
    from packbelt.live import INHERITED

    text = " ".join(run(tmp_path, "connect", "--help").stdout.split())
    assert f"{', '.join(INHERITED[:-1])} and {INHERITED[-1]}, and no other" in text
    assert "trust.json" in text
    assert "To revoke it, delete the entry or the file" in text


def test_the_page_names_all_that_is_written():
    text = " ".join((ROOT / "docs/commands.md").read_text(encoding="utf-8").split())
    assert '`connect --save` and `connect --lock` write, and the answer "always"' in text
    assert "trust file" in text
