"""Agents of Claude Code's format: what its host runs, and an overview that is not all noughts."""

import json
import re

import pytest


@pytest.fixture
def imported(tmp_path):
    """Forty agents in Claude Code's format, one of which names tools."""
    folder = tmp_path / ".claude/agents"
    folder.mkdir(parents=True)
    for i in range(40):
        (folder / f"a{i:02}.md").write_text(f"---\nname: a{i:02}\ndescription: One.\n---\nx\n")
    (folder / "coder.md").write_text("---\nname: coder\ndescription: Codes.\ntools: Bash, Read\n---\nx\n")
    return tmp_path


def test_the_overview_says_what_is_not_counted_and_who_the_root_is(imported, run):
    text = run(imported, "dump").stdout
    assert "Claude Code's own tools (Bash, Read, ...) are not counted here" in text
    assert "orchestrator is implied: packbelt's own root, every agent is its delegate" in text


def test_neither_is_said_where_it_does_not_hold(fleet, run):
    text = run(fleet, "dump").stdout
    assert "Claude Code" not in text
    assert "implied" not in text


def test_agents_that_can_call_nothing_share_a_line(imported, run):
    text = run(imported, "dump").stdout
    assert "\n  41 agents without a known tool: a00, a01, a02, a03, a04, a05, ...  (--all)\n" in text
    assert re.search(r"^  orchestrator +41 ", text, re.MULTILINE)
    assert len(re.findall(r"^  (a\d\d|coder) ", text, re.MULTILINE)) == 0
    assert len(re.findall(r"^  (a\d\d|coder) ", run(imported, "dump", "--all").stdout, re.MULTILINE)) == 41
    assert len(json.loads(run(imported, "dump", "--json").stdout)) == 42


def test_eight_have_a_row_each(imported, run):
    for i in range(7, 40):
        (imported / f".claude/agents/a{i:02}.md").unlink()
    text = run(imported, "dump").stdout
    assert len(re.findall(r"^  (a\d\d|coder) ", text, re.MULTILINE)) == 8
    assert "without a known tool" not in text


SAID = "Bash is run by Claude Code itself; only a belt compiled for it has it"


def test_a_tool_of_claude_codes_own(imported, run, run_json):
    done = run(imported, "explain", "coder", "Bash")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [SAID, "  coder's `tools` names it, .claude/agents/coder.md:4"]
    assert run(imported, "explain", "a00", "Bash").stdout == SAID + "\n"
    assert run(imported, "hint", "coder", "Bash").stdout == SAID + ".\n"
    explained = run_json(imported, "explain", "coder", "Bash")
    assert (explained["state"], explained["reasons"][0]["detail"]) == ("unknown", SAID)
    assert run_json(imported, "hint", "coder", "Bash") == {
        "class": "unknown",
        "text": SAID + ".",
        "suggestions": [],
    }


@pytest.mark.parametrize(("agent", "name"), [("orchestrator", "Bash"), ("coder", "Bsh")])
def test_other_names_and_packbelts_own_agents_are_told_as_ever(imported, run, agent, name):
    assert run(imported, "explain", agent, name).exit_code == 2
    assert "Claude Code" not in run(imported, "hint", agent, name).stdout


def test_the_mend_is_spelled_as_the_agents_file_spells_it(imported, run):
    (imported / "now.yaml").write_text("servers: {s: {status: connected, tools: [{name: t}]}}\n")
    text = run(imported, "explain", "coder", "mcp__s__t", "--snapshot", "now.yaml").stdout
    assert "mend: add `mcp__s__t` to `tools`, .claude/agents/coder.md:4" in text


def test_a_rule_about_arguments_is_said_once(tmp_path, run):
    folder = tmp_path / ".claude/agents"
    folder.mkdir(parents=True)
    (folder / "runner.md").write_text(
        "---\nname: runner\ndescription: Runs.\ntools: Bash(pytest:*), Read\n---\nx\n"
    )
    text = run(tmp_path, "check").stdout
    assert text.count("Bash(pytest:*)") == 1
    assert "it grants nothing here  [agent.specifier]" in text
