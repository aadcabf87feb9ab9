import functools
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).parent
UPSTREAM = HERE / "upstream.py"
PACKBELT = [sys.executable, "-m", "packbelt"]
MODES = ("auto", "legacy")
AGENTS = {
    "lead": "name: lead\ndescription: Leads.\ntools: ['*']\ndelegates: [worker, locked]",
    "worker": "name: worker\ndescription: Does the work.\nhandoff: ask_worker\ntools: ['*/*']",
    "locked": "name: locked\ndescription: Keeps the vault.\nhandoff: ask_locked\ntools: ['vault/*']",
}
CONFIG = """
orchestrator: lead
approve: [main/guarded]
deny: [main/forbidden]
servers:
  main: {exposure: direct}
  boxed: {exposure: packed}
  vault: {access: owners, owners: [locked], exposure: direct}
times: {start: 20, list: 20, call: 20, shutdown: 2}
"""
TOOLS = ["echo", "fails", "picture", "guarded", "forbidden", "ask", "slow", "grow"]


class Home:
    """A workspace with servers, as a user would have it."""

    def __init__(self, root):
        self.root = root
        self.pids = root / "pids"
        self.log = root / "log"
        self.trusted = True
        (root / "prompts/agents").mkdir(parents=True)
        (root / "packbelt.yaml").write_text(CONFIG)
        for name, front in AGENTS.items():
            body = f"You are {name}.\n\n{{{{ sections.connected_mcp_servers }}}}\n"
            (root / f"prompts/agents/{name}.md").write_text(f"---\n{front}\n---\n{body}")
        self.servers = {}
        self.server("main", tools=TOOLS)
        self.server("boxed", tools=["echo"])
        self.server("vault", tools=["echo"])

    def server(self, name, **config):
        config |= {"pids": str(self.pids), "log": str(self.log)}
        self.servers[name] = {"command": sys.executable, "args": ["-S", str(UPSTREAM), json.dumps(config)]}
        (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": self.servers}))

    def configure(self, before, after):
        """Change a line of the configuration."""
        text = (self.root / "packbelt.yaml").read_text()
        assert before in text
        (self.root / "packbelt.yaml").write_text(text.replace(before, after))

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PACKBELT")}
        return {
            **kept,
            "XDG_CONFIG_HOME": str(self.root / ".config"),
            "XDG_STATE_HOME": str(self.root / ".state"),
            **more,
        }

    def command(self, *options):
        trust = ["--trust"] if self.trusted else []
        return [
            *PACKBELT,
            "serve",
            "-w",
            str(self.root),
            *trust,
            "--runs",
            str(self.root / "runs.db"),
            *options,
        ]

    def logged(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@asynccontextmanager
async def stdio(home, *options, agent="lead", mode="auto", **client):
    command, *args = home.command("--agent", agent, *options)
    server = StdioServerParameters(command=command, args=args, env=home.environment())
    async with Client(server, mode=mode, read_timeout_seconds=60, cache=None, **client) as connected:
        yield connected


TOKENS = {name: f"canary-{name}-0123456789" for name in AGENTS}
IN_ENVIRONMENT = ",".join(f"{name}={token}" for name, token in TOKENS.items())


class Gateway:
    """`packbelt serve` in a process of its own, and what it says on standard error."""

    def __init__(self, home, *options, **environ):
        self.home = home
        self.process = subprocess.Popen(
            home.command("--json", *options),
            env=home.environment(**environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.said = []
        self._ended = None
        self._came = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self):
        for line in self.process.stderr:
            with self._came:
                self.said.append(line.decode().rstrip("\n"))
                self._came.notify_all()
        with self._came:
            self.said.append(None)
            self._came.notify_all()

    def wait_for(self, event):
        """The line of an event."""
        with self._came:
            assert self._came.wait_for(lambda: self._found(event) or None in self.said, 60), self.said
        found = self._found(event)
        assert found, self.said
        return found

    def _found(self, event):
        lines = [json.loads(line) for line in self.said if line and line.startswith("{")]
        return next((line for line in lines if line["event"] == event), None)

    def url(self, agent):
        ready = self.wait_for("ready")
        return ready["url"] + ready["paths"][agent]

    def stop(self, number=signal.SIGTERM):
        """Its exit code, and all that it said on standard output and standard error; once is enough."""
        if self._ended is None:
            if self.process.poll() is None:
                self.process.send_signal(number)
            out = self.process.stdout.read().decode()
            self._reading.join(30)
            code = self.process.wait(30)
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                stream.close()
            self._ended = code, out, "\n".join(line for line in self.said if line)
        return self._ended


@contextmanager
def serving(home, *options, **environ):
    gateway = Gateway(home, *options, **environ)
    try:
        yield gateway
    finally:
        gateway.stop()


@contextmanager
def http(home, *options, **environ):
    with serving(
        home, "--http", "127.0.0.1:0", *options, **{"PACKBELT_SERVE_TOKENS": IN_ENVIRONMENT, **environ}
    ) as gateway:
        gateway.wait_for("ready")
        yield gateway


@asynccontextmanager
async def over_http(gateway, agent="lead", mode="auto", token=None, **client):
    headers = {"Authorization": f"Bearer {token or TOKENS[agent]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
        transport = streamable_http_client(gateway.url(agent), http_client=web)
        async with Client(transport, mode=mode, read_timeout_seconds=60, cache=None, **client) as connected:
            yield connected


def run(test):
    """An async test in an event loop of its own."""

    @functools.wraps(test)
    def wrapped(*args, **kwargs):
        async def bounded():
            with anyio.fail_after(120):  # a hang guard
                await test(*args, **kwargs)

        anyio.run(bounded)

    return wrapped


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def until(condition):
    with anyio.fail_after(30):
        while not condition():
            await anyio.sleep(0.01)


def alive(home):
    """The servers behind the gateway that are still running."""
    started = [int(line) for line in home.pids.read_text().split()] if home.pids.exists() else []
    return [pid for pid in started if not gone(pid)]


def gone(pid):
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
