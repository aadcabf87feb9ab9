"""All agents over streamable HTTP: the same belt, and a door that opens to its own token alone."""

import json
import stat
from pathlib import Path

import anyio
import httpx2
import pytest
from gateway_helpers import MODES, TOKENS, http, names, over_http, run, serving, text_of, until

from packbelt.gateway.http import MAX_BODY

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@run
async def test_each_agent_has_its_own_belt_at_its_own_path(home):
    with http(home) as gateway:
        for mode in MODES:
            async with over_http(gateway, "lead", mode) as client:
                assert "use_pack" in await names(client)
                assert (
                    text_of(await client.call_tool("mcp__main__echo", {"text": "over http"})) == "over http"
                )
                boxed = {"pack": "mcp:boxed", "tool": "echo", "arguments": {"text": "opened"}}
                assert text_of(await client.call_tool("use_pack", boxed)) == "opened"
                for name, said in (
                    ("mcp__vault__echo", "kept for locked"),
                    ("mcp__main__forbidden", "denied"),
                    ("mcp__main__ekko", "mcp__main__echo"),
                ):
                    refused = await client.call_tool(name, {})
                    assert refused.is_error
                    assert said in text_of(refused)
                assert "- boxed: says of itself" in client.instructions
                assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["lead"]
                assert "note://1" in [one.uri for one in (await client.list_resources()).resources]
            async with over_http(gateway, "locked", mode) as client:
                assert await names(client) == ["mcp__vault__echo"]
                assert text_of(await client.call_tool("mcp__vault__echo", {"text": "inside"})) == "inside"


@run
async def test_two_processes_on_one_workspace_give_the_same_bytes(home):
    with http(home) as one, http(home) as other:
        lists = []
        for gateway in (one, other):
            async with over_http(gateway) as client:
                tools = [tool.model_dump_json() for tool in (await client.list_tools()).tools]
                lists.append((tools, client.instructions))
            async with over_http(gateway, mode="legacy") as client:
                await client.call_tool("mcp__main__echo", {"text": "what was called before changes nothing"})
        assert lists[0] == lists[1]


@run
async def test_list_changed_reaches_those_who_listen(home):
    with http(home) as gateway:
        async with over_http(gateway) as client:
            before = await names(client)
            async with client.listen(tools_list_changed=True) as heard:
                await client.call_tool("mcp__main__grow", {})
                async for event in heard:
                    assert type(event).__name__ == "ToolsListChanged"
                    break
            assert set(await names(client)) == {*before, "mcp__main__grown"}


@pytest.mark.parametrize("mode", MODES)
@run
async def test_a_client_that_disconnects_mid_call_cancels_the_call_at_the_server(home, mode):
    with http(home) as gateway:
        with anyio.CancelScope() as leaving:
            async with over_http(gateway, mode=mode) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "mcp__main__slow", {})
                await until(lambda: "call slow" in home.logged())
                leaving.cancel()
        await until(lambda: "cancelled slow" in home.logged())
        async with over_http(gateway, mode=mode) as client:
            assert text_of(await client.call_tool("mcp__main__echo", {"text": "unharmed"})) == "unharmed"


@run
async def test_requests_leave_nothing_behind(home):
    with http(home) as gateway:
        held = Path(f"/proc/{gateway.process.pid}/fd")

        async def some():
            for mode in MODES:
                async with over_http(gateway, mode=mode) as client:
                    made = home.logged().count("call slow")
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(client.call_tool, "mcp__main__slow", {})
                        await until(lambda made=made: home.logged().count("call slow") > made)
                        tasks.cancel_scope.cancel()

        await some()
        await until(lambda: home.logged().count("cancelled slow") == 2)
        before = len(list(held.iterdir()))
        for _ in range(5):
            await some()
        await until(lambda: home.logged().count("cancelled slow") == 12)
        await until(lambda: len(list(held.iterdir())) <= before)


@pytest.fixture
def gateway(home):
    with http(home, "--allow-host", "belts.example") as started:
        yield started


def post(gateway, path="/agents/lead", token=TOKENS["lead"], method="POST", **headers):
    given = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
    if token is not None:
        given["Authorization"] = f"Bearer {token}"
    url = gateway.wait_for("ready")["url"]
    return httpx2.request(method, url + path, headers=given, content=json.dumps(PING), timeout=30)


