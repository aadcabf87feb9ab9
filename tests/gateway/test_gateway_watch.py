"""`packbelt serve --watch`: a saved file is another list at the next look, told to a real MCP client."""

import json
from contextlib import asynccontextmanager

import anyio
import mcp_types as t
from gateway_helpers import http, names, over_http, run, serving, text_of, until
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


class Said:
    """Standard error of a gateway that a client started, in a file as clients keep it."""

    def __init__(self, path):
        self.path = path

    def about(self, words):
        return [line for line in self.path.read_text().splitlines() if words in line]


@asynccontextmanager
async def watched(home, said, told):
    command, *args = home.command("--agent", "lead", "--watch")
    server = StdioServerParameters(command=command, args=args, env=home.environment())

    async def hear(message):
        told.append(type(message))

    with said.path.open("w") as errors:
        transport = stdio_client(server, errlog=errors)
        client = Client(transport, mode="legacy", read_timeout_seconds=60, cache=None, message_handler=hear)
        async with client:
            yield client


def changes(told):
    return told.count(t.ToolListChangedNotification)


@run
async def test_edited_broken_and_mended_while_a_client_is_connected(home, tmp_path):
    said, told = Said(tmp_path / "said"), []
    async with watched(home, said, told) as client:
        assert "mcp__main__echo" in await names(client)
        assert "mcp__boxed__echo" not in await names(client)

        home.configure("boxed: {exposure: packed}", "boxed: {exposure: direct}")
        await until(lambda: changes(told) == 1)
        assert "mcp__boxed__echo" in await names(client)
        assert text_of(await client.call_tool("mcp__boxed__echo", {"text": "now"})) == "now"

        home.configure("boxed: {exposure: direct}", "boxed: {exposure: directly}")
        await until(lambda: said.about("stays in force"))
        (line,) = said.about("stays in force")
        assert line.startswith("packbelt: packbelt.yaml:7: ")
        assert "directly" in line
        assert "mcp__boxed__echo" in await names(client)

        home.configure("boxed: {exposure: directly}", "boxed: {exposure: direct}")
        await until(lambda: said.about("load again"))
        assert changes(told) == 1  # it is the list that it was
        home.configure("deny: [main/forbidden]", "deny: [main/forbidden, main/echo]")
        await until(lambda: changes(told) == 2)
        assert "mcp__main__echo" not in await names(client)
        assert "denied" in text_of(await client.call_tool("mcp__main__echo", {"text": "x"}))
    assert len(said.about("stays in force")) == 1
    assert len(said.about("load again")) == 1


@run
async def test_a_word_of_trust_is_not_for_what_the_files_are_changed_to(home, tmp_path):
    told, started = [], tmp_path / "started"
    said = Said(tmp_path / "said")
    async with watched(home, said, told) as client:
        assert "mcp__main__echo" in await names(client)
        home.servers["boxed"] = {"command": "touch", "args": [str(started)]}
        home.servers["fresh"] = {"command": "touch", "args": [str(started)]}
        (home.root / ".mcp.json").write_text(json.dumps({"mcpServers": home.servers}))
        await until(lambda: said.about("not trusted"))
        (line,) = said.about("not trusted")
        assert "boxed, fresh" in line
        assert "mcp__main__echo" in await names(client)
    assert not started.exists()


@run
async def test_over_http_the_next_list_is_the_new_one(home):
    with http(home, "--watch") as gateway:
        async with over_http(gateway) as client, client.listen(tools_list_changed=True) as heard:
            assert "mcp__boxed__echo" not in await names(client)
            home.configure("boxed: {exposure: packed}", "boxed: {exposure: direct}")
            with anyio.fail_after(30):
                async for _ in heard:
                    break
            assert "mcp__boxed__echo" in await names(client)
            (home.root / "packbelt.yaml").write_text("servers: [\n")
            assert "packbelt.yaml" in gateway.wait_for("broken")["problem"]
            assert "mcp__boxed__echo" in await names(client)


def test_it_ends_as_ever_on_a_signal(home):
    with serving(home, "--agent", "lead", "--watch") as gateway:
        gateway.wait_for("ready")
        code, out, _ = gateway.stop()
    assert (code, out) == (0, "")
