import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest
from runs_places import Worker
from runs_worker import WORKSPACE

from packbelt.live.runs import Run, RunStatus, RunStoreError, new_run_id, open_runs
from packbelt.live.runs import sqlite as module
from packbelt.live.runs.open import state_directory


def opening(where, **options):
    """Open and close."""

    async def main():
        async with open_runs(where, workspace=Path(WORKSPACE), **options) as store:
            await store.create(Run(new_run_id(), WORKSPACE, "explorer"))
            return await store.find(WORKSPACE)

    return anyio.run(main)


def refused(where, **options):
    """The one line that opening fails with."""
    with pytest.raises(RunStoreError) as error:
        opening(where, **options)
    said = str(error.value)
    assert "\n" not in said
    assert error.value.mend
    assert error.value.__cause__ is None
    return said


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_file_lock_and_log_are_this_users_alone(tmp_path):
    file = tmp_path / "deep" / "er" / "runs.sqlite3"
    run = Run(new_run_id(), WORKSPACE, "explorer")
    before = os.umask(0)
    try:

        async def main():
            async with open_runs(file, workspace=Path(WORKSPACE)) as store:
                await store.create(run)
                return {path.relative_to(tmp_path).as_posix(): mode(path) for path in tmp_path.rglob("*")}

        modes = anyio.run(main)
    finally:
        os.umask(before)
    (lock,) = (name for name in modes if name.endswith(".lock"))
    deep = "deep/er/runs.sqlite3"
    assert {name: mode for name, mode in modes.items() if name != "deep"} == {
        "deep/er": 0o700,
        deep: 0o600,
        f"{deep}-wal": 0o600,
        f"{deep}-shm": 0o600,
        f"{deep}-owners": 0o700,
        lock: 0o600,
    }
    assert list((tmp_path / f"{deep}-owners").iterdir()) == []


def test_runs_are_kept_in_the_users_state_directory(tmp_path):
    assert len(opening(None, environ={"XDG_STATE_HOME": str(tmp_path)})) == 1
    assert mode(tmp_path / "packbelt") == 0o700
    assert mode(tmp_path / "packbelt" / "runs.sqlite3") == 0o600


