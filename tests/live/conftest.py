import json
import os
import sys
import time
from pathlib import Path

import pytest

from packbelt.catalog.workspace import Config, ServerSpec, Times, Workspace

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


@pytest.fixture
def pids(tmp_path):
    return Pids(tmp_path / "pids")


@pytest.fixture
def fake(pids):
    """A server entry that starts the fake server with a configuration."""

    def make(name="fake", *, args=(), env=(), cwd=None, **config):
        config.setdefault("pids", str(pids.file))
        command = [str(FAKE), json.dumps(config).replace("${", "$${"), *args]
        return ServerSpec(
            name, "stdio", command=sys.executable, args=("-S", *command), env=dict(env), cwd=cwd, digest="sha256:1"
        )

    return make


@pytest.fixture
def workspace(tmp_path):
    """A workspace with these servers and times."""

    def make(*specs, times=QUICK, root=tmp_path):
        return Workspace(
            root=root,
            embedded=False,
            config=Config(times=times),
            packs={},
            agents={},
            broken={},
            servers={spec.name: spec for spec in specs},
            inline={},
            skills=(),
            tools=(),
            templates={},
        )

    return make


@pytest.fixture
def meet(workspace):
    """Connect to servers and give the snapshot."""
    from packbelt.live.connect import connect_now

    def run(*specs, times=QUICK, **options):
        made = workspace(*specs, times=times)
        return connect_now(made, specs, **options)

    return run


def tools(count):
    return [
        {"name": f"t{i:03}", "description": f"Tool {i}.", "inputSchema": {"type": "object"}} for i in range(count)
    ]
