"""Repositories once for all, and the assurance that no process is left."""

import os
import time
from pathlib import Path

import pytest
from seed_world import make_repository
from specialist_scripts import skill_files


@pytest.fixture(scope="session")
def repositories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repositories")
    return {name: make_repository(folder / name, files) for name, files in skill_files().items()}


def _children():
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def every_process_gone():
    before = _children()
    yield
    deadline = time.monotonic() + 5
    while left := _children() - before:
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.01)
