"""`packbelt plan` as a person uses it."""

import subprocess

import pytest
from small_project import FILES, write

CALLS = "agent,tool,calls,turns,runs\norchestrator,file_read,900,4000,1000\norchestrator,clock,0,4000,1000\n"


@pytest.fixture
def seen(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text(CALLS)
    return path


def test_a_table_of_agents_and_moves(fleet, run, seen):
    done = run(fleet, "plan", seen)
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["file_read", "files"] in [line[:2] for line in lines]
    assert "would change packs/files.yaml" in done.stdout
    assert (fleet / "packs/files.yaml").read_text() == FILES["packs/files.yaml"]


def test_a_patch_is_all_that_is_printed_and_git_takes_it(fleet, run, seen):
    done = run(fleet, "plan", seen, "--patch")
    subprocess.run(["git", "init", "-q"], cwd=fleet, check=True)
    subprocess.run(["git", "apply", "-"], cwd=fleet, input=done.stdout, text=True, check=True)
    assert "direct: [file_read, file_write]\n" in (fleet / "packs/files.yaml").read_text()
    assert run(fleet, "plan", seen, "--patch").stdout == ""


def test_written_it_does_what_was_said_and_there_is_no_more_to_do(fleet, run, run_json, seen):
    said = run_json(fleet, "plan", seen)
    errors = run(fleet, "check", "--json").stdout
    done = run(fleet, "plan", seen, "--write")
    assert done.exit_code == 0
    assert "wrote packs/files.yaml" in done.stdout
    belt = run_json(fleet, "dump", "orchestrator")
    (agent,) = (one for one in said["agents"] if one["agent"] == "orchestrator")
    assert belt["tokens"]["total"] == agent["tokens_planned"]
    states = {tool["name"]: tool["state"] for tool in (*belt["tools"], *belt["withheld"])}
    # With nothing put away the opener goes too, which is worth more than one small schema.
    assert (states["file_read"], states["file_write"], states["clock"]) == ("direct",) * 3
    assert "use_pack" not in states
    assert states["registry_search"] == "reserved"
    assert states["shell"] == "denied"
    again = run_json(fleet, "plan", seen)
    assert (again["files"], again["patch"], again["packs"]) == ([], "", {})
    assert run(fleet, "check", "--json").stdout.count('"error"') == errors.count('"error"')


def test_too_little_is_said_to_be_too_little(fleet, run, seen):
    seen.write_text("agent,tool,calls,turns,runs\norchestrator,file_read,5,20,5\n")
    done = run(fleet, "plan", seen)
    assert done.stdout.startswith("nothing to move")
    assert "not enough data" in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nowhere.csv",), "nowhere.csv: cannot be read"),
        (("calls.csv", "--never-pack", "file_rad"), "'file_rad'; did you mean 'file_read'?"),
        (("calls.csv", "--cached-read", "nan"), "'nan' is no finite number"),
        (("calls.csv", "--output", "inf"), "'inf' is no finite number"),
        (("calls.csv", "--least-runs", "nan"), "'nan' is no finite number"),
        (("calls.csv", "--patch", "--write"), "leave out --write and --json"),
    ],
)
def test_bad_input(tmp_path, run, seen, args, said):
    root = write(tmp_path / "root", FILES)
    (root / "calls.csv").write_text(CALLS)
    done = run(root, "plan", *args)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_tool_said_by_name_wins_over_its_pack(fleet, run_json, seen):
    said = run_json(fleet, "plan", seen, "--never-pack", "files", "--always-pack", "file_write")
    assert said["packs"]["files"] == ["file_read"]
