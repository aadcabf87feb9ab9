"""A small fleet, and commands run on it."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from small_project import FILES, write

from packbelt.cli import cli


@pytest.fixture
def broken_line():
    """What is said on standard error of the fleet's broken agent."""
    mend = "write [] or remove the key"
    return f"packbelt: prompts/agents/broken.md:4: agent 'broken': `tools` has no value; {mend}"


@pytest.fixture
def fleet(tmp_path):
    """The directory of the small fleet."""
    return write(tmp_path / "fleet", FILES)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in a directory; standard output and standard error stay apart."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PACKBELT_TRUST", raising=False)
    monkeypatch.delenv("PACKBELT_SNAPSHOT", raising=False)

    def call(where, *args):
        monkeypatch.chdir(where)
        return CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)

    return call


@pytest.fixture
def run_json(run):
    """Run a command with `--json`, and read what it printed."""

    def call(where, *args):
        done = run(where, *args, "--json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    return call


@pytest.fixture
def process(tmp_path):
    """Run Python in a process of its own, in an empty directory by default."""

    def call(*args, cwd=None, **environ):
        empty = tmp_path / "empty"
        empty.mkdir(exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PACKBELT", "PYTHON"))} | environ
        return subprocess.run(
            [sys.executable, *args],
            cwd=cwd or empty,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call
