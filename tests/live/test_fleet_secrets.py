"""No value of a secret in anything that packbelt says, keeps or shows, whatever goes wrong.

A canary stands in every place where a definition may hold a secret. After each way in which a server can fail,
everything that is said of it is searched. Where the line is drawn: what a server answers to a call is its own
result, and goes to the model as the server gave it; its copies in events and spans are masked.
"""

import io
import json
import logging
import os
import socket
import threading
import time
import traceback
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest
from fleet_world import agent_file, call, opened, place, server
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import packbelt
from packbelt import ToolCall
from packbelt.live.environment import resolve
from packbelt.live.observe.events import EventLog
from packbelt.live.observe.spans import Spans
from packbelt.live.secret import Secret
from packbelt.live.servers.tokens import Account, FileStore, Grant

FAULTY = Path(__file__).with_name("faulty_server.py")
LITERAL = "canaryliteral93"
NAMES = ("ENVIRONMENT", "ARGUMENT", "QUERY", "PATHPART", "HEADER")
CORES = {name: f"canary{name.lower()}71" for name in NAMES}
CONFIG = "orchestrator: boss\ntimes: {start: 5, list: 5, call: 5, shutdown: 1}\n"


def values(shape):
    """Each canary as it is, or among characters that other spellings escape."""
    if shape == "plain":
        return CORES
    return {
        name: f"p%25/{core}+&=~{core}" if name == "PATHPART" else f"a\"b'c\\ %{core}&+={{{core}"
        for name, core in CORES.items()
    }


class Echoing(BaseHTTPRequestHandler):
    """MCP over HTTP that gives back all that it was asked with, in one wrong way or another."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: C901, PLR0912 - one case for each way to go wrong
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = json.dumps({"path": self.path, "headers": dict(self.headers)})
        self.server.seen.append(told)
        if self.path.startswith("/token"):
            return self.reply(200, json.dumps({"access_token": ["canaryaccess71"], "token_type": told}))
        params = message.get("params") or {}
        way = self.server.way if message["method"] == self.server.when else ""
        if message["method"] == "tools/call":
            way = params["name"]
        match way:
            case "401" | "403" | "500":
                scheme = f'Bearer realm="{self.headers.get("Authorization", "")}"'
                return self.reply(int(way), told, {"WWW-Authenticate": scheme})
            case "redirect":
                return self.reply(
                    307, told, {"Location": f"{self.path}&token={self.headers.get('Authorization', '')}"}
                )
            case "elsewhere":
                return self.reply(
                    302,
                    told,
                    {
                        "Location": f"https://example.invalid{self.path}#{self.headers.get('Authorization', '')}"
                    },
                )
            case "error":
                return self.answer(message, error={"code": -32000, "message": f"error: {told}"})
            case "late_error":
                pad = "x" * (200 - len('did not answer: ,{"path": "/') - 14)
                return self.answer(message, error={"code": -32000, "message": pad + self.path})
            case "garbage":
                return self.reply(200, f'{{"jsonrpc": {told}')
            case "page":
                return self.reply(200, told, {"Content-Type": "text/html"})
            case "stream":
                return self.reply(
                    200, f"event: message\ndata: {{{told}\n\n", {"Content-Type": "text/event-stream"}
                )
            case "silent":
                time.sleep(1)
                return self.drop()
            case "drop":
                return self.drop()
            case "result":
                return self.answer(
                    message, result={"content": [{"type": "text", "text": told}], "isError": True}
                )
            case "no_result":
                return self.answer(message, result={"content": told})
        if "id" not in message:
            return self.reply(202, "")
        calls = [
            "error",
            "late_error",
            "result",
            "no_result",
            "garbage",
            "page",
            "stream",
            "401",
            "403",
            "500",
            "redirect",
            "elsewhere",
            "drop",
            "silent",
        ]
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in calls]
        info = {"name": "echoing", "version": "1"}
        known = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            },
            "tools/list": {"tools": tools},
        }
        if message["method"] not in known:
            return self.answer(message, error={"code": -32601, "message": "no such method"})
        return self.answer(message, result=known[message["method"]])

    def do_GET(self):
        self.reply(405, "")

    do_DELETE = do_GET

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def answer(self, message, **what):
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **what}))

    def reply(self, status, text, headers=()):
        body = text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            **dict(headers),
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def echoing():
    with ThreadingHTTPServer(("127.0.0.1", 0), Echoing) as http:
        http.seen, http.way, http.when, http.daemon_threads = [], "", "", True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield http
        http.shutdown()
        thread.join()


class Everything:
    """All that was said: logs, events, spans, errors, prints and records."""

    def __init__(self, tmp_path, cores):
        self.tmp_path, self.cores, self.texts = tmp_path, set(cores), []
        self.log, self.handler = io.StringIO(), None

    def say(self, where, text):
        self.texts.append((where, text if isinstance(text, str) else repr(text)))

    def error(self, error):
        """An exception, with the locals of every frame that is not a test's."""
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        waiting = [told]
        while waiting:
            one = waiting.pop()
            one.stack[:] = [frame for frame in one.stack if "/tests/" not in frame.filename]
            waiting += [inner for inner in (one.__cause__, one.__context__, *(one.exceptions or ())) if inner]
        self.say("traceback", "".join(told.format()))
        self.say("error", f"{error} {error!r} {vars(error)}")

    def assert_nothing(self):
        self.say("logs", self.log.getvalue())
        for file in self.tmp_path.rglob("runs.sqlite3*"):
            if file.is_file():
                self.say(file.name, file.read_bytes().decode("latin-1"))
        found = {}
        for where, text in self.texts:
            for core in self.cores:
                if (at := text.find(core)) >= 0:
                    found.setdefault((where, core), text[max(at - 120, 0) : at + len(core) + 20])
        assert not found, "\n".join(f"{where}: {text!r}" for (where, _), text in found.items())


