"""`packbelt serve` and what cannot be served: one line that says so, exit code 2, nothing started."""

import json
import socket
import subprocess

import pytest
from gateway_helpers import IN_ENVIRONMENT, Gateway, alive, serving


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say whose belt, with --agent NAME"),
        (("--agent", "leed"), "lead"),
        (("--agent", "lead", "--agent", "worker"), "serve one agent"),
        (("--agent", "lead", "--handoffs", "brief", "--runner", "a:b"), "choose one"),
        (("--agent", "lead", "--runner", "no_such_module:run"), "there is no such module"),
        (("--agent", "lead", "--runner", "json"), "module:function"),
        (("--agent", "lead", "--runner", "json:dumps"), "no async function"),
        (("--agent", "lead", "--runner", "json:nothing"), "json has no 'nothing'"),
        (("--agent", "lead", "--as", "my belt"), "use letters, digits"),
        (("--http", "127.0.0.1"), "not HOST:PORT"),
        (("--http", "127.0.0.1:99999"), "not HOST:PORT"),
        (("--http", ":80"), "not HOST:PORT"),
        (("--http", "127.0.0.1:0"), "give --tokens FILE (it is made if it does not exist), or set"),
    ],
)
def test_bad_input(home, options, said):
    done = subprocess.run(
        home.command(*options),
        check=False,
        env=home.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("packbelt: error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not home.pids.exists()


@pytest.mark.parametrize(
    ("held", "options", "said"),
    [
        ("nobody=0123456789abcdef", (), "nobody"),
        ("lead=0123456789abcdef", ("--agent", "worker"), "has no token for worker"),
        ("lead", (), "it is not agent=token"),
    ],
)
def test_tokens_that_fit_no_agent(home, held, options, said):
    with serving(home, "--http", "127.0.0.1:0", *options, PACKBELT_SERVE_TOKENS=held) as gateway:
        gateway.process.wait(60)
    code, _, errors = gateway.stop()
    assert code == 2
    assert said in errors
    assert "0123456789abcdef" not in errors
    assert not home.pids.exists()


def test_a_file_without_a_token(home):
    file = home.root / "tokens"
    file.write_text("# none yet\n")
    file.chmod(0o600)
    with serving(home, "--http", "127.0.0.1:0", "--tokens", str(file)) as gateway:
        gateway.process.wait(60)
    code, _, said = gateway.stop()
    assert code == 2
    assert f"{file} holds no token" in said


def test_over_http_there_must_be_one_agent_that_can_start(home):
    file = home.root / "prompts/agents/worker.md"
    file.write_text(file.read_text().replace("'*/*'", "main/no_such_tool"))
    options = ("--http", "127.0.0.1:0", "--agent", "worker")
    with serving(home, *options, PACKBELT_SERVE_TOKENS=IN_ENVIRONMENT) as gateway:
        gateway.process.wait(60)
    code, _, said = gateway.stop()
    assert code == 2
    assert "no_such_tool" in said
    assert alive(home) == []


def test_an_address_that_is_taken(home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with serving(home, "--http", address, PACKBELT_SERVE_TOKENS=IN_ENVIRONMENT) as gateway:
            gateway.process.wait(60)
    code, _, said = gateway.stop()
    assert code == 2
    assert f"{address} cannot be listened on: Address already in use" in said
    assert not home.pids.exists()


def test_an_agent_that_cannot_start_ends_it(home):
    file = home.root / "prompts/agents/lead.md"
    file.write_text(file.read_text().replace("['*']", "[main/no_such_tool]"))
    gateway = Gateway(home, "--agent", "lead")
    gateway.process.wait(60)
    code, out, said = gateway.stop()
    assert (code, out) == (2, "")
    assert "no_such_tool" in said
    assert alive(home) == []


def test_servers_that_nobody_trusted_are_left_out_and_named(home):
    home.trusted = False
    gateway = Gateway(home, "--agent", "lead")
    assert gateway.wait_for("untrusted")["servers"] == ["boxed", "main", "vault"]
    gateway.wait_for("ready")
    assert gateway.stop()[0] == 0
    assert not home.pids.exists()
    gateway = Gateway(home, "--agent", "lead", PACKBELT_TRUST=str(home.root))
    gateway.wait_for("ready")
    assert len(alive(home)) == 3
    assert gateway.stop()[0] == 0


def test_a_server_that_fails_is_left_out_and_named(home):
    home.servers["gone"] = {"command": "no-such-command-anywhere"}
    home.server("spare", tools=["echo"])
    gateway = Gateway(home, "--agent", "lead")
    assert gateway.wait_for("server")["server"] == "gone"
    gateway.wait_for("ready")
    assert gateway.stop()[0] == 0


def test_a_gateway_whose_own_entry_stands_in_its_workspace_does_not_start_itself(home):
    command, *args = home.command("--agent", "lead")
    home.servers["belt"] = {"command": command, "args": args}
    home.server("spare", tools=["echo"])
    gateway = Gateway(home, "--agent", "lead")
    gateway.wait_for("ready")
    assert len(alive(home)) == 4
    assert gateway.stop()[0] == 0


def test_there_must_be_a_workspace(home, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    command = [*home.command()[:3], "serve", "--agent", "orchestrator"]
    done = subprocess.run(
        command, check=False, cwd=empty, env=home.environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "there is no workspace here" in done.stderr


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_untrusted_server_is_told_of_once_and_how_to_trust_it(home, tmp_path, form):
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"clock": {"command": "no-such-program"}}}')
    command = [*home.command()[:3], "serve", "--agent", "orchestrator", *form]
    done = subprocess.run(
        command,
        check=False,
        cwd=tmp_path,
        env=home.environment(PACKBELT_TRUST=""),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if form:  # nothing but JSON is on standard error
        events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
        assert events.count("untrusted") == 1
    else:
        (line,) = done.stderr.splitlines()
        assert line.startswith("packbelt: not trusted, and left out: clock;")
        assert f"add {tmp_path} to PACKBELT_TRUST" in line