@pytest.mark.parametrize(
    ("platform", "environ", "path"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/state/packbelt"),
        ("linux", {"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/packbelt"),
        ("linux", {"HOME": "/h", "XDG_STATE_HOME": "/x"}, "/x/packbelt"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/packbelt"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/packbelt"),
    ],
)
def test_the_state_directory_of_each_system(monkeypatch, platform, environ, path):
    monkeypatch.setattr(sys, "platform", platform)
    assert state_directory(environ) == Path(path)


def test_the_file_is_in_wal_mode_and_marked(sqlite):
    opening(sqlite.where)
    assert sqlite.sql("PRAGMA journal_mode") == [("wal",)]
    assert sqlite.sql("PRAGMA user_version") == [(1,)]


@pytest.mark.parametrize("form", ["path", "text", "url"])
def test_every_form_of_a_files_name_is_the_same_file(tmp_path, form, monkeypatch):
    file = tmp_path / "runs.sqlite3"
    opening(file)
    monkeypatch.chdir(tmp_path)
    where = {"path": Path("runs.sqlite3"), "text": str(file), "url": f"sqlite:///{file}"}[form]
    assert len(opening(where)) == 2
    assert len(opening("sqlite:///runs.sqlite3")) == 3


@pytest.mark.parametrize("where", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_runs_in_memory_are_gone_with_the_store(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [len(opening(where)), len(opening(where))] == [1, 1]
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_used_as_it_is_and_left_open(sqlite):
    async def main():
        async with open_runs(sqlite.where, workspace=Path(WORKSPACE)) as store:
            async with open_runs(store, workspace=Path(WORKSPACE)) as same:
                assert same is store
            return await store.find(WORKSPACE)

    assert anyio.run(main) == []


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("mysql://user:canary@host/db", "cannot be kept in mysql:"),
        ("postgresql+asyncpg://user:canary@host/db", "cannot be kept in postgresql+asyncpg:"),
        ("file:canary.db?mode=ro", "cannot be kept in file:"),
        ("sqlite:///canary.db?mode=ro", "three slashes and no parameters"),
        ("sqlite://canary.db", "three slashes"),
        ("  ", "is empty"),
    ],
)
def test_any_other_place_is_refused_with_a_mend(where, said):
    line = refused(where)
    assert said in line
    assert "canary" not in line


def test_a_file_that_is_no_database(sqlite):
    sqlite.where.write_text("some notes of mine, which are not to be lost\n" * 50)
    before = sqlite.where.read_bytes()
    assert "is no SQLite database" in refused(sqlite.where)
    assert sqlite.where.read_bytes() == before


def test_another_programs_database(sqlite):
    sqlite.sql("CREATE TABLE theirs (a)")
    assert "another program's" in refused(sqlite.where)
    assert sqlite.sql("SELECT name FROM sqlite_master") == [("theirs",)]


def test_a_damaged_database(sqlite):
    opening(sqlite.where)
    raw = bytearray(sqlite.where.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    sqlite.where.write_bytes(raw)
    assert "is damaged; move the file away" in refused(sqlite.where)


def test_a_newer_form_is_refused(sqlite):
    opening(sqlite.where)
    sqlite.sql("PRAGMA user_version = 2")
    assert "kept in form 2, and this packbelt knows forms up to 1; upgrade" in refused(sqlite.where)
    assert sqlite.sql("SELECT count(*) FROM packbelt_runs") == [(1,)]


def test_a_directory_where_the_file_should_be(tmp_path):
    assert "cannot be opened" in refused(tmp_path)


def test_a_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("")
    assert "the directory for runs cannot be made" in refused(tmp_path / "taken" / "sub" / "runs.sqlite3")
    assert "cannot be made" in refused(None, environ={"XDG_STATE_HOME": str(tmp_path / "taken")})


READ_ONLY = """
import os, sys
from pathlib import Path
import anyio
from packbelt.live.runs import RunStoreError, open_runs

async def main(where):
    async with open_runs(where, workspace=Path("/w")):
        pass

anyio.run(main, ":memory:")  # all that is imported is imported now
if os.geteuid() == 0:
    os.seteuid(65534)  # what root may write says nothing
for name in sys.argv[1:]:
    try:
        anyio.run(main, Path(name))
    except RunStoreError as error:
        print(error)
"""


@pytest.fixture
def public():
    """A directory to which other users find the way; `tmp_path` is closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_file_and_a_directory_that_may_not_be_written(public):
    old = public / "runs.sqlite3"
    opening(old)
    old.chmod(0o444)
    public.chmod(0o555)
    names = [str(old), str(public / "new.sqlite3"), str(public / "sub" / "new.sqlite3")]
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, *names], capture_output=True, text=True, check=False
    )
    public.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{old}: the database cannot be written; check the permissions of file and directory",
        f"{names[1]}: the file cannot be made: Permission denied; check that its directory exists and can be written",
        f"{public / 'sub'}: the directory for runs cannot be made: Permission denied; name another place",
    ]


def test_a_file_that_another_process_does_not_let_go(sqlite, monkeypatch):
    opening(sqlite.where)
    monkeypatch.setattr(module, "WAIT", 0.05)
    with sqlite3.connect(sqlite.where, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another process has been writing" in refused(sqlite.where)
    other.close()
    assert len(opening(sqlite.where)) == 2


def test_trouble_while_open_is_one_line_and_the_store_goes_on(sqlite):
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with open_runs(sqlite.where, workspace=Path(WORKSPACE)) as store:
            await store.create(run)
            sqlite.sql("ALTER TABLE packbelt_conversations RENAME TO away")
            with pytest.raises(RunStoreError, match="the database fails: no such table") as error:
                await store.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            assert str(error.value).startswith(f"{sqlite.where}: ")
            sqlite.sql("ALTER TABLE away RENAME TO packbelt_conversations")
            halfway = await store.get(run.id)
            await store.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            return halfway, await store.get(run.id)

    halfway, after = anyio.run(main)
    assert (halfway.status, after.status) == (RunStatus.RUNNING, RunStatus.COMPLETED)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors by /proc")
def test_closing_leaves_no_descriptor(sqlite):
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    opening(sqlite.where)
    before = descriptors()
    for _ in range(3):
        opening(sqlite.where)
    sqlite.where.write_text("not a database any more" * 100)
    refused(sqlite.where)
    assert descriptors() == before


def test_locks_of_killed_processes_are_swept_and_live_ones_stay(sqlite):
    owners = sqlite.where.with_name("runs.sqlite3-owners")
    killed, alive = Worker(sqlite).opened(), Worker(sqlite).opened()
    before = set(owners.iterdir())
    killed.kill()
    opening(sqlite.where)
    after = set(owners.iterdir())
    assert (len(before), len(after)) == (2, 1)
    assert after < before
    assert alive.ask("create", new_run_id()) == "ok"
    assert alive.end() == 0
    assert list(owners.iterdir()) == []
