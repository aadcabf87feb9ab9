import os
import time
from pathlib import Path

import pytest


def children():
    """The processes that this one started and has not seen the end of."""
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
def nothing_left():
    """Processes and descriptors are at the end what they were at the beginning."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        yield
        return
    before, alive = len(list(descriptors.iterdir())), children()
    yield
    deadline = time.monotonic() + 5
    while (left := children() - alive) or len(list(descriptors.iterdir())) > before:
        assert time.monotonic() < deadline, f"left behind: processes {left}, or descriptors"
        time.sleep(0.01)
