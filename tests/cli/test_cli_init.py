"""`packbelt init`: a workspace that works as it stands, and nothing that is overwritten."""

import json
import os
import shlex

import pytest

import packbelt
from packbelt.catalog.snapshot import Snapshot
from packbelt.checks import run as run_checks
from packbelt.cli.init import NEXT, STARTER

FILES = {
    ".mcp.json",
    "README.md",
    "packbelt.yaml",
    "packs/notes.yaml",
    "prompts/agents/librarian.md",
    "prompts/agents/orchestrator.md",
}


def files(root):
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def started(tmp_path, run):
    done = run(tmp_path, "init", "mine")
    assert (done.exit_code, done.stderr) == (0, "")
    return tmp_path / "mine"


def test_it_writes_the_starter_and_names_every_file(tmp_path, run):
    done = run(tmp_path, "init", "deep/er")
    assert done.exit_code == 0
    assert set(files(tmp_path / "deep/er")) == FILES
    assert files(tmp_path / "deep/er") == files(STARTER)
    said = done.stdout.splitlines()
    assert said[0] == "wrote a workspace to ./deep/er"
    assert {line.strip() for line in said[1 : 1 + len(FILES)]} == FILES


@pytest.mark.parametrize("args", [[], ["."], ["-w", "."]])
def test_here(tmp_path, run, args):
    done = run(tmp_path, "init", *args)
    assert done.exit_code == 0
    assert set(files(tmp_path)) == FILES
    assert done.stdout.startswith("wrote a workspace\n")
    assert "\nNext\n" in done.stdout


def test_the_three_commands_that_it_names_run_clean(started, run):
    assert len(NEXT) == 3
    for line, _ in NEXT:
        program, *args = shlex.split(line)
        assert program == "packbelt"
        done = run(started, *args)
        assert (done.exit_code, done.stderr) == (0, ""), line


def test_it_checks_without_a_note_also_while_its_server_is_connected(started):
    workspace = packbelt.load(started)
    assert run_checks(workspace) == ()
    listed = [{"name": "get_current_time", "description": "Tells.", "inputSchema": {"type": "object"}}]
    assert run_checks(workspace, Snapshot().connect("time", listed)) == ()


def test_it_shows_what_its_comments_say(started):
    workspace = packbelt.load(started)
    listed = [{"name": "get_current_time", "description": "Tells.", "inputSchema": {"type": "object"}}]
    root = packbelt.turn(workspace, Snapshot().connect("time", listed), "orchestrator").belt
    states = {name: str(root[name].state) for name in root}
    assert states == {
        "ask_librarian": "direct",
        "mcp__time__get_current_time": "direct",
        "note_find": "reserved",
        "note_write": "reserved",
        "note_delete": "reserved",
    }
    assert root["note_delete"].decision.routes[0].call == "ask_librarian"
    clerk = packbelt.turn(workspace, None, "librarian").belt
    assert {name for name in clerk if clerk[name].state == "direct"} == {
        "note_find",
        "note_write",
        "note_delete",
    }
    assert clerk["note_delete"].approve


def test_its_server_is_started_by_nobody_who_did_not_say_yes(started, run):
    (started / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"time": {"command": "touch", "args": [str(started / "ran")]}}})
    )
    done = run(started, "connect")
    assert done.exit_code != 0
    assert not (started / "ran").exists()


def test_its_readme_is_short_and_names_every_folder_and_the_server(started):
    text = (started / "README.md").read_text()
    assert len(text.splitlines()) <= 10
    for name in ("packbelt.yaml", "packs/", "prompts/agents/", ".mcp.json", "`time`"):
        assert name in text


def test_json(tmp_path, run_json):
    said = run_json(tmp_path, "init", "mine")
    assert said["directory"] == str(tmp_path / "mine")
    assert set(said["written"]) == FILES
    assert said["next"] == [line for line, _ in NEXT]


@pytest.mark.parametrize("name", sorted(FILES - {"packbelt.yaml", ".mcp.json"}))
def test_nothing_is_overwritten_and_nothing_is_written(tmp_path, run, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    done = run(tmp_path, "init")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{name} exists already" in done.stderr
    assert files(tmp_path) == {name: "mine"}


@pytest.mark.parametrize("name", ["packbelt.yaml", ".mcp.json", ".claude/agents/mine.md"])
def test_a_workspace_stays_as_it_is(tmp_path, run, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    done = run(tmp_path, "init")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a workspace already" in done.stderr
    assert files(tmp_path) == {name: "mine"}


def test_twice_is_refused(started, run):
    before = files(started)
    assert run(started, "init").exit_code == 2
    assert files(started) == before


def test_a_link_that_leads_to_nothing_is_something(tmp_path, run):
    (tmp_path / "README.md").symlink_to("nowhere")
    assert run(tmp_path, "init").exit_code == 2
    assert os.listdir(tmp_path) == ["README.md"]  # noqa: PTH208 - names are what is compared


@pytest.mark.parametrize("blocker", ["packs", "prompts"])
def test_what_was_written_is_taken_back_if_the_rest_cannot_be(tmp_path, run, blocker):
    (tmp_path / blocker).write_text("a file where a folder should be")
    done = run(tmp_path, "init")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be written" in done.stderr
    assert set(files(tmp_path)) == {blocker}
    assert [path.name for path in tmp_path.iterdir()] == [blocker]


def test_a_file_is_no_directory(tmp_path, run):
    (tmp_path / "file").write_text("")
    done = run(tmp_path, "init", "file")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("args", [["a", "-w", "b"], ["--snapshot", "x.yaml"]])
def test_options_that_make_no_sense_are_refused(tmp_path, run, args):
    done = run(tmp_path, "init", *args)
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_beside_other_files_it_leaves_them_alone(tmp_path, run):
    (tmp_path / "main.py").write_text("x")
    assert run(tmp_path, "init").exit_code == 0
    assert files(tmp_path)["main.py"] == "x"
