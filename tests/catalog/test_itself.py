"""A server that is packbelt's own gateway on this workspace is left out; one on another workspace is a server."""

import json

import pytest

from packbelt.catalog.load import load
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, ServerStatus
from packbelt.turn import turn


def loaded(write, entry, **files):
    servers = {"mcpServers": {"good": {"command": "good"}, "me": entry}}
    return load(write({".mcp.json": json.dumps(servers), **files}))


ITSELF = [
    ("packbelt", ["serve", "--agent", "orchestrator"]),
    ("/home/u/.local/bin/packbelt", ["serve"]),
    (r"C:\Tools\packbelt.exe", ["serve", "--agent", "a"]),
    ("uvx", ["packbelt", "serve"]),
    ("uvx", ["packbelt@latest", "serve"]),
    ("uvx", ["--from", "packbelt==0.2", "packbelt", "serve"]),
    ("uvx", ["--from", "packbelt[postgres]", "packbelt", "serve"]),
    ("uv", ["run", "packbelt", "serve"]),
    ("uv", ["tool", "run", "packbelt", "serve"]),
    ("uv", ["run", "--with", "packbelt", "packbelt", "serve"]),
    ("uv", ["run", "python", "-m", "packbelt", "serve"]),
    ("pipx", ["run", "packbelt", "serve"]),
    ("python", ["-m", "packbelt", "serve"]),
    ("/usr/bin/python3.12", ["-u", "-m", "packbelt", "serve"]),
    ("py", ["-3", "-m", "packbelt", "serve"]),
]
ANOTHER = [
    ("packbelt", ["connect"]),
    ("packbelt-server", ["serve"]),
    ("mypackbelt", ["serve"]),
    ("serve", ["packbelt"]),
    ("npx", ["packbelt", "serve"]),
    ("uvx", ["other", "serve"]),
    ("uvx", ["packbelt-extras", "serve"]),
    ("uv", ["run", "--with", "packbelt", "other", "serve"]),
    ("python", ["serve.py", "packbelt"]),
    ("python", ["-m", "packbelt_tools", "serve"]),
    ("python", ["-m", "other", "-m", "packbelt", "serve"]),
]


@pytest.mark.parametrize(("command", "args"), ITSELF)
def test_a_gateway_on_this_workspace_is_left_out_with_a_note(write, command, args):
    workspace = loaded(write, {"command": command, "args": args})
    assert set(workspace.servers) == {"good"}
    assert workspace.unusable_servers == {"me": ""}
    (note,) = workspace.diagnostics
    assert (note.level, note.code, note.name) == (Level.NOTE, Code.SERVER_IGNORED, "me")
    assert "without end" in note.message
    assert "-w DIR" in note.mend
    assert str(note.where).startswith(".mcp.json:")


@pytest.mark.parametrize(("command", "args"), ANOTHER)
def test_what_is_no_gateway_is_a_server(write, command, args):
    workspace = loaded(write, {"command": command, "args": args})
    assert set(workspace.servers) == {"good", "me"}
    assert workspace.diagnostics == ()


@pytest.mark.parametrize("form", [["-w", "{}"], ["-w{}"], ["--workspace", "{}"], ["--workspace={}"]])
@pytest.mark.parametrize(
    ("where", "same"),
    [
        (".", True),
        ("{root}", True),
        ("{root}/../ws", True),
        ("./packs/..", True),
        ("..", False),
        ("{root}2", False),
    ],
)
def test_the_workspace_that_it_names_decides(write, tmp_path, form, where, same):
    root = tmp_path / "ws"
    (root / "packs").mkdir(parents=True)
    said = [part.format(where.format(root=root)) for part in form]
    for args in (["serve", *said], [*said, "serve"]):
        workspace = loaded(write, {"command": "packbelt", "args": args})
        assert ("me" not in workspace.servers) == same, args
        assert bool(workspace.diagnostics) == same


def test_a_link_to_this_workspace_is_this_workspace(write, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "ws")
    entry = {"command": "packbelt", "args": ["serve", "-w", str(tmp_path / "link")]}
    assert "me" not in loaded(write, entry).servers


def test_a_relative_workspace_is_relative_to_where_the_server_runs(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = {"command": "packbelt", "args": ["serve", "-w", "ws"]}
    assert "me" not in loaded(write, entry).servers
    assert "me" in loaded(write, {**entry, "cwd": "."}).servers
    assert "me" not in loaded(write, {**entry, "cwd": ".."}).servers


def test_without_a_workspace_it_is_the_nearest_from_its_directory(write, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "packbelt.yaml").write_text("")
    plain = {"command": "packbelt", "args": ["serve"]}
    assert "me" not in loaded(write, {**plain, "cwd": "."}).servers
    assert "me" not in loaded(write, {**plain, "cwd": "deep/down"}).servers
    assert "me" in loaded(write, {**plain, "cwd": "../other"}).servers
    for option in (["--directory", str(tmp_path / "other")], [f"--directory={tmp_path / 'other'}"]):
        moved = {"command": "uv", "args": [*option, "run", "packbelt", "serve"]}
        assert "me" in loaded(write, moved).servers
    here = {"command": "uv", "args": ["--directory", str(tmp_path / "ws"), "run", "packbelt", "serve"]}
    assert "me" not in loaded(write, here).servers


AGENT = """---
name: a
description: D.
tools: ["me/*", "db/*"]
{key}:
  - me: {{command: packbelt, args: [serve]}}
  - db: {{command: db}}
---
"""


def test_an_inline_definition_is_left_out_too(write):
    workspace = load(write({"prompts/agents/a.md": AGENT.format(key="mcp_servers")}))
    assert set(workspace.inline) == {"a.db"}
    assert workspace.agents["a"].inline == ("a.db",)
    assert workspace.unusable_servers == {"a.me": "", "me": ""}
    (note,) = workspace.diagnostics
    assert (note.level, note.code, note.name) == (Level.NOTE, Code.SERVER_IGNORED, "me")
    assert str(note.where) == "prompts/agents/a.md:6"
    now = turn(workspace, None, "a")  # its entry still means the server, and the agent starts
    assert "a.me" not in now.belt.subject.servers
    registry = bind(workspace, Snapshot())
    assert registry.state("a.me").status is ServerStatus.DISCONNECTED


def test_an_inline_definition_of_an_imported_agent_is_left_out_too(write):
    text = AGENT.format(key="mcpServers").replace('tools: ["me/*", "db/*"]\n', "")
    workspace = load(write({".claude/agents/a.md": text}))
    assert set(workspace.inline) == {"a.db"}
    assert [(d.level, d.code) for d in workspace.diagnostics] == [(Level.NOTE, Code.SERVER_IGNORED)]


def test_an_inline_definition_on_another_workspace_is_a_server(write, tmp_path):
    text = AGENT.format(key="mcp_servers").replace("[serve]", f"[serve, -w, '{tmp_path}']")
    assert set(load(write({"prompts/agents/a.md": text})).inline) == {"a.db", "a.me"}
