"""The third report's rules, each by its number, against real child processes and loopback servers."""

import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest
from fleet_world import agent_file, call, direct, opened, place, server
from live_helpers import gone

from packbelt import AgentRefusedError, RunNotResumableError
from packbelt.model import Code, Outcome, ToolCall


@pytest.fixture
def fleet_of(tmp_path, pids):
    """A fleet with servers `files` and `fetch`, and an agent `worker` with these keys."""

    def make(*, servers=None, config="orchestrator: worker\n", run=None, **keys):
        shared = {"files": server(pids, "echo", "fail", "slow", "die"), "fetch": server(pids, "echo")}
        agents = {"worker": agent_file("worker", **keys), "helper": agent_file("helper")}
        workspace = place(
            tmp_path, servers=shared if servers is None else servers, agents=agents, config=config
        )
        return opened(workspace, run=run)

    return make


def served(turn):
    return sorted(f"{tool.id.server}/{tool.name}" for tool in turn.tools if tool.id.server)


async def belt(fleet):
    async with fleet.agent("worker") as agent:
        return served(await agent.turn())


def test_rule_1_empty_tools_means_none(fleet_of):
    async def main():
        async with fleet_of(tools=[]) as fleet, fleet.agent("worker") as agent:
            assert served(await agent.turn()) == []
            assert (await call(agent, "mcp__files__echo")).outcome is Outcome.REJECTED

    anyio.run(main)


def test_rule_2_a_wildcard_grants_all_that_the_server_advertises(fleet_of):
    async def main():
        async with fleet_of(tools=["files/*"]) as fleet:
            assert await belt(fleet) == ["files/die", "files/echo", "files/fail", "files/slow"]

    anyio.run(main)


def test_rule_3_an_exact_selector_grants_one(fleet_of):
    async def main():
        async with fleet_of(tools=["files/echo", "fetch/*"]) as fleet, fleet.agent("worker") as agent:
            assert served(await agent.turn()) == ["fetch/echo", "files/echo"]
            assert (await call(agent, "mcp__files__slow")).outcome is Outcome.REJECTED

    anyio.run(main)


@pytest.mark.parametrize("order", [0, 1])
def test_rule_4_a_deny_overrides(fleet_of, order):
    tools = [["files/*", "files/echo"], ["files/echo", "files/*"]][order]

    async def main():
        async with (
            fleet_of(tools=tools, disallowed_tools=["files/echo"]) as fleet,
            fleet.agent("worker") as agent,
        ):
            assert "files/echo" not in served(await agent.turn())
            refused = await call(agent, "mcp__files__echo")
            assert (refused.outcome, refused.hint.kind) == (Outcome.REJECTED, "denied")

    anyio.run(main)


def test_rule_5_an_unknown_server_is_refused_with_the_real_names(fleet_of):
    async def main():
        async with fleet_of(tools=["fiels/echo"]) as fleet:
            with pytest.raises(AgentRefusedError, match=r"fiels"):
                async with fleet.agent("worker"):
                    pass

    anyio.run(main)


@pytest.mark.parametrize("key", ["tools", "disallowed_tools"])
def test_rule_6_an_exact_selector_that_is_not_advertised_is_refused(fleet_of, key):
    async def main():
        async with fleet_of(**{key: ["files/ecko"]}) as fleet:
            with pytest.raises(AgentRefusedError, match="ecko"):
                async with fleet.agent("worker"):
                    pass

    anyio.run(main)


def test_rule_7_annotations_decide_nothing(fleet_of, tmp_path, pids):
    listing = tmp_path / "annotated.py"
    listing.write_text(
        "import json, sys\n"
        "tools = [{'name': n, 'inputSchema': {'type': 'object'}, 'annotations': {'readOnlyHint': n == 'safe',"
        " 'destructiveHint': n != 'safe'}} for n in ('safe', 'wild')]\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    r = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo':"
        " {'name': 'x', 'version': '1'}}, 'tools/list': {'tools': tools}}.get(m['method'])\n"
        "    if 'id' in m:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], **({'result': r} if r else"
        " {'error': {'code': -32601, 'message': 'no'}})}), flush=True)\n"
    )
    servers = {"notes": {"command": sys.executable, "args": ["-S", str(listing)]}}

    async def main():
        async with fleet_of(servers=servers, tools=["notes/wild"]) as fleet:
            assert await belt(fleet) == ["notes/wild"]  # granted by name, whatever it says of itself
        async with fleet_of(servers=servers, tools=["*/*"], ceiling="read") as fleet:
            assert await belt(fleet) == []  # what calls itself read-only needs what every server tool needs

    anyio.run(main)


