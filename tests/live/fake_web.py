"""An MCP server over streamable HTTP on the standard library alone, whose tools fail in every way HTTP has."""

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fake_server import answer, complete

from packbelt.catalog.workspace import ServerSpec


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        web = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        web.received.append(body)
        method, params = body.get("method"), body.get("params") or {}
        session = {}
        if web.config.get("sessions"):
            if method == "initialize":
                session = {"Mcp-Session-Id": f"s{len(web.sessions)}-{id(web)}"}
                web.sessions.add(session["Mcp-Session-Id"])
            elif self.headers.get("Mcp-Session-Id") not in web.sessions:
                return self.send(404)
        if method is None:
            web.answers[body["id"]][1].append(body.get("result"))
            web.answers[body["id"]][0].set()
        if "id" not in body or method is None:
            return self.send(202)
        if method == "tools/call" and params["name"] in web.config["calls"]:
            return self.act(body, web.config["calls"][params["name"]])
        return self.reply(body, answer(web.config, method, params), session)

    def act(self, body, step):  # noqa: C901, PLR0912, PLR0915 - one verb a branch
        web = self.server
        verb, value = step if isinstance(step, list) else (step, None)
        arguments = body["params"].get("arguments") or {}
        content = {"content": [{"type": "text", "text": json.dumps(arguments)}]}
        match verb:
            case "echo":
                time.sleep(arguments.get("delay", 0))
                self.reply(body, complete(web.config, content))
            case "sse":
                self.open_stream()
                self.event(jsonrpc="2.0", id=body["id"], result=complete(web.config, content))
            case "stream":  # these events, and the end
                self.open_stream()
                for event in value:
                    self.event(**event)
            case "ask":
                name = f"q{body['id']}"
                arrived, came = web.answers[name] = (threading.Event(), [])
                self.open_stream()
                question = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
                self.event(jsonrpc="2.0", id=name, method="elicitation/create", params=question)
                arrived.wait(20)
                content = {"content": [{"type": "text", "text": json.dumps(came[0])}]}
                self.event(jsonrpc="2.0", id=body["id"], result=content)
            case "drop":
                self.close_connection = True
            case "cut":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"jsonrpc"')
                self.close_connection = True
            case "stall":
                web.stalled.set()
                web.over.wait(20)
                self.close_connection = True
            case "status":
                self.send(value, {"Location": "/elsewhere"} if 300 <= value < 400 else {})
            case "refusal":  # an error of JSON-RPC under a status of its own
                status, code = value
                error = {"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": "said so"}}
                self.send(status, {"Content-Type": "application/json"}, json.dumps(error).encode())
            case "error":
                self.reply(body, None, error=value)
            case "body":
                kind, text = value
                self.send(200, {"Content-Type": kind}, text.encode())
            case "endless":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.close_connection = True
                try:
                    while not web.over.is_set():
                        self.wfile.write(b" " * 65536)
                except OSError:
                    web.hung_up.set()

    def do_GET(self):
        self.send(405)

    def do_DELETE(self):
        self.server.ended.append(self.headers.get("Mcp-Session-Id"))
        self.send(200)

    def open_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.close_connection = True

    def event(self, **message):
        self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def reply(self, body, result, headers=(), error=None):
        reply = {"jsonrpc": "2.0", "id": body["id"]}
        if result is None:
            reply["error"] = error or {"code": -32601, "message": "no such method"}
        else:
            reply["result"] = {key: value for key, value in result.items() if value is not None}
        self.send(200, {"Content-Type": "application/json", **dict(headers)}, json.dumps(reply).encode())

    def send(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in {**dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        try:
            super().handle()
        except OSError:  # whoever asked has gone
            self.server.hung_up.set()

    def log_message(self, *_):
        pass


class Web(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port=0, **config):
        super().__init__(("127.0.0.1", port), Handler)
        config.setdefault("era", "initialize")
        config.setdefault("calls", {})
        self.config, self.received, self.sessions, self.answers, self.ended = config, [], set(), {}, []
        self.open = []
        self.over, self.stalled, self.hung_up = threading.Event(), threading.Event(), threading.Event()

    def get_request(self):
        accepted = super().get_request()
        self.open.append(accepted[0])
        return accepted

    @property
    def port(self):
        return self.server_address[1]

    @property
    def spec(self):
        return ServerSpec("web", "http", url=f"http://127.0.0.1:{self.port}/mcp")

    def methods(self, method):
        return [message for message in self.received if message.get("method") == method]


@contextmanager
def web(port=0, **config):
    """A server that runs, and is closed afterwards."""
    server = Web(port, **config)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        for accepted in server.open:  # those that are kept alive would be served on
            with suppress(OSError):
                accepted.shutdown(socket.SHUT_RDWR)
        thread.join()
