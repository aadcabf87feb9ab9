"""`packbelt connect`: trust first, then what each server offers, and files that read back."""

import json
import os
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parent.parent / "live" / "fake_server.py"
TOOLS = [
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object", "properties": {}}}
    for name in ("alpha", "beta")
]


@pytest.fixture
def project(tmp_path):
    """A directory with a server that works and one whose command is missing."""
    (tmp_path / "work").mkdir()
    config = {"tools": TOOLS, "pids": str(tmp_path / "pids")}
    servers = {
        "good": {"command": sys.executable, "args": [str(FAKE), json.dumps(config)]},
        "dead": {"command": str(tmp_path / "missing")},
    }
    (tmp_path / "work/.mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (tmp_path / "work/packbelt.yaml").write_text("times: {start: 30}\n")
    return tmp_path / "work"


def started(project):
    return (project.parent / "pids").exists()


def test_without_trust_and_without_a_terminal_nothing_starts(project, run):
    done = run(project, "connect", "--save", "now.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "--trust" in done.stderr
    assert "PACKBELT_TRUST" in done.stderr
    assert not started(project)
    assert not (project / "now.yaml").exists()


def test_connect_never_uses_the_embedded_workspace(tmp_path, run):
    done = run(tmp_path, "connect", "--trust")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no workspace here" in done.stderr


def test_one_failure_is_a_finding_and_one_line(project, run):
    done = run(project, "connect", "--trust")
    assert done.exit_code == 1
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert set(lines) == {"server", "good", "dead", "servers"}
    assert lines["good"].split()[1:3] == ["connected", "2"]
    assert lines["dead"].split()[1] == "failed"
    assert "missing" in lines["dead"]
    assert "good: 2 tools" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_all_connected_is_fine(project, run):
    done = run(project, "connect", "good", "--trust")
    assert done.exit_code == 0
    assert "dead" not in done.stdout


def test_trust_from_the_environment(project, run, monkeypatch):
    assert run(project, "connect", "good").exit_code == 2
    monkeypatch.setenv("PACKBELT_TRUST", str(project))
    assert run_in(project, "connect", "good").exit_code == 0


def run_in(where, *args):
    from click.testing import CliRunner

    from packbelt.cli import cli

    assert Path.cwd() == where
    return CliRunner().invoke(cli, list(args), catch_exceptions=False)


def test_json(project, run):
    done = run(project, "connect", "--trust", "--json")
    servers = {server["name"]: server for server in json.loads(done.stdout)["servers"]}
    assert done.exit_code == 1
    keys = {"name", "status", "tools", "tokens", "seconds", "error"}
    assert all(set(server) == keys for server in servers.values())
    assert (servers["good"]["status"], servers["good"]["tools"], servers["good"]["error"]) == (
        "connected",
        2,
        "",
    )
    assert (servers["dead"]["status"], servers["dead"]["tools"]) == ("failed", 0)
    assert servers["good"]["tokens"] > 0


def test_what_save_writes_reads_back(project, run, run_json):
    assert run(project, "connect", "--trust", "--save", "sub/now.yaml").exit_code == 1
    belt = run_json(project, "dump", "orchestrator", "--snapshot", "sub/now.yaml")
    assert [tool["wire_name"] for tool in belt["tools"]] == ["mcp__good__alpha", "mcp__good__beta"]
    assert [one["code"] for one in belt["diagnostics"]] == ["server.failed"]
    assert [path.name for path in (project / "sub").iterdir()] == ["now.yaml"]


def test_a_server_that_fails_later_keeps_its_tools_in_the_snapshot(project, run, run_json):
    run(project, "connect", "good", "--trust", "--save", "now.yaml")
    config = json.loads((project / ".mcp.json").read_text())
    config["mcpServers"]["good"]["command"] = "/nonexistent/command"
    (project / ".mcp.json").write_text(json.dumps(config))
    run(project, "connect", "good", "--trust", "--snapshot", "now.yaml", "--save", "later.yaml")
    belt = run_json(project, "dump", "orchestrator", "--snapshot", "later.yaml")
    assert belt["tools"] == []
    assert {tool["wire_name"]: tool["state"] for tool in belt["withheld"]} == {
        "mcp__good__alpha": "unavailable",
        "mcp__good__beta": "unavailable",
    }


def test_lock_accepts_and_keeps_what_it_did_not_see(project, run, run_json):
    run(project, "connect", "good", "--trust", "--lock", "--save", "now.yaml")
    lock = json.loads((project / "packbelt.lock").read_text())
    assert set(lock["servers"]["good"]) == {"alpha", "beta"}
    run(project, "connect", "dead", "--trust", "--lock")
    assert json.loads((project / "packbelt.lock").read_text()) == lock
    changed = (project / "now.yaml").read_text().replace("Does alpha.", "Does evil.")
    (project / "now.yaml").write_text(changed)
    belt = run_json(project, "dump", "orchestrator", "--snapshot", "now.yaml")
    assert [tool["wire_name"] for tool in belt["tools"]] == ["mcp__good__beta"]
    assert [tool["reasons"][0]["rule"] for tool in belt["withheld"]] == ["tool.changed"]


def test_an_unknown_server_name(project, run):
    done = run(project, "connect", "goood", "--trust")
    assert done.exit_code == 2
    assert "near it: good" in done.stderr
    assert not started(project)


def test_a_snapshot_that_cannot_be_written_is_one_line(project, run):
    (project / "file").write_text("")
    done = run(project, "connect", "good", "--trust", "--save", "file/now.yaml")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("packbelt: error: file/now.yaml: cannot be written")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "code", "starts"), [("no", 2, False), ("once", 0, True)])
def test_on_a_terminal_a_person_is_asked_and_sees_the_command(project, tmp_path, answer, code, starts):
    import pty

    ours, theirs = pty.openpty()
    env = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "TERM": "xterm", "NO_COLOR": "1"}
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "packbelt", "connect", "good", "-w", str(project)],
        env,
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, n) for n in (0, 1, 2)],
    )
    os.close(theirs)
    seen = b""
    while b"Start them?" not in seen:
        seen += os.read(ours, 4096)
    os.write(ours, f"{answer}\n".encode())
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # how a pseudo-terminal says that the other end is closed
        pass
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
    assert b"fake_server.py" in seen
    assert started(project) is starts
