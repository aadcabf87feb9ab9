"""Connections to servers that other people wrote, in both protocol eras."""

import asyncio
import json
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from live_helpers import call, connected, text, until
from mcp import Client

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.live.servers import life
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

pytestmark = pytest.mark.usefixtures("nothing_left")
SLOW = Times(start=60, list=60, call=60, shutdown=5)
SDK = Path(__file__).with_name("sdk_server.py")


@pytest.fixture(params=["auto", "legacy"])
def mode(request, monkeypatch):
    monkeypatch.setattr(life, "Client", partial(Client, mode=request.param))
    return request.param


def test_the_time_server(mode):
    del mode
    spec = ServerSpec(
        "time", "stdio", command=sys.executable, args=("-m", "mcp_server_time", "--local-timezone", "UTC")
    )

    async def run():
        async with connected(spec, times=SLOW) as connection:
            assert connection.state.names == ("convert_time", "get_current_time")
            good = await call(connection, "get_current_time", timezone="UTC")
            assert (good.outcome, json.loads(text(good))["timezone"]) == (Outcome.OK, "UTC")
            bad = await call(connection, "get_current_time", timezone="No/Where")
            assert bad.outcome is Outcome.TOOL_ERROR
            assert "No/Where" in text(bad)

    asyncio.run(run())


async def grows(spec):
    async with connected(spec, times=SLOW) as connection:
        assert connection.state.names == ("add", "grow")
        answer = await call(connection, "add", a=1, b=2)
        assert (text(answer), answer.structured) == ("3", {"result": 3})
        assert text(await call(connection, "grow", name="new")) == "added new"
        await until(lambda: connection.state.names == ("add", "grow", "new"))
        assert text(await call(connection, "new")) == "new"


def test_lc07_the_sdks_server_over_a_pipe(mode):
    del mode
    asyncio.run(grows(ServerSpec("sdk", "stdio", command=sys.executable, args=(str(SDK), "stdio"))))


def test_lc07_the_sdks_server_over_http(mode):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spec = ServerSpec("sdk", "http", url=f"http://127.0.0.1:{port}/mcp")

    async def run():
        async with connected(spec, times=SLOW) as waiting:  # before it is there
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            with subprocess.Popen([sys.executable, str(SDK), str(port)], **quiet) as server:
                try:
                    await until(lambda: waiting.state.status is ServerStatus.CONNECTED)
                    await grows(spec)
                    if mode == "auto":  # a server of the older era tells the session alone that asked
                        await until(lambda: waiting.state.names == ("add", "grow", "new"))
                finally:
                    server.kill()

    asyncio.run(run())