def test_rule_8_is_error_is_kept_and_the_run_goes_on(fleet_of):
    async def main():
        async with fleet_of() as fleet, fleet.agent("worker") as agent:
            failed = await call(agent, "mcp__files__fail")
            assert (failed.outcome, failed.is_error, failed.text) == (
                Outcome.TOOL_ERROR,
                True,
                "quota exceeded",
            )
            assert (await call(agent, "mcp__files__echo")).outcome is Outcome.OK
            assert (await fleet.runs.get(agent.run_id)).resumable

    anyio.run(main)


@pytest.mark.parametrize("tool", ["slow", "die"])
def test_rule_9_a_time_out_or_a_lost_connection_after_dispatch_is_ambiguous(fleet_of, pids, tool):
    config = "orchestrator: worker\ntimes: {call: 0.4}\n"

    async def main():
        async with fleet_of(config=config) as fleet:
            agent = await fleet.agent("worker").__aenter__()
            result = await call(agent, f"mcp__files__{tool}", seconds=600)
            assert result.outcome is Outcome.AMBIGUOUS
            assert result.text
            run = await fleet.runs.get(agent.run_id)
            assert not run.resumable
            assert f"server:files/{tool}" in run.reason
            assert (await call(agent, "mcp__fetch__echo")).outcome is Outcome.OK
            await agent.__aexit__(None, None, None)
            with pytest.raises(RunNotResumableError, match=f"files/{tool}"):
                await fleet.runs.claim(agent.run_id, "go on")

    anyio.run(main)


def test_rule_10_a_completed_run_is_continued_with_its_conversation(fleet_of):
    seen = []

    async def run(agent, request):
        agent.messages.append({"role": "user", "content": request})
        seen.append([message["content"] for message in agent.messages])
        agent.messages.append({"role": "assistant", "content": "yes"})
        return f"answer to {request}"

    async def main():
        async with fleet_of(delegates=["helper"], run=run) as fleet, fleet.agent("worker") as agent:
            first = await call(agent, "delegate_to_helper", request="one", context="a fact")
            found = first.answer.structured
            assert found["status"] == "completed"
            again = await fleet.send_input(found["run_id"], "two")
            assert again.structured == {**found, "output": "answer to two"}
            assert again.said_by == "helper"

    anyio.run(main)
    assert seen[0] == ["one\n\nContext:\na fact"]
    assert seen[1] == ["one\n\nContext:\na fact", "yes", "two"]


# the child process --------------------------------------------------------------------------------------


def test_the_environment_that_reaches_the_child(fleet_of, pids, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-of-the-parent")
    monkeypatch.setenv("EXTERNAL_API_KEY", "canary-for-the-child")
    entry = server(pids, "env", env={"KEY": "${EXTERNAL_API_KEY}", "PLAIN": "x"})

    async def main():
        async with fleet_of(servers={"external": entry}) as fleet, fleet.agent("worker") as agent:
            seen = json.loads((await call(agent, "mcp__external__env")).text)
            allowed = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "LANG"}
            allowed |= {"LC_ALL", "LC_CTYPE", "SYSTEMROOT", "PATHEXT", "USERPROFILE", "KEY", "PLAIN"}
            assert set(seen) <= allowed
            assert seen["KEY"] == hashlib.sha256(b"canary-for-the-child").hexdigest()
            assert seen["PATH"] == hashlib.sha256(os.environ["PATH"].encode()).hexdigest()

    anyio.run(main)


def test_a_missing_variable_fails_the_start_and_names_it(fleet_of, pids, monkeypatch):
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    entry = server(pids, "env", env={"KEY": "${NOT_SET_ANYWHERE}"})

    async def main():
        async with fleet_of(servers={"external": entry, "fetch": server(pids, "echo")}) as fleet:
            async with fleet.agent("worker") as agent:
                turn = await agent.turn()
                assert served(turn) == ["fetch/echo"]
                (failed,) = [one for one in turn.diagnostics if one.code is Code.SERVER_FAILED]
                assert "NOT_SET_ANYWHERE" in failed.message

    anyio.run(main)
    pids.assert_gone(1)


def test_the_child_starts_in_the_workspace_by_direct_exec(fleet_of, pids, tmp_path):
    entry = server(pids, "echo", "$(touch bad); touch bad")

    async def main():
        async with fleet_of(servers={"files": entry}):
            (pid,) = pids()
            assert os.path.realpath(f"/proc/{pid}/cwd") == str(Path.cwd())
            assert "$(touch bad); touch bad" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")

    anyio.run(main)
    assert not (tmp_path / "bad").exists()


