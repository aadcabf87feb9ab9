"""Endpoints on 127.0.0.1 in the two dialects, whose answers a test writes down.

`answer(asked)` gives a text, or a call as `(name, arguments)`; arguments that are a text go out as they are.
It can raise `StatusError` to answer with an error.
"""

import json
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt": 100, "completion": 7, "cached": 64}


class StatusError(Exception):
    """An answer that is an error; a body of bytes goes out as it is."""

    def __init__(self, code, body, **headers):
        self.code, self.body, self.headers = code, body, headers


@dataclass(frozen=True)
class Asked:
    """A request, read alike in both dialects."""

    path: str
    headers: dict
    body: dict

    @property
    def names(self):
        return [tool.get("name") or tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def answered(self):
        """How many replies of the model stand in the conversation."""
        return sum(message["role"] == "assistant" for message in self.body["messages"])


def chat(said):
    message = {"role": "assistant", "content": None}
    if isinstance(said, str):
        message["content"] = said
    else:
        name, given = said
        function = {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop" if isinstance(said, str) else "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": USAGE["prompt"],
            "completion_tokens": USAGE["completion"],
            "total_tokens": USAGE["prompt"] + USAGE["completion"],
            "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
        },
    }


def messages(said):
    content = [{"type": "text", "text": said}] if isinstance(said, str) else []
    if not content:
        content = [{"type": "tool_use", "id": "toolu_1", "name": said[0], "input": said[1]}]
    if len(said) == 3 and not isinstance(said, str):
        content.insert(0, {"type": "thinking", "thinking": said[2], "signature": "c2lnbmVk"})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
        "stop_sequence": None,
        "usage": {  # Messages counts what was not cached apart
            "input_tokens": USAGE["prompt"] - USAGE["cached"],
            "output_tokens": USAGE["completion"],
            "cache_read_input_tokens": USAGE["cached"],
            "cache_creation_input_tokens": 0,
        },
    }


DIALECTS = {"/v1/chat/completions": chat, "/v1/messages": messages}


class LiveEndpoint(AbstractContextManager):
    """Speaks both dialects, and keeps what it was asked."""

    def __init__(self, answer):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.partition("?")[0]
                headers = {name.lower(): value for name, value in self.headers.items()}
                one = Asked(path, headers, body)
                outer.asked.append(one)
                try:
                    code, said, headers = 200, DIALECTS[path](answer(one)), {}
                except StatusError as status:
                    code, said, headers = status.code, status.body, status.headers
                except Exception as error:  # noqa: BLE001 - the client must hear of it, or it waits
                    code, said, headers = 418, {"error": {"message": repr(error)}}, {}
                content = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(code)
                kind = "text/html" if isinstance(said, bytes) else "application/json"
                more = {name.replace("_", "-"): value for name, value in headers.items()}
                fixed = {"Content-Type": kind, "Content-Length": len(content), "Connection": "close"}
                for name, value in {**fixed, **more}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def base(self, protocol):
        """The base URL as each SDK wants it."""
        path = "/v1" if protocol == "openai" else ""
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
