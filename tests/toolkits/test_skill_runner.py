import os
import signal
import time

import anyio
import pytest
from skill_world import World, assert_gone, skill_text, write

from packbelt import toolkits


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    write(
        made.root,
        {
            "skills/pdf/SKILL.md": skill_text("pdf"),
            "skills/pdf/scripts/run.py": ("#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\n", 0o755),
            "skills/pdf/scripts/go.sh": "echo hi\n",
            "skills/pdf/scripts/odd": ("#!/usr/bin/env -S no-such-program-here --x\n", 0o755),
            "skills/pdf/long.txt": "".join(f"line {i}\n" for i in range(3000)),
            "skills/pdf/data.bin": b"\xff\xfe\x00",
            "notes.txt": "outside",
        },
    )
    return made


def test_a_script_runs_in_its_skills_folder_with_a_minimal_environment(world, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("BASH_ENV", "/nowhere")
    answer = world(
        "shell",
        command="python3 -S scripts/run.py a 'b c'; pwd; env; echo oops >&2; exit 3",
        cwd="skills/pdf",
    )
    assert answer["exit_code"] == 3
    assert answer["stderr"] == "oops\n"
    lines = answer["stdout"].splitlines()
    assert lines[:2] == ["['a', 'b c']", str(world.root / "skills" / "pdf")]
    assert "s3cret" not in answer["stdout"]
    names = {line.partition("=")[0] for line in lines[2:] if "=" in line}
    assert "PATH" in names
    assert not names & {"SECRET_TOKEN", "BASH_ENV", "PYTHONPATH"}


def test_nothing_waits_for_a_person(world):
    assert world("shell", command="cat; echo end", timeout_seconds=20)["stdout"] == "end\n"


@pytest.mark.parametrize("cwd", ["..", "/", "skills/../..", "skills/out", "skills/pdf/SKILL.md", "nothing"])
def test_commands_run_in_the_working_directory_or_below(world, cwd):
    (world.root / "skills" / "out").symlink_to("/")
    with pytest.raises(toolkits.ToolkitError, match=r"outside the working directory|is no directory"):
        world("shell", command="pwd", cwd=cwd)


def test_long_output_is_cut_in_the_middle_and_never_held(world):
    answer = world("shell", command="echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last")
    text = answer["stdout"]
    assert text.startswith("first\n")
    assert text.endswith("xlast\n")
    assert len(text) < 70_000
    kept = 2 * (32 << 10)
    assert f"... {20_000_000 + len('first') + len('last') + 2 - kept:,} bytes left out ..." in text


def test_output_that_is_no_text(world):
    assert world("shell", command="printf 'a\\377b'")["stdout"] == "a\ufffdb"


def pids(world, count):
    path = world.root / "pids"
    deadline = time.monotonic() + 20
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [int(word) for word in path.read_text().split()]


TREE = "trap '' TERM; (trap '' TERM; sleep 60 & echo $! >> pids; wait) & echo $$ >> pids; echo $! >> pids; "


def test_at_the_end_of_its_time_all_that_it_started_is_killed(world):
    answer = world("shell", command=TREE + "echo begun; wait", timeout_seconds=1)
    assert answer["exit_code"] is None
    assert answer["stdout"] == "begun\n"
    assert "did not end within 1 seconds" in answer["problem"]
    assert_gone(pids(world, 3))


def test_what_a_command_leaves_behind_ends_with_it_and_is_not_waited_for(world):
    answer = world("shell", command="sleep 60 & echo $! >> pids; echo done", timeout_seconds=50)
    assert (answer["exit_code"], answer["stdout"]) == (0, "done\n")
    assert_gone(pids(world, 1))


def test_a_cancelled_call_ends_its_processes(world):
    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.tools["shell"], TREE + "wait")
            await anyio.to_thread.run_sync(pids, world, 3)
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert_gone(pids(world, 3))


def test_a_command_killed_by_a_signal_says_so(world):
    assert world("shell", command="kill -9 $$")["exit_code"] == -signal.SIGKILL


def test_lines_of_a_file_and_where_to_go_on(world):
    text = world("read_workflow_resource", name="pdf", path="long.txt", offset=10, limit=2)
    assert (
        text == "skills/pdf/long.txt, lines 11 to 12 of 3000\n\nline 10\nline 11\n... continue with offset 12"
    )
    assert world("read_workflow_resource", name="pdf", path="long.txt", offset=3000).startswith(
        "skills/pdf/long.txt has 3000 lines, none from 3001 on"
    )


def test_a_skills_page_lists_its_files(world):
    text = world("read_workflow_resource", name="pdf")
    assert text.endswith(
        "\nFiles beside it (5):\ndata.bin\nlong.txt\nscripts/go.sh\nscripts/odd\nscripts/run.py"
    )


@pytest.mark.parametrize(
    "path", ["../../notes.txt", "/etc/passwd", "out", "dir/passwd", "pipe", "data.bin", "scripts", "", "a\0b"]
)
def test_only_the_skills_own_texts_are_read(world, path):
    folder = world.root / "skills" / "pdf"
    (folder / "out").symlink_to(world.root / "notes.txt")
    (folder / "dir").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    with pytest.raises(toolkits.ToolkitError):
        world("read_workflow_resource", name="pdf", path=path)


@pytest.mark.parametrize("name", ["..", ".", "", "../skills/pdf", "nothing", "/etc", "PDF"])
def test_only_installed_skills_are_read(world, name):
    with pytest.raises(toolkits.ToolkitError, match="is installed; choose one of: pdf"):
        world("read_workflow_resource", name=name)


def test_programs_that_scripts_need(world):
    answer = world("skill_runtime_resolve_runtimes", name="pdf")
    by_name = {row["program"]: row for row in answer["programs"]}
    assert {name: row["scripts"] for name, row in by_name.items()} == {
        "python3": ["scripts/run.py"],
        "sh": ["scripts/go.sh"],
        "no-such-program-here": ["scripts/odd"],
    }
    assert by_name["sh"]["path"].endswith("/sh")
    assert answer["missing"] == ["no-such-program-here"]