@pytest.fixture
def everything(tmp_path, capfd):
    """Collects; at the end of the test all of it is searched."""
    collected = Everything(tmp_path, [*CORES.values(), LITERAL])
    root = logging.getLogger()
    handler = logging.StreamHandler(collected.log)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
    changed = [(root, root.level)]
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    for name in list(logging.Logger.manager.loggerDict):
        logger = logging.getLogger(name)
        changed.append((logger, logger.level))
        logger.setLevel(logging.DEBUG)
    yield collected
    root.removeHandler(handler)
    for logger, level in changed:
        logger.setLevel(level)
    out, err = capfd.readouterr()
    collected.say("stdout", out)
    collected.say("stderr", err)
    collected.assert_nothing()
    assert collected.log.getvalue()  # it did listen


@contextmanager
def tracing():
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    try:
        yield provider, exporter
    finally:
        provider.shutdown()


def definitions(pids, echoing, *, fault="", more=()):
    stdio = server(
        pids,
        "echo",
        "env",
        "fail",
        env={"TOKEN": "${ENVIRONMENT}", "SET": LITERAL, **({"FAULT": fault} if fault else {})},
    )
    stdio["args"] = ["-S", str(FAULTY), *stdio["args"][2:], *more, "--key=${ARGUMENT}"]
    url = f"http://127.0.0.1:{echoing.server_address[1]}/${{PATHPART}}/mcp?key=${{QUERY}}"
    return {
        "piped": stdio,
        "remote": {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${HEADER}"}},
    }


def environment(tmp_path, shape):
    home = {
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
    }
    return {**home, **values(shape)}


async def work(everything, workspace, environ, calls, *, ready=None):
    """Open a fleet, look at all of it, make the calls, and look again."""
    file = everything.tmp_path / "runs.sqlite3"
    events = io.StringIO()
    log = EventLog(events, arguments=True)
    listened = []
    with tracing() as (provider, exporter):
        try:
            async with opened(workspace, environ=environ, runs=file, events=log) as fleet:
                fleet._observer.spans = Spans(provider, content=True)
                fleet.subscribe(lambda: listened.append(fleet.snapshot))
                async with fleet.agent("boss", request="go") as boss:
                    turn = await boss.turn()
                    if ready:
                        await ready(fleet)
                    look(everything, fleet, boss, turn)
                    results = await turn.run(
                        [ToolCall(str(n), name, arguments) for n, (name, arguments) in enumerate(calls)]
                    )
                    for result in results:
                        everything.say("detail", result.answer.detail)
                        if not result.answer.content:
                            everything.say("answer", result.text)
                    look(everything, fleet, boss, await boss.turn())
                    return results
        except Exception as error:
            everything.error(error)
            raise
        finally:
            everything.say("events", events.getvalue())
            for span in exporter.get_finished_spans():
                everything.say("span", span.to_json())
            for snapshot in listened:
                everything.say("snapshot", json.dumps(snapshot.to_data()))


def look(everything, fleet, agent, turn):
    """Everything that can be printed of a fleet."""
    spec = fleet.workspace.servers
    shown = [
        fleet,
        agent,
        turn,
        fleet.snapshot,
        fleet._servers.settings,
        fleet.asking,
        fleet.runs,
        fleet.workspace,
        *spec.values(),
    ]
    shown += [agent.scope, agent._record, agent.messages, turn.belt, fleet._observer]
    for name in spec:
        connection = fleet._connection(name)
        shown.append(connection)
        if connection is not None and connection._life is not None:
            life = connection._life
            shown += [life, life.resolved, life.witness, life.sender, life.askers]
    for one in shown:
        everything.say(f"repr of {type(one).__name__}", repr(one))
        everything.say(f"format of {type(one).__name__}", f"{one}")
    everything.say("snapshot", json.dumps(fleet.snapshot.to_data()))
    everything.say("prompt", turn.prompt)
    everything.say("diagnostics", turn.diagnostics)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status, argv = (process / "stat").read_text(), (process / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if int(status.rpartition(")")[2].split()[1]) == os.getpid() and "faulty_server" not in argv:
            everything.say("argv", argv)


@pytest.fixture
def world(tmp_path, pids, echoing, nothing_left):
    def make(*, fault="", more=()):
        agents = {"boss": agent_file("boss")}
        return place(
            tmp_path / "w",
            servers=definitions(pids, echoing, fault=fault, more=more),
            agents=agents,
            config=CONFIG,
        )

    return make


@pytest.mark.parametrize("shape", ["plain", "spelled otherwise"])
def test_en09_en10_no_secret_of_a_server_that_works_is_in_argv_logs_or_prints(
    world, everything, tmp_path, echoing, shape
):
    environ = environment(tmp_path, shape)
    given = {"token": environ["ENVIRONMENT"], "list": [{environ["HEADER"]: environ["QUERY"]}]}
    calls = [
        ("mcp__piped__echo", given),  # its result goes to the model as it is; its copies do not show it
        ("mcp__piped__echo", json.dumps(given)),
        ("mcp__piped__env", {}),
        ("mcp__piped__fail", {}),
        ("mcp__remote__result", {}),
        (environ["HEADER"], given),
        ("mcp__piped__echo", f"no json {environ['HEADER']}"),
    ]

    async def main():
        results = await work(everything, world(), environ, calls)
        assert [result.outcome for result in results[:5]] == ["ok", "ok", "ok", "tool_error", "tool_error"]
        assert CORES["ENVIRONMENT"] in results[0].text  # it did get there
        assert CORES["HEADER"] in results[4].text

    anyio.run(main)


@pytest.mark.parametrize("shape", ["plain", "spelled otherwise"])
@pytest.mark.parametrize("when", ["initialize", "tools/list"])
@pytest.mark.parametrize(
    "way", ["401", "500", "redirect", "elsewhere", "error", "late_error", "garbage", "page", "stream", "drop"]
)
def test_a_server_over_http_that_does_not_start(world, everything, tmp_path, echoing, way, when, shape):  # noqa: PLR0917 - fixtures
    echoing.way, echoing.when = way, when
    environ = environment(tmp_path, shape)
    workspace = world()
    text = (workspace.root / "packbelt.yaml").read_text().replace("start: 5, list: 5", "start: 1, list: 1")
    (workspace.root / "packbelt.yaml").write_text(text)
    workspace = packbelt.load(workspace.root)

    async def main():
        results = await work(everything, workspace, environ, [("mcp__remote__result", {})])
        assert results[0].outcome == "rejected"

    anyio.run(main)
    assert any(CORES["HEADER"] in told for told in echoing.seen)


@pytest.mark.parametrize("shape", ["plain", "spelled otherwise"])
def test_calls_over_http_that_fail(world, everything, tmp_path, echoing, shape):
    ways = [
        "error",
        "late_error",
        "no_result",
        "garbage",
        "page",
        "stream",
        "401",
        "403",
        "500",
        "redirect",
        "elsewhere",
        "drop",
        "silent",
    ]
    environ = environment(tmp_path, shape)
    workspace = world()
    config = (workspace.root / "packbelt.yaml").read_text().replace("call: 5", "call: 0.7")
    (workspace.root / "packbelt.yaml").write_text(config)
    workspace = packbelt.load(workspace.root)

    async def main():
        results = await work(everything, workspace, environ, [(f"mcp__remote__{way}", {}) for way in ways])
        assert "ok" not in {result.outcome for result in results}
        for result in results:
            everything.say("packbelt's own words for a failed call", result.text)

    anyio.run(main)


@pytest.mark.parametrize("shape", ["plain", "spelled otherwise"])
@pytest.mark.parametrize("pad", [0, 60, 100, 120, 140, 150, 160, 170])
def test_a_server_that_prints_its_environment_when_it_fails(world, everything, tmp_path, pad, shape):
    environ = environment(tmp_path, shape)
    workspace = world(fault="leaks", more=["x" * pad])

    async def main():
        await work(everything, workspace, environ, [("mcp__piped__echo", {})])

    # Nor a part of one, where its words are cut.
    everything.cores |= {core[:10] for core in CORES.values()}
    anyio.run(main)


def test_one_whose_definition_cannot_be_filled_in(world, everything, tmp_path):
    environ = environment(tmp_path, "plain")
    environ["HEADER"] += "\nX-Other: 1"
    del environ["QUERY"]
    environ["ARGUMENT"] += "\0"

    async def main():
        await work(everything, world(), environ, [("mcp__piped__echo", {})])

    anyio.run(main)
    for name in ("piped", "remote"):
        try:
            found = resolve(world().servers[name], environ)
        except packbelt.PackbeltError as error:
            everything.error(error)
        else:
            everything.say("resolved", f"{found} {found!r} {found.args} {dict(found.env)} {found.headers}")


@pytest.mark.parametrize("agent", ["missing", "boss"])
def test_what_a_host_sees_when_its_own_code_fails(world, everything, tmp_path, agent):
    environ = environment(tmp_path, "plain")
    workspace = world()

    async def main():
        async with opened(workspace, environ=environ, elicit=None) as fleet, fleet.agent(agent) as boss:
            await call(boss, "mcp__piped__echo")
            raise ValueError("mine")

    with pytest.raises((ValueError, packbelt.PackbeltError)) as caught:
        anyio.run(main)
    everything.error(caught.value)


def test_a_postgresql_url(world, everything, tmp_path):
    pytest.importorskip("psycopg")
    workspace = world()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    urls = [
        f"postgresql://me:{CORES['HEADER']}@127.0.0.1:{port}/db?connect_timeout=1",
        f"postgresql://me:{CORES['HEADER']}@no%20host:x/db",
        f"mysql://me:{CORES['HEADER']}@127.0.0.1/db",
        f"postgresql://127.0.0.1:{port}/db?password={CORES['HEADER']}",
    ]
    for url in urls:

        async def main(url=url):
            async with packbelt.open(workspace, trust=True, runs=url):
                pytest.fail("nothing is there")

        with pytest.raises(packbelt.PackbeltError) as caught:
            anyio.run(main)
        everything.error(caught.value)
        everything.say("repr", repr(packbelt.open(workspace, trust=True, runs=url)))
    logging.getLogger("packbelt").debug("asked %d times", len(urls))


@pytest.mark.parametrize("way", ["error", "401", "403", "500", "garbage", "stream", "redirect"])
@pytest.mark.parametrize("when", ["initialize", "tools/list", "tools/call"])
def test_tokens_that_a_server_gives_back(tmp_path, everything, echoing, nothing_left, way, when):  # noqa: PLR0917 - fixtures
    base = f"http://127.0.0.1:{echoing.server_address[1]}"
    tokens = {"access": "canaryaccess71", "refresh": "canaryrefresh71", "secret": "canaryclient71"}
    everything.cores |= set(tokens.values())
    workspace = place(
        tmp_path / "w",
        servers={"remote": {"type": "http", "url": f"{base}/mcp"}},
        agents={"boss": agent_file("boss")},
        config=CONFIG,
    )
    environ = environment(tmp_path, "plain")
    grant = Grant(
        tokens=OAuthToken(access_token=tokens["access"], refresh_token=tokens["refresh"], expires_in=3600),
        expires_at=time.time() + 3600,
        client=OAuthClientInformationFull(
            client_id="me", client_secret=tokens["secret"], redirect_uris=[f"{base}/back"]
        ),
        metadata=OAuthMetadata(
            issuer=base, authorization_endpoint=f"{base}/authorize", token_endpoint=f"{base}/token"
        ),
    )
    store = FileStore(Path(environ["XDG_CONFIG_HOME"]) / "packbelt" / "tokens.json")
    store.put(Account("remote", workspace.root.resolve(), Secret(f"{base}/mcp")), grant)
    echoing.way, echoing.when = (way, when) if when != "tools/call" else ("", "")

    async def main():
        calls = [(f"mcp__remote__{way}", {})]
        results = await work(everything, workspace, environ, calls)
        everything.say("packbelt's own words for a failed call", results[0].text)

    anyio.run(main)
    assert any(tokens["access"] in told for told in echoing.seen)
