"""`packbelt call`: one call through the gate and the relay, with only the servers that it needs."""

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import packbelt
from packbelt.cli.call import needed
from packbelt.cli.call_text import arguments_of

SERVER = Path(__file__).parent.parent / "live" / "tool_server.py"
CANARY = "canary-7f3a-value"


def entry(pids, *tools):
    args = ["-S", str(SERVER), str(pids), "initialize", *tools]
    return {"command": sys.executable, "args": args}


def agent(**keys):
    name = keys.pop("name", "boss")
    lines = [f"name: {name}", f"description: Does {name}."]
    lines += [f"{key}: {json.dumps(value)}" for key, value in keys.items()]
    return "---\n" + "\n".join(lines) + "\n---\nYou work.\n"


RUNNER = """
async def run(agent, request):
    turn = await agent.turn()
    (result,) = await turn.run([__import__("packbelt").ToolCall("1", "mcp__one__echo", {"request": request})])
    return f"{agent.name} got {result.outcome}"
"""
CONFIG = """\
orchestrator: boss
deny: [one/forbidden]
approve: [one/delicate]
"""


@pytest.fixture
def project(tmp_path):
    """Two servers, an agent that has both, and one that it hands to, with a server of its own."""
    root = tmp_path / "work"
    (root / "prompts/agents").mkdir(parents=True)
    (root / "packs").mkdir()
    (root / "packbelt.yaml").write_text(CONFIG)
    servers = {
        "one": entry(tmp_path / "one.pids", "echo", "fail", "die", "hang", "delicate", "forbidden", "both"),
        "two": entry(tmp_path / "two.pids", "echo", "both"),
    }
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (root / "prompts/agents/boss.md").write_text(agent(tools=["*"], delegates=["worker"]))
    worker = agent(name="worker", handoff="ask_worker", tools=["*/*"])
    (root / "prompts/agents/worker.md").write_text(worker)
    (root / "loop.py").write_text(RUNNER)
    (root / "args.json").write_text("[]")
    return root


@pytest.fixture
def started(project):
    """Which servers were started, and that none is left."""

    def names():
        found = sorted(file.stem for file in project.parent.glob("*.pids"))
        for file in project.parent.glob("*.pids"):
            for pid in map(int, file.read_text().split()):
                assert not alive(pid), f"{file.stem} is still there"
        return found

    return names


