"""The report's own tables: before its fix `check` fails and names the four hand-offs; after it all is well."""

import json
import re
from pathlib import Path

import pytest

from packbelt.checks import run
from packbelt.model import Code, HandOff, Level, State
from packbelt.turn import turn

TABLES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))
FOUR = {
    "use_mcp_server": "integrations",
    "setup_mcp_server": "integrations",
    "setup_skills": "skills",
    "run_skill": "skills",
}


def errors(workspace, snapshot=None):
    return [found for found in run(workspace, snapshot) if found.level is Level.ERROR]


@pytest.mark.parametrize(("state", "names"), [("seed_state", 144), ("after_fix_6304", 140)])
def test_the_workspace_has_the_tables_packs_members_and_owners(before, after, state, names):
    workspace = before if state == "seed_state" else after
    tools = {tool.name for tool in workspace.tools}
    for row in TABLES[state]:
        pack = workspace.packs[row["id"]]
        assert (list(pack.members), list(pack.owners), pack.direct) == (row["tools"], row["owners"], ())
        assert set(row["tools"]) <= tools
    assert sum(len(row["tools"]) for row in TABLES[state]) == names
    assert len(TABLES[state]) == 16


def test_every_hand_off_of_the_table_leads_to_the_tables_agent(before):
    targets = {tool.name: tool.target for tool in before.tools if tool.target}
    assert TABLES["delegate_names"].items() <= targets.items()


def test_before_check_fails_and_names_the_four_hand_offs(before):
    found = errors(before)
    assert {one.code for one in found} == {Code.RESERVED_HANDOFF_PACKED}
    for name, pack in FOUR.items():
        (naming,) = [one for one in found if name in one.message]
        assert f"pack '{pack}'" in naming.message
        assert naming.where.file == f"packs/{pack}.yaml"
        assert name in naming.mend


def test_before_the_belt_has_the_four_hand_offs_packed_and_none_of_their_schemas_is_sent(before, now):
    orchestrator = turn(before, now, "orchestrator")
    assert {name: orchestrator.belt[name].state for name in FOUR} == dict.fromkeys(FOUR, State.PACKED)
    assert not FOUR.keys() & {tool.name for tool in orchestrator.tools}
    assert {"research", "run_code", "review_code", "retrieve_memory", "use_pack"} <= {
        tool.name for tool in orchestrator.tools
    }


def test_before_the_prompt_says_use_pack_and_never_delegate_with(before, now):
    orchestrator = turn(before, now, "orchestrator")
    for name, pack in FOUR.items():
        assert f"`use_pack` with pack `{pack}` and tool `{name}`" in orchestrator.prompt
        for line in orchestrator.prompt.splitlines():
            listed = line.startswith(f"- `{pack}`: Hands off with tool ")  # of what use_pack opens
            assert f"`{name}`" not in line or listed or "`use_pack`" in line
    assert not re.search(
        r"delegate with|hand[^.\n]{0,40} to `?use_mcp_server", orchestrator.prompt, re.IGNORECASE
    )


def test_after_check_finds_no_error(after, now):
    assert errors(after) == []
    assert errors(after, now) == []


def test_after_the_four_hand_offs_are_sent_and_named_as_they_are_called(after, now):
    orchestrator = turn(after, now, "orchestrator")
    assert FOUR.keys() <= {tool.name for tool in orchestrator.tools}
    for name in FOUR:
        assert f"`{name}`" in orchestrator.sections["routing"]
        assert f"and tool `{name}`" not in orchestrator.prompt
        assert isinstance(orchestrator.resolve(name, {"request": "..."}), HandOff)
