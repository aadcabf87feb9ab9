import json
import logging
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fake_server import answer
from live_helpers import IMPATIENT, tools

from packbelt.catalog.workspace import ServerSpec
from packbelt.live.secret import Secret
from packbelt.live.servers.failure import CannotStartError
from packbelt.live.servers.remote import _loopback
from packbelt.model import ServerStatus


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        owner = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        owner.requests.append((self.path, dict(self.headers)))
        if owner.respond and (forced := owner.respond(self.path)):
            status, headers = forced
            return self.send(status, headers)
        message = json.loads(body)
        if "id" not in message:
            return self.send(202)
        result = answer(owner.settings, message["method"], message.get("params"))
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "no such method"}
        else:
            reply["result"] = {key: value for key, value in result.items() if value is not None}
        return self.send(200, {"Content-Type": "application/json"}, json.dumps(reply).encode())

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        self.send(405)

    do_DELETE = do_GET

    def send(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in {**dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving(respond=None, **settings):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests, server.respond, server.settings = [], respond, settings
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def address(server, path="/mcp"):
    return f"http://127.0.0.1:{server.server_address[1]}{path}"


def entry(url, **headers):
    return ServerSpec("web", "http", url=url, headers=headers)


@pytest.mark.parametrize("era", ["initialize", "modern"])
def test_both_protocol_eras(meet, era):
    with serving(era=era, tools=tools(70), page=50) as server:
        state = meet(entry(address(server), **{"X-Api-Key": "${KEY}"}), environ={"KEY": "canary"}).servers[
            "web"
        ]
    assert (state.status, state.error) == (ServerStatus.CONNECTED, "")
    assert [tool.name for tool in state.tools] == [f"t{i:03}" for i in range(70)]
    assert {headers.get("X-Api-Key") for _, headers in server.requests} == {"canary"}


def test_the_address_expands_too(meet):
    with serving(tools=tools(1)) as server:
        spec = entry("http://127.0.0.1:${PORT}/${WHERE:-mcp}?key=${KEY}")
        environ = {"PORT": str(server.server_address[1]), "KEY": "canary"}
        state = meet(spec, environ=environ).servers["web"]
    assert (state.error, len(state.tools)) == ("", 1)
    assert {path for path, _ in server.requests} == {"/mcp?key=canary"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_en06_no_redirect_is_followed_to_another_origin(meet, status):
    with serving(tools=tools(1)) as other:
        target = address(other, "/steal?token=x")
        with serving(lambda _: (status, {"Location": target})) as first:
            state = meet(entry(address(first), Authorization="Bearer canary")).servers["web"]
    assert other.requests == []
    assert state.status is ServerStatus.FAILED
    assert state.error == (
        f"answered HTTP {status} with a redirect to http://127.0.0.1:{other.server_address[1]}; "
        "redirects are never followed: write the final address into `url`"
    )


def test_en06_nor_one_within_the_origin(meet):
    with serving(
        lambda path: (307, {"Location": "/mcp/"}) if path == "/mcp" else None, tools=tools(1)
    ) as server:
        state = meet(entry(address(server))).servers["web"]
    assert {path for path, _ in server.requests} == {"/mcp"}
    assert state.error.startswith(f"answered HTTP 307 with a redirect to {address(server, '')};")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.com/x", "http://[broken", "//"])
def test_en06_nor_one_to_another_scheme(meet, target):
    with serving(lambda _: (302, {"Location": target})) as server:
        state = meet(entry(address(server))).servers["web"]
    assert state.error.startswith("answered HTTP 302 with a redirect to ")
    assert "passwd" not in state.error
    assert len(server.requests) == 1


def test_a_redirect_after_the_handshake_is_not_followed_either(meet):
    seen = []

    def later(path):
        seen.append(path)
        return (307, {"Location": "/elsewhere"}) if len(seen) > 2 else None

    with serving(later, era="modern", tools=tools(9), page=1) as server:
        state = meet(entry(address(server))).servers["web"]
    assert state.status is ServerStatus.FAILED
    assert set(seen) == {"/mcp"}


@pytest.mark.parametrize(("status", "line"), [(401, "401 Unauthorized"), (503, "503 Service Unavailable")])
def test_an_http_status_is_told(meet, status, line):
    with serving(lambda _: (status, {})) as server:
        state = meet(entry(address(server))).servers["web"]
    assert state.error == f"answered HTTP {line}"


def test_a_closed_port_is_told(meet):
    with serving() as server:
        url = address(server)
    assert meet(entry(url)).servers["web"].error == "connection refused: nothing listens at its address"


def test_a_server_that_never_answers_is_told(meet):
    waiting = threading.Event()
    with serving(lambda _: waiting.wait(20) and None) as server:
        state = meet(entry(address(server)), times=IMPATIENT).servers["web"]
        waiting.set()
    assert state.error == "did not answer within 0.6 s"


def test_en14_an_empty_credential_sends_nothing(meet):
    with serving(tools=tools(1)) as server:
        spec = entry(address(server), Authorization="Bearer ${TOK}")
        state = meet(spec, environ={"TOK": ""}).servers["web"]
    assert server.requests == []
    assert state.error == (
        "headers.Authorization comes out without its value: ${TOK} is empty; "
        "give TOK a value, or remove the header"
    )


def test_a_proxy_never_sees_a_loopback_request(meet, monkeypatch):
    with serving(tools=tools(1)) as server, serving(lambda _: (502, {})) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, address(proxy, ""))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        state = meet(entry(address(server), Authorization="Bearer canary")).servers["web"]
    assert (state.error, proxy.requests) == ("", [])


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("https://example.com/mcp", False),
        ("https://localhost/mcp", True),
        ("http://localhost:8000/mcp", True),
        ("http://127.9.9.9/mcp", True),
        ("http://[::1]:8000/mcp", True),
    ],
)
def test_tls_or_loopback(url, local):
    assert _loopback(Secret(url)) is local


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/mcp",
        "http://localhost.example.com/mcp",
        "http://127.0.0.1.example.com/mcp",
        "http://127.0.0.1@example.com/mcp",
        "http://0.0.0.0/mcp",
        "ftp://localhost/mcp",
        "https:///mcp",
        "mcp",
        "http://[",
        "",
    ],
)
def test_anything_else_is_refused(url):
    with pytest.raises(CannotStartError):
        _loopback(Secret(url))


def test_en10_no_value_is_logged_or_printed(meet, caplog, capfd):
    environ = {"TOKEN": "canary-header", "KEY": "canary-query"}
    with caplog.at_level(logging.DEBUG), serving(tools=tools(1)) as server:
        spec = entry(address(server, "/mcp?key=${KEY}"), Authorization="Bearer ${TOKEN}")
        assert meet(spec, environ=environ).servers["web"].error == ""
    assert any("key=***" in record.getMessage() for record in caplog.records)
    printed = capfd.readouterr()
    assert "canary" not in caplog.text + printed.out + printed.err


def test_a_failure_prints_nothing_where_logging_is_not_configured():
    script = (
        "import sys; from pathlib import Path; from packbelt.live import connect_now\n"
        "from packbelt.catalog.workspace import Config, ServerSpec, Workspace\n"
        "spec = ServerSpec('web', 'http', url=sys.argv[1])\n"
        "workspace = Workspace(Path('/'), False, Config(), {}, {}, {}, {}, {}, (), (), {})\n"
        "print(connect_now(workspace, [spec]).servers['web'].status)"
    )
    with serving(lambda _: (200, {"Content-Type": "application/json"})) as server:
        command = [sys.executable, "-c", script, address(server)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (run.stdout, run.stderr) == ("failed\n", "")
