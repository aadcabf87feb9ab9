"""How a gateway begins and ends: quickly, in order, and with nothing left behind."""

import json
import signal
import subprocess
import time

import pytest
from gateway_helpers import Gateway, alive, http, over_http, run, stdio, text_of, until

from packbelt.gateway.server import QUICK

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def send(gateway, message):
    gateway.process.stdin.write(json.dumps(message).encode() + b"\n")
    gateway.process.stdin.flush()


def receive(gateway):
    return json.loads(gateway.process.stdout.readline())


def call(gateway, identity, method, **params):
    send(gateway, {"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order_while_its_client_is_silent(home, number):
    gateway = Gateway(home, "--agent", "lead")
    gateway.wait_for("ready")
    assert len(alive(home)) == 3
    code, out, said = gateway.stop(number)
    assert (code, out) == (0, "")
    assert "Traceback" not in said
    assert alive(home) == []


def test_a_signal_ends_it_while_servers_are_still_starting(home):
    home.server("late", tools=["echo"], delay=60)
    gateway = Gateway(home, "--agent", "lead")
    while len(alive(home)) < 4:
        time.sleep(0.01)
        assert gateway.process.poll() is None
    assert gateway.stop(signal.SIGINT)[0] == 0
    assert alive(home) == []


def test_a_signal_ends_it_in_the_middle_of_a_call(home):
    gateway = Gateway(home, "--agent", "lead")
    send(gateway, INITIALIZE)
    assert receive(gateway)["result"]["serverInfo"]["title"] == "lead"
    send(gateway, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    call(gateway, 2, "tools/call", name="mcp__main__slow", arguments={})
    while "call slow" not in home.logged():
        time.sleep(0.01)
        assert gateway.process.poll() is None
    assert gateway.stop(signal.SIGINT)[0] == 0
    assert alive(home) == []
    assert "cancelled slow" in home.logged()


def test_a_client_that_leaves_ends_it(home):
    gateway = Gateway(home, "--agent", "lead")
    gateway.wait_for("ready")
    gateway.process.stdin.close()
    assert gateway.process.wait(30) == 0
    assert alive(home) == []
    gateway.stop()


def test_a_client_that_reads_nothing_does_not_keep_it(home):
    gateway = Gateway(home, "--agent", "lead")
    send(gateway, INITIALIZE)
    receive(gateway)
    send(gateway, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    for identity in range(2, 200):  # far more answers than a pipe holds
        call(gateway, identity, "tools/list")
    gateway.wait_for("ready")
    gateway.process.send_signal(signal.SIGINT)
    assert gateway.process.wait(30) == 0
    assert alive(home) == []
    gateway.stop()


def test_hr23_the_first_answer_waits_for_no_server_and_the_list_for_all(home):
    home.server("late", tools=["echo"], delay=QUICK + 2)
    gateway = Gateway(home, "--agent", "worker")
    send(gateway, INITIALIZE)
    first = receive(gateway)["result"]
    assert first["instructions"].startswith("The tools of agent worker.")
    assert not any(line and '"ready"' in line for line in gateway.said)
    send(gateway, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    call(gateway, 2, "tools/list")
    tools = [tool["name"] for tool in receive(gateway)["result"]["tools"]]
    assert "mcp__late__echo" in tools
    assert gateway.stop()[0] == 0


def test_standard_output_carries_messages_only(home):
    gateway = Gateway(home, "--agent", "lead", "--as", "a-name-so-long-that-some-tools-do-not-fit")
    send(gateway, INITIALIZE)
    send(gateway, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    call(gateway, 2, "tools/call", name="mcp__main__echo", arguments={"text": "a\nb"})
    gateway.process.stdin.write(b"this is no message\n\n")
    call(gateway, 3, "tools/list")
    lines = [receive(gateway) for _ in range(3)]
    assert sorted(line["id"] for line in lines) == [1, 2, 3]
    assert gateway.wait_for("name")
    assert gateway.stop()[1] == ""


def test_a_terminal_is_told_what_it_waits_for(home):
    import os
    import pty

    leader, follower = pty.openpty()
    with subprocess.Popen(
        home.command("--agent", "lead"),
        env=home.environment(),
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            line = process.stderr.readline().decode()
            process.send_signal(signal.SIGINT)
            process.wait(30)
        finally:
            process.kill()
    os.close(leader)
    os.close(follower)
    assert (
        "serving lead on standard input and output, where an MCP client is expected; Ctrl-C ends it" in line
    )
    assert process.returncode in (0, 130)  # 130 where it had not begun to serve yet


@run
async def test_over_http_a_signal_ends_streams_and_calls(home):
    with http(home) as gateway:
        async with over_http(gateway) as client, client.listen(tools_list_changed=True):
            assert text_of(await client.call_tool("mcp__main__echo", {"text": "x"})) == "x"
            gateway.process.send_signal(signal.SIGINT)
            await until(lambda: gateway.process.poll() is not None)
    code, out, said = gateway.stop()
    assert (code, out) == (0, "")
    assert "Traceback" not in said
    assert alive(home) == []


@run
async def test_a_connection_is_one_run(home):
    async with stdio(home) as client:
        await client.call_tool("mcp__main__echo", {"text": "x"})
        await client.call_tool("mcp__main__echo", {"text": "y"})
    from packbelt.live.runs.open import open_runs

    async with open_runs(home.root / "runs.db", workspace=home.root) as runs:
        (kept,) = await runs.find(str(home.root.resolve()))
    assert (kept.agent, kept.status) == ("lead", "completed")
