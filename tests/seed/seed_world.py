"""The embedded workspace at work: a copy on disk, real repositories, a registry, servers, and the turns of all.

Nothing stands in for anything between the orchestrator's first turn and the disk: belts, gate, relay, hand-offs,
git, processes and files are the real ones. Models alone are scripted.
"""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from specialist_scripts import SCRIPTS, Following

import packbelt
from packbelt import toolkits
from packbelt.evals import Ended, Made, Reply, Trace, bound, classify
from packbelt.evals.bound import is_web, owners
from packbelt.evals.models.model import Request

ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).with_name("logging_server.py")
KEY = "key-of-the-weather"
STEPS, REPEATS = 12, 3

TIME = "2026.10.19"
_PYPI = {"registryType": "pypi", "runtimeHint": "uvx", "transport": {"type": "stdio"}}


def entries(log):
    """What the registry serves, in the form of its schema of 2025-12-11."""
    key = {"name": "WEATHER_KEY", "description": "Key", "isRequired": True, "isSecret": True}
    arguments = [{"type": "positional", "value": str(log)}, {"type": "positional", "value": "weather"}]
    weather = {"identifier": "weather-mcp", "version": "1.2.0", "packageArguments": arguments}
    weather["environmentVariables"] = [key]
    zone = [{"type": "named", "name": "--local-timezone", "value": "UTC"}]
    time = {"identifier": "mcp-server-time", "version": TIME, "packageArguments": zone}
    made = {
        "io.github.forecasts/weather": ("Weather forecasts", weather),
        "io.github.modelcontextprotocol/time": ("Time and time zones", time),
    }
    return {
        name: {"name": name, "description": text, "version": of["version"], "packages": [{**_PYPI, **of}]}
        for name, (text, of) in made.items()
    }


@contextmanager
def serving_registry(listed):
    """A loopback registry that speaks version 0.1 of the API."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            words = parts.path.split("/")
            if len(words) == 6:
                self.answer({"server": listed[unquote(words[3])], "_meta": {}})
            else:
                asked = parse_qs(parts.query).get("search", [""])[0]
                found = [{"server": one, "_meta": {}} for name, one in listed.items() if asked in name]
                self.answer({"servers": found, "metadata": {"count": len(found)}})

        def answer(self, body):
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_repository(folder, files):
    """A git repository with one commit."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_GLOBAL": os.devnull}
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "work"]):
        subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True)
    return folder


