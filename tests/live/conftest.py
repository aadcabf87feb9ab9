import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from fault_world import unharmed, world  # noqa: F401 - fixtures
from live_helpers import FAKE, QUICK, Pids, children, descriptors, gone

from packbelt.catalog.workspace import Config, ServerSpec, Workspace


@pytest.fixture
def pids(tmp_path):
    started = Pids(tmp_path / "pids")
    yield started
    for pid in started():  # a test that failed leaves nothing behind either
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def fake(pids):
    """A server entry that starts the fake server with a configuration."""

    def make(name="fake", *, args=(), env=(), cwd=None, **config):
        config.setdefault("pids", str(pids.file))
        command = [str(FAKE), json.dumps(config).replace("${", "$${"), *args]
        return ServerSpec(
            name,
            "stdio",
            command=sys.executable,
            args=("-S", *command),
            env=dict(env),
            cwd=cwd,
            digest="sha256:1",
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
    from packbelt.live.servers.connect import connect_now

    def run(*specs, times=QUICK, **options):
        made = workspace(*specs, times=times)
        return connect_now(made, specs, **options)

    return run


@pytest.fixture
def nothing_left():
    """Processes and descriptors are at the end what they were at the beginning."""
    if not Path("/proc/self/fd").exists():
        yield
        return
    before, alive = descriptors(), children()
    yield
    deadline = time.monotonic() + 5
    while (left := children() - alive) or len(descriptors()) > len(before):
        if time.monotonic() > deadline:
            opened = {name: what for name, what in descriptors().items() if name not in before}
            pytest.fail(f"left behind: processes {left}, descriptors {opened}")
        time.sleep(0.01)
