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
    assert "not started (not trusted): good, dead; " in done.stderr
    assert done.stderr.count("not trusted") == 1
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
    assert "did you mean 'good'?" in done.stderr
    assert not started(project)


def test_a_snapshot_that_cannot_be_written_is_one_line(project, run):
    (project / "file").write_text("")
    done = run(project, "connect", "good", "--trust", "--save", "file/now.yaml")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("packbelt: error: file/now.yaml: cannot be written")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("answer", "code", "starts"),
    [
        ("no", 2, False),
        ("N", 2, False),
        ("", 2, False),
        ("what\nYES", 0, True),
        ("o", 0, True),
        ("A", 0, True),
    ],
)
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
    file = tmp_path / "config/packbelt/trust.json"
    assert file.exists() is (answer == "A")
    told = seen.decode().replace("\r\n", "\n")
    assert (
        f"remembered in {file}; to revoke it, delete the entry there, or the file" in told
    ) is file.exists()


def servers_of(file):
    import yaml

    return yaml.safe_load(file.read_text())["servers"]


def test_saving_some_servers_keeps_the_others_of_the_file(project, run):
    assert run(project, "connect", "--trust", "--save", "now.yaml").exit_code == 1
    file = project / "now.yaml"
    file.write_text("ceiling: read\n" + file.read_text())
    done = run(project, "connect", "dead", "--trust", "--save", "now.yaml")
    assert "packbelt: wrote now.yaml (kept from now.yaml: good); " in done.stderr
    found = servers_of(file)
    assert [tool["name"] for tool in found["good"]["tools"]] == ["alpha", "beta"]
    assert found["dead"]["status"] == "failed"
    assert "ceiling: read" in file.read_text()


def test_saving_all_servers_or_a_given_snapshot_does_not_read_the_file(project, run, monkeypatch):
    file = project / "now.yaml"
    file.write_text("servers: {gone: {status: connected, tools: [{name: t}]}}\n")
    done = run(project, "connect", "--trust", "--save", "now.yaml")
    assert set(servers_of(file)) == {"good", "dead"}
    assert "kept" not in done.stderr
    (project / "base.yaml").write_text("servers: {base: {status: starting}}\n")
    run(project, "connect", "dead", "--trust", "--snapshot", "base.yaml", "--save", "now.yaml")
    assert set(servers_of(file)) == {"base", "dead"}
    monkeypatch.setenv("PACKBELT_SNAPSHOT", "nowhere.yaml")
    run(project, "connect", "dead", "--trust", "--save", "now.yaml")
    assert set(servers_of(file)) == {"base", "dead"}


def test_a_file_that_is_no_snapshot_is_not_written_over(project, run):
    (project / "now.yaml").write_text("a diary\n")
    done = run(project, "connect", "good", "--trust", "--save", "now.yaml")
    assert done.exit_code == 2
    assert (project / "now.yaml").read_text() == "a diary\n"
    assert not started(project)


def test_what_may_help_a_server_that_failed(project, run):
    line = run(project, "connect", "--trust").stdout.splitlines()[-1]
    assert line.startswith("servers get only PATH, HOME and the like")
    assert "SSL_CERT_FILE or HTTPS_PROXY" in line
    assert "times." not in line
    assert "servers get only" not in run(project, "connect", "good", "--trust").stdout
    sleeper = {"command": sys.executable, "args": ["-S", "-c", "import time; time.sleep(60)"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"slow": sleeper}}))
    (project / "packbelt.yaml").write_text("times: {start: 0.5}\n")
    line = run(project, "connect", "--trust").stdout.splitlines()[-1]
    assert "raise `times.start` in packbelt.yaml" in line


def test_a_server_that_failed_names_itself_once(project, run, monkeypatch):
    monkeypatch.delenv("PACKBELT_TEST_UNSET", raising=False)
    entry = {"command": "true", "env": {"TOKEN": "${PACKBELT_TEST_UNSET}"}}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"needsenv": entry}}))
    run(project, "connect", "--trust", "--save", "now.yaml")
    text = run(project, "dump", "orchestrator", "--snapshot", "now.yaml", "--json").stdout
    message = json.loads(text)["diagnostics"][0]["message"]
    assert message.startswith("server 'needsenv' failed: env.TOKEN needs ${PACKBELT_TEST_UNSET}")
    assert message.count("needsenv") == 1
