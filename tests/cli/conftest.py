"""A small fleet: an orchestrator, the owner of a reserved pack, one broken and one refused agent."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from packbelt.cli import cli

FILES = {
    "packbelt.yaml": """\
servers:
  "*": {access: handoff, owners: [mcp_agent]}
deny: [shell]
approve: [file_write]
""",
    "packs/files.yaml": """\
id: files
summary: Files of the project.
tools:
  - {name: file_read, description: Reads a file., permission: read,
     input_schema: {type: object, properties: {path: {type: string}}, required: [path]}}
  - {name: file_write, description: Writes a file., permission: write, input_schema: {type: object}}
""",
    "packs/integrations.yaml": """\
id: integrations
summary: Find and call MCP servers.
access: owners
owners: [mcp_agent]
direct: [use_mcp_server]
tools:
  - use_mcp_server
  - {name: registry_search, description: Searches the registry., permission: read,
     input_schema: {type: object, properties: {query: {type: string}}, required: [query]}}
""",
    "packs/core.yaml": """\
id: core
summary: Always at hand.
exposure: direct
tools:
  - {name: shell, description: Runs a command., permission: execute, input_schema: {type: object}}
  - {name: clock, description: Tells the time., permission: none, input_schema: {type: object}}
""",
    "prompts/agents/orchestrator.md": """\
---
name: orchestrator
description: Sorts requests.
delegates: [mcp_agent, broken]
---
You sort requests.

{{ sections.routing }}
""",
    "prompts/agents/mcp_agent.md": """\
---
name: mcp_agent
description: Works with MCP servers.
handoff: use_mcp_server
tools: ["pack:integrations", "*/*", file_write]
---
You work with servers.
""",
    "prompts/agents/broken.md": "---\nname: broken\ndescription: Is broken.\ntools: null\n---\nx\n",
    "prompts/agents/refused.md": "---\nname: refused\ndescription: Is refused.\ntools: [nowhere/x]\n---\nx\n",
    "now.yaml": """\
servers:
  weather:
    status: connected
    tools:
      - {name: get_forecast, description: Forecast., inputSchema: {type: object, properties: {city: {type: string}}}}
  slow: {status: starting}
""",
}


@pytest.fixture
def broken_line():
    """What is said on standard error of the fleet's broken agent."""
    mend = "write [] or remove the key"
    return f"packbelt: prompts/agents/broken.md:4: agent 'broken': `tools` has no value; {mend}"


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


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
