"""Files that nobody here wrote: every one is imported or refused with a reason, and none is widened."""

from pathlib import Path

import import_counts
import pytest
import yaml

from packbelt.importers import Outcome

FIXTURES = Path(__file__).parent.parent / "fixtures/import_corpus"
RESTRICTIONS = ("ceiling", "deny", "disallow", "allowed", "permission")


@pytest.fixture(scope="module")
def counts():
    return import_counts.counts(FIXTURES)


def test_none_is_widened_and_each_is_spoken_of(counts):
    assert [fault for count in counts for fault in count.faults] == []
    assert sum(count.files for count in counts[:-1]) == sum(path.is_file() for path in FIXTURES.rglob("*.*"))


def fine(path):
    """Whether a file is an agent of Claude Code's, as PyYAML alone tells it."""
    try:
        data = yaml.safe_load("\n".join(import_counts.front(path.read_text("utf-8-sig"))))
    except yaml.YAMLError:
        return False
    return isinstance(data, dict) and {"name", "description"} <= data.keys()


def test_refused_are_just_those_that_are_no_agents(counts):
    for count in counts:
        if count.name.startswith("agents/"):
            paths = list((FIXTURES / count.name).rglob("*.md"))
            assert count.outcomes[Outcome.REFUSED] == sum(not fine(path) for path in paths), count.name
            assert count.outcomes[Outcome.MAPPED] == sum(map(fine, paths)), count.name


def test_the_check_sees_what_is_widened():
    agent = "---\nname: x\ndescription: D.\ntools: Read\ndisallowedTools: Write\n---\n"
    assert import_counts.widened_agent(agent, agent) == []
    for wider in (agent.replace("Read", "Read, Bash"), agent.replace("tools: Read\n", "", 1)):
        assert import_counts.widened_agent(agent, wider)
    assert import_counts.widened_agent(agent, agent.replace("disallowedTools: Write\n", ""))
    source = {"mcpServers": {"s": {"command": "x", "disabled": True}}}
    assert import_counts.widened_server("s", {"command": "x", "disabled": True}, source) == []
    for entry in ({"command": "x"}, {"command": "y", "disabled": True}):
        assert import_counts.widened_server("s", entry, source)


def test_the_script_prints_a_table_and_exits_0(capsys):
    assert import_counts.main(FIXTURES) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["what", "files", "mapped", "approximated", "left_out", "refused", "faults"]
    assert not [line for line in lines if "FAULT" in line]
