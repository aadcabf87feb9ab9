import os
import time
from pathlib import Path

from packbelt.catalog.workspace import Times

FAKE = Path(__file__).with_name("fake_server.py")
QUICK = Times(start=20, list=20, shutdown=2)
IMPATIENT = Times(start=0.6, list=0.6, shutdown=0.6)


def gone(pid):
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return not stat.parent.parent.exists() or not stat.exists()


class Pids:
    """The processes that wrote their ids into a file."""

    def __init__(self, file):
        self.file = file

    def __call__(self):
        return [int(line) for line in self.file.read_text().split()] if self.file.exists() else []

    def wait_for(self, count):
        deadline = time.monotonic() + 20
        while len(self()) < count:
            assert time.monotonic() < deadline, f"{len(self())} of {count} processes started"
            time.sleep(0.01)

    def assert_gone(self, count):
        """So many started and none is left, at once or as soon as the system has cleaned up after SIGKILL."""
        assert len(self()) == count
        deadline = time.monotonic() + 3
        while left := [pid for pid in self() if not gone(pid)]:
            assert time.monotonic() < deadline, f"still alive: {left}"
            time.sleep(0.01)


def tools(count):
    return [
        {"name": f"t{i:03}", "description": f"Tool {i}.", "inputSchema": {"type": "object"}}
        for i in range(count)
    ]
