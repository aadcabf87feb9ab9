"""An MCP server on the standard library alone whose tools do something, for tests of whole fleets.

argv: a file that gets this process's id, the era (`initialize` or `modern`), then names of the tools to list
(default: echo, env, fail, slow). Every name is callable, listed or not:

echo gives its arguments and this process's id; env the names and values' SHA-256 of its environment; fail says
isError; slow answers after `seconds`; die ends the process; hang never answers; big gives `size` bytes;
list changes the list to `tools` and, in the older era, says so; cancelled gives the ids of
 the requests that were cancelled.
"""

import hashlib
import json
import os
import sys
import threading
import time
from pathlib import Path

VERSION = "2026-07-28"
lock = threading.Lock()
state = {"tools": ["echo", "env", "fail", "slow"], "cancelled": []}
MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def say(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(value, **more):
    return {
        "content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}],
        **more,
    }


def tell_of_change():
    say({"method": "notifications/tools/list_changed"})


def run(name, arguments):
    match name:
        case "echo":
            return text({"arguments": arguments, "pid": os.getpid(), "tool": name})
        case "env":
            seen = {key: hashlib.sha256(value.encode()).hexdigest() for key, value in os.environ.items()}
            return text(seen)
        case "fail":
            return text("quota exceeded", isError=True)
        case "slow":
            time.sleep(arguments.get("seconds", 0.2))
            return text({"slept": arguments.get("seconds", 0.2), "pid": os.getpid()})
        case "die":
            os._exit(3)
        case "hang":
            time.sleep(600)
        case "big":
            return text("x" * arguments["size"])
        case "list":
            state["tools"] = arguments["tools"]
            tell_of_change()
            return text("changed")
        case "cancelled":
            return text(state["cancelled"])
    return text(f"Unknown tool: {name}", isError=True)


def answer(message, modern):
    params = message.get("params") or {}
    match message["method"]:
        case "server/discover" if modern:
            capabilities = {"tools": {"listChanged": True}}
            return {"supportedVersions": [VERSION], "capabilities": capabilities, **MODERN}
        case "initialize" if not modern:
            info = {"name": "tool-server", "version": "1"}
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": info,
            }
        case "tools/list":
            tools = [
                {"name": name, "description": f"Tool {name}.", "inputSchema": {"type": "object"}}
                for name in state["tools"]
            ]
            return {"tools": tools, **(MODERN if modern else {})}
        case "tools/call":
            result = run(params["name"], params.get("arguments") or {})
            return {**result, "resultType": "complete"} if modern else result
    return None


def serve(message, modern):
    result = answer(message, modern)
    if result is None:
        say({"id": message["id"], "error": {"code": -32601, "message": f"no method {message['method']}"}})
    else:
        say({"id": message["id"], "result": result})


def main():
    modern = sys.argv[2] == "modern"
    state["tools"] = sys.argv[3:] or state["tools"]
    with Path(sys.argv[1]).open("a") as file:
        file.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            state["cancelled"].append(message["params"]["requestId"])
        if "id" in message:
            threading.Thread(target=serve, args=(message, modern), daemon=True).start()


if __name__ == "__main__":
    main()