def alive(pid):
    """Whether a process runs; one that ended and was not waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def events_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


# what comes back ----------------------------------------------------------------------------------------


def test_the_result_is_all_of_standard_output(project, run, started):
    done = run(project, "call", "boss", "one/echo", '{"a": "é"}', "--trust")
    assert (done.exit_code, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["arguments"], said["tool"]) == ({"a": "é"}, "echo")
    assert done.stdout.count("\n") == 1
    assert started() == ["one"]


@pytest.mark.parametrize("name", ["mcp__one__echo", "server:one/echo", "one/echo"])
def test_a_tool_by_each_of_its_names(project, run, started, name):
    done = run(project, "call", "boss", name, "--trust", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert {key: said[key] for key in said if key != "content"} == {
        "outcome": "ok",
        "tool": "server:one/echo",
        "structured": None,
        "hint": None,
    }
    assert json.loads(said["content"][0]["text"])["arguments"] == {}
    assert started() == ["one"]


def test_a_plain_name_that_one_tool_alone_has(project, run, started):
    assert run(project, "call", "boss", "fail", "--trust").exit_code == 1
    assert started() == ["one", "two"]


def test_a_plain_name_of_several_tools_is_bad_input(project, run, started):
    done = run(project, "call", "boss", "both", "--trust")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "mcp__one__both, mcp__two__both" in done.stderr
    assert started() == ["one", "two"]


@pytest.mark.parametrize(
    ("tool", "outcome", "more"),
    [
        ("one/fail", "tool_error", []),
        ("one/die", "ambiguous", ["look before you try it again"]),
        ("one/forbidden", "rejected", []),
        ("one/delicate", "rejected", ["--approve says yes"]),
        ("one/nowhere", "rejected", []),
    ],
)
def test_what_did_not_end_well_is_named_on_standard_error(project, run, tool, outcome, more):
    done = run(project, "call", "boss", tool, "--trust")
    assert (done.exit_code, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"packbelt: {outcome}: ")
    assert [word for word in more if word not in lines[1]] == []
    assert len(lines) == 1 + len(more)


def test_a_tools_error_is_its_words(project, run):
    assert (
        run(project, "call", "boss", "one/fail", "--trust").stderr == "packbelt: tool_error: quota exceeded\n"
    )


def test_a_server_that_does_not_start(project, run):
    servers = json.loads((project / ".mcp.json").read_text())
    servers["mcpServers"]["gone"] = {"command": str(project / "missing")}
    (project / ".mcp.json").write_text(json.dumps(servers))
    done = run(project, "call", "boss", "gone/x", "--trust", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["outcome"] == "rejected"


def test_a_refusal_in_json_has_its_hint(project, run):
    done = run(project, "call", "boss", "one/forbidden", "--trust", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["outcome"], said["hint"]["class"]) == (1, "rejected", "denied")
    assert said["content"] == [{"type": "text", "text": said["hint"]["text"]}]


# what is given ------------------------------------------------------------------------------------------


def test_arguments_from_standard_input(project, process):
    command = ["-m", "packbelt", "call", "boss", "one/echo", "-", "--trust"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=project,
        input='{"a": 1}',
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["arguments"] == {"a": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ("{", "not JSON: Expecting property name"),
        ("", "not JSON"),
        ('{"a": NaN}', "not JSON: NaN is none of its values"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_arguments_that_are_no_object_start_nothing(project, run, started, text, said):
    done = run(project, "call", "boss", "one/echo", text, "--trust")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert started() == []


def test_bytes_that_are_no_text(monkeypatch):
    import click

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": "\xff"}')))
    with pytest.raises(click.UsageError, match="not JSON"):
        arguments_of("-")
    assert arguments_of(None) == {}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nobody", "one/echo"], "no agent is called 'nobody'"),
        (["boss", "one/echo", "--runner", "nowhere:run"], "there is no such module"),
        (["boss", "one/echo", "--deny", "nowhere/x"], "nowhere"),
        (["boss", "one/echo", "--snapshot", "missing.yaml"], "missing.yaml"),
        (["boss", "one/echo", "--events", "packs"], "packs"),
    ],
)
def test_bad_input_is_one_line(project, run, args, said):
    done = run(project, "call", *args, "--trust")
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_broken_workspace_is_bad_input(project, run, started):
    (project / "packbelt.yaml").write_text("orchestrator: [\n")
    done = run(project, "call", "boss", "one/echo", "--trust")
    assert (done.exit_code, started()) == (2, [])
    assert "packbelt.yaml" in done.stderr


def test_call_never_uses_the_embedded_workspace(tmp_path, run):
    done = run(tmp_path, "call", "orchestrator", "time/now", "--trust")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no workspace here" in done.stderr


def test_without_trust_and_without_a_terminal_nothing_starts(project, run, started):
    done = run(project, "call", "boss", "one/echo")
    assert (done.exit_code, done.stdout, started()) == (2, "", [])
    assert "not started (not trusted): one; " in done.stderr
    assert "two" not in done.stderr


def test_trust_from_the_environment(project, run, monkeypatch, started):
    monkeypatch.setenv("PACKBELT_TRUST", str(project))
    assert run(project, "call", "boss", "one/echo").exit_code == 0
    assert started() == ["one"]


def test_w_names_the_workspace(project, run, tmp_path, started):
    done = run(tmp_path, "call", "boss", "one/echo", "--trust", "-w", "work")
    assert (done.exit_code, started()) == (0, ["one"])


# what it passes -----------------------------------------------------------------------------------------


def test_a_call_that_wants_approval(project, run):
    done = run(project, "call", "boss", "one/delicate", "--trust")
    assert done.stderr == (
        "packbelt: rejected: mcp__one__delicate was not called: it needs a person's approval, and there is nobody to ask\n"
        "packbelt: --approve says yes\n"
    )
    assert run(project, "call", "boss", "one/delicate", "--trust", "--approve").stderr.startswith(
        "packbelt: tool_error: Unknown tool: delicate"  # it was called
    )


def test_a_deny_binds_the_call_and_whoever_it_hands_to(project, run):
    done = run(project, "call", "boss", "one/echo", "--trust", "--deny", "one/*", "--json")
    assert json.loads(done.stdout)["hint"]["class"] == "denied"
    handed = ["call", "boss", "ask_worker", '{"request": "go"}', "--trust", "--runner", "loop:run"]
    assert "worker got ok" in run(project, *handed).stdout
    assert "worker got rejected" in run(project, *handed, "--deny", "one/echo").stdout


def test_a_hand_off_without_a_runner_is_unavailable(project, run):
    done = run(project, "call", "boss", "ask_worker", '{"request": "go"}', "--trust", "--json")
    assert json.loads(done.stdout)["hint"]["class"] == "unavailable"


def test_a_snapshot_says_what_is_in_force_and_no_more(project, run, started):
    (project / "now.yaml").write_text("deny: [one/echo]\nservers:\n  two: {status: starting}\n")
    done = run(project, "call", "boss", "one/echo", "--trust", "--json", "--snapshot", "now.yaml")
    assert json.loads(done.stdout)["hint"]["class"] == "denied"
    assert run(project, "call", "boss", "two/echo", "--trust", "--snapshot", "now.yaml").exit_code == 0


def test_events_go_to_a_file_and_speak_of_what_was_started(project, run):
    for _ in range(2):
        assert (
            run(
                project, "call", "boss", "one/echo", f'{{"a": "{CANARY}"}}', "--trust", "--events", "e"
            ).exit_code
            == 0
        )
    told = events_of(project / "e")
    assert {event["server"] for event in told if event["kind"] == "server"} == {"one"}
    calls = [event for event in told if event["kind"] == "call"]
    assert [(call["agent"], call["tool"], call["outcome"]) for call in calls] == [
        ("boss", "server:one/echo", "ok")
    ] * 2
    assert {"server", "run", "turn", "call"} == {event["kind"] for event in told}
    assert CANARY not in (project / "e").read_text()


# which servers it starts --------------------------------------------------------------------------------

NATIVE = (
    "id: core\nsummary: Core.\ntools:\n  - {name: clock, description: Time., input_schema: {type: object}}\n"
)


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("one/echo", ["one", "must"]),
        ("server:two/echo", ["two", "must"]),
        ("mcp__one__echo", ["one", "must"]),
        ("mcp__one_more_00112233", ["one", "two", "must", "one.x", "boss.own"]),
        ("mcp__one_x__long_00112233", ["must", "one.x"]),
        ("server:boss.own/x", ["must", "boss.own"]),
        ("clock", ["must"]),
        ("ask_worker", ["one", "two", "must", "one.x", "boss.own", "worker.far"]),
        ("use_pack", ["one", "two", "must", "one.x", "boss.own"]),
        ("echo", ["one", "two", "must", "one.x", "boss.own"]),
        ("mcp__unheard__of", ["one", "two", "must", "one.x", "boss.own"]),
    ],
)
def test_a_call_needs_as_few_servers_as_its_name_settles(project, tool, names):
    servers = {name: {"command": "true"} for name in ("one", "two", "must", "one.x")}
    servers["must"]["required"] = True
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    inline = {"own": {"command": "true"}}
    boss = agent(tools=["*"], delegates=["worker"], mcp_servers=["one", inline])
    (project / "prompts/agents/boss.md").write_text(boss)
    far = agent(name="worker", handoff="ask_worker", mcp_servers=[{"far": {"command": "true"}}])
    (project / "prompts/agents/worker.md").write_text(far)
    (project / "packs/core.yaml").write_text(NATIVE)
    workspace = packbelt.load(project)
    assert sorted(spec.name for spec in needed(workspace, "boss", tool)) == sorted(names)


# at a terminal, and cut short ---------------------------------------------------------------------------


@pytest.fixture
def at_terminal(project, tmp_path):
    """A call at a terminal of its own: the process and our end of the terminal."""
    ours, theirs = pty.openpty()
    env = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "TERM": "xterm", "NO_COLOR": "1"}
    begun = []

    def begin(*args):
        command = [sys.executable, "-m", "packbelt", "call", *args]
        process = subprocess.Popen(
            command, cwd=project, env=env, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
        )
        begun.append(process)
        return process, ours

    yield begin
    for process in begun:
        process.kill()
        process.wait()
    os.close(ours)
    os.close(theirs)


def read_until(terminal, words):
    said, deadline = b"", time.monotonic() + 60
    while words not in said:
        assert time.monotonic() < deadline, said
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096)
    return said


@pytest.mark.parametrize(
    ("key", "outcome"),
    [
        (b"y\n", b"tool_error: Unknown tool"),
        (b"n\n", b"a person declined it"),
        (b"\x04", b"a person declined it"),
    ],
)
def test_a_person_is_asked_at_the_terminal(at_terminal, started, key, outcome):
    process, terminal = at_terminal("boss", "one/delicate", '{"a": "b\\u001b"}', "--trust")
    said = read_until(terminal, b"[y/N]")
    assert b'boss wants to call server:one/delicate {"a":"b\\u001b"}' in said
    os.write(terminal, key)
    read_until(terminal, outcome)
    assert process.wait(60) == 1
    assert started() == ["one"]


def test_an_interrupt_at_the_question_ends_everything(at_terminal, started):
    process, terminal = at_terminal("boss", "one/delicate", "--trust")
    read_until(terminal, b"[y/N]")
    deadline = time.monotonic() + 60
    while process.poll() is None:  # a signal just before the wait for a key begins does not end that wait
        assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
    assert process.returncode == 130
    assert started() == ["one"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_call_cut_short_leaves_no_process(project, started, number, code):
    command = [sys.executable, "-m", "packbelt", "call", "boss", "one/hang", "--trust", "--events", "e"]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while '"kind":"turn"' not in ((project / "e").read_text() if (project / "e").exists() else ""):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    # click ends the line of a ^C; whether the call had left by then is a matter of moments
    sent = b"packbelt: ambiguous: one/hang was called, and nobody knows whether it ran"
    assert (process.returncode, out) == (code, b"")
    assert err.strip() in (b"", sent)
    assert started() == ["one"]


# real servers, real secrets -----------------------------------------------------------------------------


def test_the_time_server(project, process):
    servers = {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (project / "packbelt.yaml").write_text("orchestrator: boss\n")
    done = process(
        "-m",
        "packbelt",
        "call",
        "boss",
        "time/get_current_time",
        '{"timezone": "UTC"}',
        "--trust",
        cwd=project,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["timezone"] == "UTC"


def test_arguments_that_do_not_fit_are_rejected_before_anything_happens(project, run):
    done = run(project, "call", "boss", "ask_worker", "{}", "--trust", "--runner", "loop:run", "--json")
    assert (done.exit_code, json.loads(done.stdout)["hint"]["class"]) == (1, "invalid_arguments")


def test_secrets_a_servers_variables_show_up_nowhere(project, run, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", CANARY)
    servers = json.loads((project / ".mcp.json").read_text())["mcpServers"]
    servers["one"] |= {"env": {"TOKEN": "${SECRET_TOKEN}"}, "args": [*servers["one"]["args"], "env"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    for tool in ("one/env", "one/fail", "one/die", "one/nowhere"):
        done = run(project, "call", "boss", tool, "--trust", "--events", "e")
        assert CANARY not in done.stdout + done.stderr
    assert {event["kind"] for event in events_of(project / "e")} == {"server", "run", "turn", "call"}
    assert CANARY not in (project / "e").read_text()