class World:
    """One copy of the workspace and everything around it.

    Args:
        folder: where it all lies.
        repositories: of skills, by name.
        registry: the registry's address.
        change: what is put back into the files before they are read, given the copy's root.
        layout: what is put back into the workspace whenever it has been read.
    """

    def __init__(self, folder, repositories, registry, *, change=None, layout=lambda workspace: workspace):
        self.root, self.log = folder / "workspace", folder / "server.log"
        for name in ("packs", "prompts", "evals"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("bench"))
        config = (ROOT / "packbelt.yaml").read_text()
        (self.root / "packbelt.yaml").write_text(config.replace("start: 15 ", "start: 60 "))
        uuid = {"command": sys.executable, "args": ["-S", str(SERVER), str(self.log), "uuid"]}
        (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"uuid": uuid}}))
        if change:
            change(self.root)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "uvx").write_text(_UVX.format(python=sys.executable, server=SERVER, time=TIME))
        (programs / "uvx").chmod(0o755)
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environ = {"PATH": path, "HOME": str(folder), "WEATHER_KEY": KEY}
        self.layout = layout
        self.tools = [
            *toolkits.skills(
                self.root,
                sources=[toolkits.git(name, str(place)) for name, place in repositories.items()],
                cache=folder / "cache",
                changed=self._reload,
            ),
            *toolkits.shell(self.root),
            *toolkits.mcp_registry(self.root, registry=registry, environ=self.environ, changed=self._reload),
            web_search_tool,
        ]
        self.workspace = self._load()
        self.approvals, self.events, self.answers = [], [], {}

    def _load(self):
        return self.layout(packbelt.load(self.root, tools=self.tools))

    async def _reload(self):
        await packbelt.caller().agent.fleet.reload(self._load())

    def approve(self, approval):
        self.approvals.append(approval)
        return True

    async def play(self, case, model):
        """A case from the orchestrator's first turn to its end, and the verdict on it."""
        one = bound(self.workspace, case)
        options = {"trust": True, "environ": self.environ, "runs": ":memory:", "approve": self.approve}
        options["events"] = self.events.append
        async with packbelt.open(self.workspace, run=self.run, **options) as fleet:
            async with fleet.agent(case.agent, request=case.request) as agent:
                trace = await turns(agent, model.begin(one), case.request)
            self.states = dict(fleet.snapshot.servers)
        return classify(one.expected, trace), trace

    async def run(self, agent, request):
        """The host's loop for whoever is handed to: a specialist's own turns, by its own script."""
        trace = await turns(agent, Following(SCRIPTS[agent.name], request), request)
        said = self.answers[agent.name] = trace.replies[-1].text
        return said

    # what is on the disk --------------------------------------------------------------------------------

    @property
    def skills(self):
        """Installed skills by name, each with its files."""
        folders = sorted(self.root.glob("skills/*/SKILL.md"))
        return {
            one.parent.name: {path.relative_to(one.parent).as_posix() for path in one.parent.rglob("[!.]*.*")}
            for one in folders
        }

    @property
    def servers(self):
        """The entries of `.mcp.json`."""
        return json.loads((self.root / ".mcp.json").read_text())["mcpServers"]

    @property
    def logged(self):
        """What the servers wrote into their log themselves."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def called(self):
        """Agent path and tool of every call of a server's tool, as the event log has it."""
        calls = (one for one in self.events if one.kind == "call")
        return [(one.agent, one.tool) for one in calls if one.tool.startswith("server:")]


async def turns(agent, mind, request):
    """Turn by turn: the belt as it is now, the request in a provider's form, its calls through the gate."""
    messages, replies, made = [{"role": "user", "content": request}], [], Counter()
    for _ in range(STEPS):
        turn = await agent.turn()
        form = turn.compile("openai-chat", strict=False)
        tools = tuple(form.kwargs.get("tools", ()))
        message = await mind.reply(Request(tools, ({"role": "system", "content": form.system}, *messages)))
        calls = form.calls(message)
        results = await turn.run(calls)
        names = tuple(tool["function"]["name"] for tool in tools)
        replies.append(Reply(names, form.text(message), tuple(_made(turn, one) for one in results)))
        if not calls:
            return Trace(tuple(replies), Ended.ANSWERED)
        messages += [message, *form.results(results)]
        made.update((one.name, json.dumps(one.arguments, sort_keys=True)) for one in calls)
        if max(made.values()) >= REPEATS:
            return Trace(tuple(replies), Ended.REPEATED)
    return Trace(tuple(replies), Ended.STEPS)


def _made(turn, result):
    registry = turn.belt.registry
    i = None if result.tool is None else registry.locate(result.tool)
    tool = None if i is None else registry.tools[i]
    return Made(
        name=result.call.name,
        arguments=result.call.arguments,
        tool=None if tool is None else str(tool.id),
        target=None if tool is None else tool.target,
        owners=() if i is None else owners(registry, i),
        web=tool is not None and is_web(tool),
        refused=result.hint.kind if result.hint else None,
        outcome=result.outcome,
        answer=result.text,
    )


async def web_search_tool(
    query: str, max_results: int = 8, recency: str | None = None, site: str | None = None
) -> str:
    """Searches the public web."""
    return f"Nothing on {query!r}."


_UVX = """#!/bin/sh
package="$1"
shift
case "$package" in
  weather-mcp@1.2.0) exec {python} -S {server} "$@" ;;
  mcp-server-time@{time}) exec {python} -m mcp_server_time "$@" ;;
esac
exit 9
"""
