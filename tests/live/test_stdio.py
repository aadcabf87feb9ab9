import asyncio
import hashlib
import json
import sys

import pytest
from live_helpers import FAKE, IMPATIENT, tools

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.live.servers.connect import connect
from packbelt.model import Code, ServerStatus


def shell(name, script, *args):
    return ServerSpec(name, "stdio", command="sh", args=("-c", script, "sh", *args))


def seen(state):
    return json.loads(state.tools[0].description)


@pytest.mark.parametrize("era", ["initialize", "modern"])
def test_both_protocol_eras(fake, meet, pids, era):
    state = meet(fake(era=era, tools=tools(2), instructions="Ask nicely.")).servers["fake"]
    assert (state.status, state.error) == (ServerStatus.CONNECTED, "")
    assert [tool.name for tool in state.tools] == ["t000", "t001"]
    assert state.tools[1].wire_name == "mcp__fake__t001"
    assert state.tools[1].description == "Tool 1."
    assert state.instructions == "Ask nicely."
    pids.assert_gone(1)


@pytest.mark.parametrize("era", ["initialize", "modern"])
def test_lc09_all_pages_are_read(fake, meet, era):
    state = meet(fake(era=era, tools=tools(70), page=50)).servers["fake"]
    assert [tool.name for tool in state.tools] == [f"t{i:03}" for i in range(70)]
    assert state.diagnostics == ()


def test_a_cursor_that_comes_back_ends_the_listing(fake, meet):
    state = meet(fake(tools=tools(30), page=20, loop=True)).servers["fake"]
    assert state.status is ServerStatus.CONNECTED
    assert [tool.name for tool in state.tools] == [f"t{i:03}" for i in range(30)]
    assert [(found.code, found.name) for found in state.diagnostics] == [(Code.SERVER_LISTING, "fake")]


def test_more_tools_than_the_limit_are_cut_with_a_diagnostic(fake, meet):
    state = meet(fake(tools=tools(1100), page=100)).servers["fake"]
    assert len(state.tools) == 1024
    assert [found.code for found in state.diagnostics] == [Code.TOOL_BROKEN]


@pytest.mark.parametrize("era", ["initialize", "modern"])
def test_one_bad_tool_costs_one_tool(fake, meet, era):
    listed = [
        *tools(2),
        {"name": None, "inputSchema": {}},
        {"name": "odd", "inputSchema": 7},
        "no tool at all",
    ]
    state = meet(fake(era=era, tools=listed)).servers["fake"]
    assert [tool.name for tool in state.tools] == ["t000", "t001"]
    assert [found.code for found in state.diagnostics] == [Code.TOOL_BROKEN] * 3


def test_a_server_without_tools_is_connected(meet, fake):
    state = meet(fake(tools=[])).servers["fake"]
    assert (state.status, state.tools) == (ServerStatus.CONNECTED, ())


def test_a_server_that_cannot_list_has_failed(meet, fake, pids):
    state = meet(fake(unlistable=True)).servers["fake"]
    assert state.status is ServerStatus.FAILED
    assert state.error == "did not list its tools: no method tools/list"
    pids.assert_gone(1)


def test_a_banner_before_the_first_message_is_forgiven(meet, fake):
    state = meet(fake(banner="Welcome to the fake server!", tools=tools(1))).servers["fake"]
    assert (state.status, len(state.tools)) == (ServerStatus.CONNECTED, 1)


def test_lc13_a_megabyte_on_standard_error(fake, meet, capfd):
    state = meet(fake(stderr=1_000_000, tools=tools(1))).servers["fake"]
    assert (state.status, len(state.tools)) == (ServerStatus.CONNECTED, 1)
    assert capfd.readouterr() == ("", "")


