"""`packbelt hint`, `packbelt prompt`, `packbelt check`."""

import json
import re

import pytest

import packbelt

CLASSES = {
    "callable",
    "packed",
    "reserved",
    "wrong_pack",
    "unknown",
    "ambiguous",
    "denied",
    "unavailable",
    "off_belt",
    "over_ceiling",
    "invalid_arguments",
    "repeat",
}


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (["clock"], "callable"),
        (["file_read"], "packed"),
        (["registry_search"], "reserved"),
        (["file_read", "--pack", "integrations"], "wrong_pack"),
        (["no_such_thing"], "unknown"),
        (["shell"], "denied"),
        (["delegate_to_broken"], "unavailable"),
        (["delegate_to_refused"], "off_belt"),
    ],
)
def test_hint_json(fleet, run_json, args, kind):
    hint = run_json(fleet, "hint", "orchestrator", *args)
    assert set(hint) == {"class", "text", "suggestions"}
    assert hint["class"] == kind
    assert hint["class"] in CLASSES
    assert hint["text"]
    assert all(set(one) == {"tool", "arguments"} for one in hint["suggestions"])


def test_hint_suggests_what_resolves(fleet, run_json):
    hint = run_json(fleet, "hint", "orchestrator", "registry_search")
    turn = packbelt.turn(packbelt.load(fleet), None, "orchestrator")
    assert hint["suggestions"] == [{"tool": "use_mcp_server", "arguments": {"request": "..."}}]
    assert isinstance(turn.resolve("use_mcp_server", {"request": "..."}), packbelt.HandOff)


def test_hint_for_people_is_the_text_alone(fleet, run, run_json, broken_line):
    done = run(fleet, "hint", "orchestrator", "registry_search")
    assert done.stdout == run_json(fleet, "hint", "orchestrator", "registry_search")["text"] + "\n"
    assert done.stderr == broken_line + "\n"


def test_prompt_is_raw(fleet, run, broken_line):
    done = run(fleet, "prompt", "orchestrator")
    turn = packbelt.turn(packbelt.load(fleet), None, "orchestrator")
    assert (done.exit_code, done.stderr) == (0, broken_line + "\n")
    assert done.stdout.rstrip("\n") == turn.prompt.rstrip("\n")
    assert done.stdout.startswith("You sort requests.")
    assert turn.sections["routing"] in done.stdout


def test_prompt_for_programs(fleet, run_json):
    answer = run_json(fleet, "prompt", "orchestrator")
    assert set(answer) == {"agent", "prompt", "sections"}
    assert answer["sections"]["routing"] in answer["prompt"]


def test_check_takes_broken_agents_as_findings(fleet, run):
    done = run(fleet, "check")
    assert done.exit_code == 1
    assert "prompts/agents/broken.md:4: " in done.stdout
    assert "[agent.broken]" in done.stdout
    assert "prompts/agents/refused.md:4: " in done.stdout
    assert re.search(r"^      mend: ", done.stdout, re.MULTILINE)
    assert re.fullmatch(r"\d+ errors?, \d+ warnings?, \d+ notes?", done.stdout.splitlines()[-2])
    assert done.stdout.startswith("errors\n")
    assert done.stderr == ""


def test_check_json(fleet, run):
    done = run(fleet, "check", "--json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 1
    assert set(answer) == {"findings", "errors", "warnings", "notes"}
    assert all(set(one) == {"level", "code", "message", "where", "mend"} for one in answer["findings"])
    for level in ("error", "warning", "note"):
        assert sum(one["level"] == level for one in answer["findings"]) == answer[f"{level}s"]
    assert {one["code"] for one in answer["findings"]} >= {"agent.broken", "agent.refused"}


def warned(tmp_path):
    """A workspace with a warning and no error: an agent refers to a server that nobody configured."""
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "one.md").write_text("---\nname: one\ndescription: One.\nmcpServers: [nowhere]\n---\nx\n")
    return tmp_path


def test_strict_counts_warnings(tmp_path, run):
    where = warned(tmp_path)
    answer = json.loads(run(where, "check", "--json").stdout)
    assert (answer["errors"], answer["warnings"] > 0) == (0, True)
    assert run(where, "check").exit_code == 0
    assert run(where, "check", "--strict").exit_code == 1


def test_errors_of_one_kind_fold_too(tmp_path, run):
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    for i in range(25):
        (agents / f"a{i}.md").write_text(f"---\nname: a{i}\ndescription: A.\ntools:\n---\nx\n")
    text = run(tmp_path, "check").stdout
    assert text.count("[agent.broken]") == 21
    assert "  and 5 more of [agent.broken]; --all shows them\n" in text
    assert run(tmp_path, "check", "--all").stdout.count("[agent.broken]") == 25
