import os
import signal
import subprocess
import sys

import anyio
import pytest
from skill_world import World, assert_gone, make_zip, repository, skill_text, write

import packbelt
from packbelt import toolkits

NEW = {"pdf/SKILL.md": skill_text("pdf", "New."), **{f"pdf/{i}": "x" * 1000 for i in range(200)}}


@pytest.fixture
def world(tmp_path):
    write(tmp_path / "src", {"pdf/SKILL.md": skill_text("pdf", "Old.")})
    return World(tmp_path, toolkits.directory("d", tmp_path / "src"))


def says(world):
    return (world.skills / "pdf" / "SKILL.md").read_text()


def test_sk21_where_the_new_one_cannot_take_its_place_the_old_one_has_it_back(tmp_path, world, monkeypatch):
    world("skill_registry_install", id="pdf")
    before = world.left()
    write(tmp_path / "src", NEW)
    real = os.rename

    def rename(source, target, **more):
        if str(source).endswith("/new"):
            raise OSError(28, "No space left on device")
        return real(source, target, **more)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(toolkits.ToolkitError, match="No space left"):
        world("skill_registry_install", id="pdf", overwrite=True)
    assert "Old." in says(world)
    assert world.left() == before
    monkeypatch.undo()
    world("skill_registry_install", id="pdf", overwrite=True)
    assert "New." in says(world)


def test_sk22_what_was_read_half_is_not_there(tmp_path):
    data = os.urandom(60_000)
    path = make_zip(tmp_path / "a.zip", ("pdf/SKILL.md", skill_text("pdf").encode()), ("pdf/z", data))
    whole = path.read_bytes()
    at = whole.index(data[1000:1016])
    path.write_bytes(whole[:at] + bytes(16) + whole[at + 16 :])
    world = World(tmp_path, toolkits.archive("a", path))
    with pytest.raises(toolkits.ToolkitError, match="broken"):
        world("skill_registry_install", id="pdf")
    assert world.left() == []
    path.write_bytes(whole)
    world("skill_registry_install", id="pdf")


CHILD = """
import os, sys, anyio
from packbelt import toolkits
root, source, cache, stop = sys.argv[1:]
real, count = os.rename, 0
def rename(a, b, **more):
    global count
    count += 1
    if count > int(stop):
        print("here", flush=True)
        import time; time.sleep(60)
    return real(a, b, **more)
os.rename = rename
tools = {f.__name__: f for f in toolkits.skills(root, sources=[toolkits.directory("d", source)], cache=cache)}
async def main():
    await tools["skill_registry_install"](id="pdf", overwrite=True)
anyio.run(main)
"""


@pytest.mark.parametrize("renames", [0, 1])
def test_a_program_killed_in_the_middle_leaves_the_old_skill(tmp_path, world, renames):
    """Killed before the old one is moved aside, and between that and the new one's coming."""
    world("skill_registry_install", id="pdf")
    whole = world.left()
    write(tmp_path / "src", NEW)
    argv = [
        sys.executable,
        "-c",
        CHILD,
        str(world.root),
        str(tmp_path / "src"),
        str(world.cache),
        str(renames),
    ]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        assert any(name.startswith(".packbelt-staging") for name in world.left())
        child.send_signal(signal.SIGKILL)
    # No reader sees the half of it.
    assert [skill.description for skill in packbelt.load(world.root).skills] == ["Old."] * (1 - renames)
    # The next one who changes the folder puts it right, whatever becomes of what they wanted.
    with pytest.raises(toolkits.ToolkitError, match="no skill 'other' is installed"):
        world("skill_registry_uninstall", name="other")
    assert world.left() == whole
    assert "Old." in says(world)


def test_a_first_install_that_is_killed_leaves_no_skill(tmp_path, world):
    argv = [sys.executable, "-c", CHILD, str(world.root), str(tmp_path / "src"), str(world.cache), "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        child.send_signal(signal.SIGKILL)
    assert packbelt.load(world.root).skills == ()
    world("skill_registry_install", id="pdf")
    world("skill_registry_uninstall", name="pdf")
    assert world.left() == []


def test_a_cancelled_fetch_ends_git_and_leaves_nothing(tmp_path, monkeypatch):
    """Git is a real one that never comes to an end, since what it asks for is behind a command that sleeps."""
    repository(tmp_path / "repo", {"pdf/SKILL.md": skill_text("pdf")})
    pids = tmp_path / "pids"
    write(
        tmp_path / "bin",
        {"ssh": (f"#!/bin/sh\necho $$ >> {pids}\nsleep 60 & echo $! >> {pids}\nwait\n", 0o755)},
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    world = World(tmp_path, toolkits.git("r", "ssh://example.invalid/r"))

    async def main():
        async with anyio.create_task_group() as tasks:

            async def install():
                await world.tools["skill_registry_install"](id="pdf", source="r")

            tasks.start_soon(install)
            with anyio.fail_after(20):
                while not pids.exists() or len(pids.read_text().split()) < 2:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert_gone(map(int, pids.read_text().split()))
    assert world.left() == []
    assert list(world.cache.iterdir()) == []


def test_a_fetch_has_its_time(tmp_path, monkeypatch):
    write(tmp_path / "bin", {"ssh": ("#!/bin/sh\nexec sleep 60\n", 0o755)})
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    limits = toolkits.Limits(seconds=0.5)
    world = World(tmp_path, toolkits.git("r", "ssh://example.invalid/r"), limits=limits)
    with pytest.raises(toolkits.ToolkitError, match=r"did not end within 0\.5 seconds"):
        world("skill_registry_install", id="pdf", source="r")
    assert list(world.cache.iterdir()) == []


def test_two_installs_at_once_both_end_well(tmp_path, world):
    write(tmp_path / "src", {f"s{i}/SKILL.md": skill_text(f"s{i}") for i in range(8)})

    async def main():
        async with anyio.create_task_group() as tasks:
            for i in range(8):
                tasks.start_soon(lambda i=i: world.tools["skill_registry_install"](id=f"s{i}"))

    anyio.run(main)
    assert [skill.name for skill in packbelt.load(world.root).skills] == [f"s{i}" for i in range(8)]