FAILURES = {
    "dead": (
        ServerSpec("dead", "stdio", command="no-such-command-anywhere"),
        "command not found: 'no-such-command-anywhere'; install it or write its full path",
    ),
    "unset": (
        ServerSpec("unset", "stdio", command="true", env={"TOKEN": "${PACKBELT_TEST_UNSET}"}),
        (
            "env.TOKEN needs ${PACKBELT_TEST_UNSET}, and that variable is not set; "
            "set PACKBELT_TEST_UNSET, or write ${PACKBELT_TEST_UNSET:-default}"
        ),
    ),
    "astray": (
        ServerSpec("astray", "stdio", command="true", cwd="no/such/place"),
        "its cwd is no directory: ",
    ),
    "nul": (
        ServerSpec("nul", "stdio", command="true", args=("a\0b",)),
        "cannot run 'true': embedded null byte",
    ),
    "exits": (
        shell("exits", "echo starting >&2; echo 'Error: no configuration' >&2; exit 3"),
        "exited with 3 before it could answer: Error: no configuration",
    ),
    "killed": (shell("killed", "kill -9 $$"), "was ended by SIGKILL before it could answer"),
    "junk": (
        shell("junk", "echo 'Hello, world'; exec sleep 60"),
        (
            "printed something that is not MCP: 'Hello, world'; "
            "standard output carries messages alone, logs belong on standard error"
        ),
    ),
    "hangs": (
        shell("hangs", "printf '\\033[31mconnecting to the database\\033[0m\\n' >&2; exec sleep 60"),
        "did not answer within 0.6 s: connecting to the database",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_line_that_says_what_happened(meet, name):
    spec, line = FAILURES[name]
    state = meet(spec, times=IMPATIENT).servers[name]
    assert state.status is ServerStatus.FAILED
    assert state.error.startswith(line)
    assert "\n" not in state.error


def test_lc24_failures_leave_the_others_alone(fake, meet, pids):
    good = [fake("a", tools=tools(3)), fake("z", tools=tools(1), era="modern")]
    bad = [spec for name, (spec, _) in FAILURES.items() if name not in ("junk", "hangs")]
    snapshot = meet(good[0], *bad, good[1])
    assert list(snapshot.servers) == ["a", *(spec.name for spec in bad), "z"]
    connected = {name for name, state in snapshot.servers.items() if state.status is ServerStatus.CONNECTED}
    assert connected == {"a", "z"}
    assert [len(snapshot.servers[name].tools) for name in ("a", "z")] == [3, 1]
    pids.assert_gone(2)


def test_a_server_that_hangs_on_its_list_has_failed(fake, meet, pids):
    script = "import sys; sys.path.insert(0, sys.argv[2]); import fake_server as f, time\n"
    script += "good = f.answer\n"
    script += 'f.answer = lambda c, m, p: time.sleep(60) if m == "tools/list" else good(c, m, p)\nf.main()'
    plain = fake()
    spec = ServerSpec(
        "fake", "stdio", command=sys.executable, args=("-S", "-c", script, plain.args[2], str(FAKE.parent))
    )
    state = meet(spec, times=Times(start=20, list=0.4, shutdown=1)).servers["fake"]
    assert state.error == "did not list its tools within 0.4 s"
    pids.assert_gone(1)


def test_a_server_that_closes_its_output_and_stays_has_failed_at_once(meet):
    state = meet(shell("mutes", "exec >&-; exec sleep 60")).servers["mutes"]
    assert state.error == "did not answer: Connection closed"


# Processes


def background(config, *, wait):
    """A wrapper that starts the real server behind itself, and stays or ends at once."""
    script = '"$1" -S "$2" "$3" <&3 & '
    return shell(
        "wrapped", "exec 3<&0; " + script + ("wait" if wait else ""), sys.executable, str(FAKE), config
    )


@pytest.mark.parametrize("wait", [True, False], ids=["wrapper stays", "wrapper ends first"])
@pytest.mark.parametrize("deaf", [False, True], ids=["ends in order", "has to be killed"])
def test_lc02_what_a_wrapper_started_is_ended_too(meet, pids, wait, deaf):
    config = json.dumps({"pids": str(pids.file), "tools": tools(1), "deaf": deaf})
    state = meet(background(config, wait=wait), times=Times(20, 20, shutdown=0.4)).servers["wrapped"]
    assert (state.status, state.error, len(state.tools)) == (ServerStatus.CONNECTED, "", 1)
    pids.assert_gone(1)


def test_lc02_a_hanging_wrapper_takes_its_server_with_it(meet, pids):
    config = json.dumps({"pids": str(pids.file), "era": "mute", "deaf": True})
    state = meet(background(config, wait=True), times=IMPATIENT).servers["wrapped"]
    assert state.error == "did not answer within 0.6 s"
    pids.assert_gone(1)


def test_cancelling_ends_every_server(fake, workspace, pids):
    specs = [fake(name, era="mute", deaf=True) for name in "abc"]

    async def run():
        task = asyncio.create_task(connect(workspace(*specs), specs))
        await asyncio.to_thread(pids.wait_for, 3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    pids.assert_gone(3)


def test_a_progress_callback_that_raises_ends_every_server(fake, meet, pids):
    def break_off(name, status, _count, _seconds):
        if status is ServerStatus.CONNECTED:
            pids.wait_for(2)
            raise RuntimeError(name)

    with pytest.raises(ExceptionGroup) as raised:
        meet(fake("mute", era="mute", deaf=True), fake("good"), on_progress=break_off)
    assert [str(error) for error in raised.value.exceptions] == ["good"]
    pids.assert_gone(2)


def test_progress_tells_of_each_server(fake, meet):
    told = []
    meet(
        fake("a", tools=tools(2)),
        ServerSpec("b", "stdio", command="no-such-command-anywhere"),
        on_progress=lambda *event: told.append(event[:3]),
    )
    assert sorted(told) == [
        ("a", ServerStatus.CONNECTED, 2),
        ("a", ServerStatus.STARTING, 0),
        ("b", ServerStatus.FAILED, 0),
        ("b", ServerStatus.STARTING, 0),
    ]


# What reaches the child


def test_en01_placeholders_reach_the_server_as_values(fake, meet):
    environ = {"API_TOKEN": "s3cret-value", "PATH": "/usr/bin:/bin"}
    spec = fake(env={"TOKEN": "${API_TOKEN}"}, args=("--key=${API_TOKEN}", "$${API_TOKEN}"), reveal=["TOKEN"])
    found = seen(meet(spec, environ=environ).servers["fake"])
    assert found["seen"]["TOKEN"] == hashlib.sha256(b"s3cret-value").hexdigest()
    assert found["argv"] == ["--key=s3cret-value", "${API_TOKEN}"]


def test_en04_the_environment_is_the_short_list_and_the_entrys_own(fake, meet, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "() { :; }")
    allowed = {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "LC_CTYPE",
        "SYSTEMROOT", "PATHEXT", "USERPROFILE",
    }  # fmt: skip
    names = set(seen(meet(fake(env={"A": "1"}, reveal=[])).servers["fake"])["names"])
    assert {"A", "PATH", "LC_ALL"} <= names <= allowed | {"A"}
    assert "TERM" not in names


def test_an_entrys_own_value_wins(fake, meet):
    found = seen(meet(fake(env={"HOME": "/nowhere"}, reveal=["HOME"])).servers["fake"])
    assert found["seen"]["HOME"] == hashlib.sha256(b"/nowhere").hexdigest()


def test_cwd_is_relative_to_the_workspace(fake, meet, tmp_path):
    (tmp_path / "sub").mkdir()
    assert seen(meet(fake(cwd="sub", reveal=[])).servers["fake"])["cwd"] == str(tmp_path / "sub")


def test_there_is_no_shell(fake, meet, tmp_path):
    spec = fake(args=("$(touch pwned); `touch pwned` && touch pwned", "*"), cwd=".", reveal=[])
    found = seen(meet(spec).servers["fake"])
    assert found["argv"] == ["$(touch pwned); `touch pwned` && touch pwned", "*"]
    assert not (tmp_path / "pwned").exists()


def test_a_secret_in_last_words_is_masked(meet):
    spec = ServerSpec(
        "leaky", "stdio", command="sh", args=("-c", 'echo "bad token $T, mode $M" >&2; exit 1'),
        env={"T": "${TOKEN}", "M": "literal-password"},
    )  # fmt: skip
    state = meet(spec, environ={"TOKEN": "canary-1234", "PATH": "/usr/bin:/bin"}).servers["leaky"]
    assert state.error == "exited with 1 before it could answer: bad token ***, mode ***"


def test_the_words_for_a_message_that_is_too_long_give_the_limit(monkeypatch):
    from packbelt.live.servers import failure

    monkeypatch.setattr(failure, "MAX_MESSAGE", 3 << 20)
    line = failure.explain(RuntimeError("closed"), failure.Witness(oversize=True), failure.LIST)
    assert line == "sent a message over the limit of 3 MiB"
