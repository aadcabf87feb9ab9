"""A server on 127.0.0.1 that answers as an API would, so that the real clients can be pointed at it.

`with Loopback(answer) as server:` records every request in `server.requests`; `answer(path, body)` gives what
goes back: JSON, or bytes that are server-sent events.
"""

import json
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict
    body: dict


class Loopback(AbstractContextManager):
    """Answers POSTs, each in a thread of its own."""

    def __init__(self, answer):
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(Request(self.path, dict(self.headers), body))
                try:
                    said, status = answer(self.path, body), 200
                except Exception as error:  # noqa: BLE001 - the client must hear of it, or it waits
                    said, status = {"error": {"type": "loopback", "message": repr(error)}}, 418
                is_stream = isinstance(said, bytes)
                content = said if is_stream else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def events(*found):
    """Server-sent events: (name or None, data) each."""
    lines = []
    for name, data in found:
        head = f"event: {name}\n" if name else ""
        lines.append(f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join(lines).encode()