# HTTP ---------------------------------------------------------------------------------------------------


class Remote:
    """A loopback HTTP server of the older era; `respond` decides about tools/call."""

    def __init__(self, respond):
        outer, self.headers, self.calls = self, [], 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.headers.append(dict(self.headers))
                method = message["method"]
                if method == "tools/call":
                    outer.calls += 1
                    respond(self, message)
                elif "id" not in message:
                    self.reply(202)
                else:
                    info = {"name": "remote", "version": "1"}
                    found = {
                        "initialize": {
                            "protocolVersion": "2025-06-18",
                            "capabilities": {"tools": {}},
                            "serverInfo": info,
                        },
                        "tools/list": {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]},
                    }.get(method)
                    body = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
                    self.reply(200, {"jsonrpc": "2.0", "id": message["id"], **body})

            def do_GET(self):
                self.reply(405)

            do_DELETE = do_GET

            def reply(self, status, body=None, **headers):
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/mcp"
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def remote():
    made = []

    def make(respond):
        made.append(Remote(respond))
        return made[-1]

    yield make
    for each in made:
        each.close()


def ok(handler, message):
    content = {"content": [{"type": "text", "text": "acted"}]}
    handler.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": content})


def test_http_headers_are_filled_in_and_sent(fleet_of, remote, monkeypatch):
    monkeypatch.setenv("ISSUE_MCP_TOKEN", "canary-token")
    issues = remote(ok)
    entry = {"type": "http", "url": issues.url, "headers": {"Authorization": "Bearer ${ISSUE_MCP_TOKEN}"}}

    async def main():
        async with fleet_of(servers={"issues": entry}) as fleet, fleet.agent("worker") as agent:
            assert (await call(agent, "mcp__issues__act")).text == "acted"

    anyio.run(main)
    assert {headers.get("Authorization") or headers.get("authorization") for headers in issues.headers} == {
        "Bearer canary-token"
    }


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_http_a_redirect_is_not_followed(fleet_of, remote, status):
    thief = remote(ok)
    issues = remote(lambda handler, _: handler.reply(status, Location=thief.url))

    async def main():
        servers = {
            "issues": {"type": "http", "url": issues.url, "headers": {"Authorization": "Bearer abcdefgh"}}
        }
        async with fleet_of(servers=servers) as fleet, fleet.agent("worker") as agent:
            result = await call(agent, "mcp__issues__act")
            assert result.outcome is Outcome.NOT_STARTED
            assert "redirect" in result.text
            assert (await fleet.runs.get(agent.run_id)).resumable

    anyio.run(main)
    assert thief.headers == []
    assert issues.calls == 1


def test_http_times_are_bounded(fleet_of, remote):
    over = threading.Event()
    issues = remote(lambda _handler, _message: over.wait(30))

    async def main():
        servers = {"issues": {"type": "http", "url": issues.url}}
        config = "orchestrator: worker\ntimes: {call: 0.4}\n"
        async with fleet_of(servers=servers, config=config) as fleet, fleet.agent("worker") as agent:
            result = await call(agent, "mcp__issues__act")
            assert result.outcome is Outcome.AMBIGUOUS
            over.set()

    anyio.run(main)
    assert issues.calls == 1


def test_http_a_connection_dropped_after_dispatch_is_ambiguous(fleet_of, remote):
    def drop(handler, _):
        handler.close_connection = True
        handler.connection.close()

    issues = remote(drop)

    async def main():
        servers = {"issues": {"type": "http", "url": issues.url}}
        async with fleet_of(servers=servers) as fleet, fleet.agent("worker") as agent:
            assert (await call(agent, "mcp__issues__act")).outcome is Outcome.AMBIGUOUS
            assert not (await fleet.runs.get(agent.run_id)).resumable

    anyio.run(main)
    assert issues.calls == 1


# defence in depth ---------------------------------------------------------------------------------------


def test_what_the_child_offers_beyond_the_policy_is_refused_and_never_sent(fleet_of, pids):
    async def main():
        async with fleet_of(tools=["files/echo"]) as fleet, fleet.agent("worker") as agent:
            turn = await agent.turn()
            calls = [
                ToolCall(str(i), name, {}) for i, name in enumerate(("mcp__files__die", "files/die", "die"))
            ]
            results = await turn.run(calls)
            assert {result.outcome for result in results} == {Outcome.REJECTED}
            assert direct(turn) == ["mcp__files__echo"]
            assert not any(gone(pid) for pid in pids())

    anyio.run(main)