def test_the_door(gateway):
    assert post(gateway).status_code == 200
    for token, said in (
        (None, 'Bearer realm="packbelt"'),
        ("wrong", 'Bearer realm="packbelt", error="invalid_token"'),
    ):
        for path in ("/agents/lead", "/agents/nobody", "/"):
            refused = post(gateway, path, token)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, said)
    for path in ("/agents/worker", "/agents/nobody", "/agents/lead/", "/agents/", "/", "/agents/LEAD"):
        assert post(gateway, path).status_code == 403, path
    assert post(gateway, token=None, Authorization=f"Basic {TOKENS['lead']}").status_code == 401
    for method in ("GET", "DELETE", "PUT"):
        assert (found := post(gateway, method=method)).status_code == 405
        assert found.headers["allow"] == "POST"


def test_host_and_origin(gateway):
    for host in ("evil.example", "localhost.evil.example:80", "belts.example.evil.example", ""):
        assert post(gateway, Host=host).status_code in (400, 421), host
    for host in ("belts.example", "belts.example:8443", "localhost:1"):
        assert post(gateway, Host=host).status_code == 200, host
    for origin in ("http://evil.example", "null", "https://localhost.evil.example"):
        assert post(gateway, Origin=origin).status_code == 403, origin
    assert post(gateway, Origin="https://belts.example").status_code == 200
    assert post(gateway, Host="evil.example", token=None).status_code == 421


def test_bodies_are_bounded(gateway):
    url = gateway.url("lead")
    headers = {"Authorization": f"Bearer {TOKENS['lead']}", "Content-Type": "application/json"}
    assert httpx2.post(url, headers=headers, content=b" " * (MAX_BODY + 1), timeout=30).status_code == 413
    assert httpx2.post(url, content=b" " * (MAX_BODY + 1), timeout=30).status_code == 401


def test_health_needs_no_token_and_says_nothing(gateway):
    found = httpx2.get(gateway.wait_for("ready")["url"] + "/health", timeout=30)
    assert (found.status_code, found.json()) == (200, {"status": "ok"})


@run
async def test_tokens_are_in_no_log_event_or_command_line(home):
    events = home.root / "events.jsonl"
    with http(home, "--events", str(events)) as gateway:
        async with over_http(gateway) as client:
            await client.call_tool("mcp__main__echo", {"text": "x"})
        assert post(gateway, "/agents/worker").status_code == 403
        assert post(gateway, token="canary-guess-0123456789").status_code == 401
        lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in home.pids.read_text().split()]
        lines += [Path(f"/proc/{pid}/environ").read_bytes() for pid in home.pids.read_text().split()]
        lines.append(Path(f"/proc/{gateway.process.pid}/cmdline").read_bytes())
    code, out, said = gateway.stop()
    assert (code, out) == (0, "")
    assert b"canary" not in b"".join(lines)
    assert "canary" not in said
    assert "canary" not in events.read_text()
    assert "server:main/echo" in events.read_text()


@run
async def test_a_token_file_is_made_and_then_read(home):
    file = home.root / "tokens"
    with serving(home, "--http", "127.0.0.1:0", "--tokens", str(file)) as gateway:
        assert gateway.wait_for("tokens")["file"] == str(file)
        gateway.wait_for("ready")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    made = dict(line.split("=", 1) for line in file.read_text().splitlines()[1:])
    assert made.keys() == {"lead", "worker", "locked"}
    assert len(set(made.values())) == 3
    with serving(home, "--http", "127.0.0.1:0", "--tokens", str(file), "--agent", "worker") as gateway:
        assert gateway.wait_for("ready")["paths"] == {"worker": "/agents/worker"}
        async with over_http(gateway, "worker", token=made["worker"]) as client:
            assert "mcp__main__echo" in await names(client)
        said = "\n".join(line for line in gateway.said if line)
        assert not any(token in said for token in made.values())
    file.chmod(0o640)
    with serving(home, "--http", "127.0.0.1:0", "--tokens", str(file)) as gateway:
        gateway.process.wait(60)
    code, _, said = gateway.stop()
    assert code == 2
    assert f"chmod 600 {file}" in said


@run
async def test_one_agent_that_cannot_start_costs_itself_alone(home):
    file = home.root / "prompts/agents/worker.md"
    file.write_text(file.read_text().replace("'*/*'", "main/no_such_tool"))
    with http(home) as gateway:
        assert gateway.wait_for("refused")["agent"] == "worker"
        assert gateway.wait_for("ready")["paths"].keys() == {"lead", "locked"}
        assert post(gateway, "/agents/worker", TOKENS["worker"]).status_code == 404
        assert post(gateway).status_code == 200
