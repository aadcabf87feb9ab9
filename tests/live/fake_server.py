"""An MCP server on the standard library alone, for tests: argv[1] is its configuration in JSON.

era: `initialize` refuses `server/discover`; `modern` answers it and refuses `initialize`; `mute` answers nothing.
tools: entries of tools/list; page: how many to a page; loop: the last page's cursor leads to the second page;
stderr: so many bytes there before the first answer; pids: a file that gets this process's id;
banner: a line before the first message; deaf: neither a closed standard input nor SIGTERM ends it;
reveal: names of variables whose SHA-256 becomes the description of a tool `environment`.
"""

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

VERSION = "2026-07-28"


def answer(config, method, params):
    modern = config.get("era") == "modern"
    tools = config.get("tools", [])
    if "reveal" in config:
        seen = {
            name: hashlib.sha256(os.environ.get(name, "").encode()).hexdigest() for name in config["reveal"]
        }
        report = json.dumps(
            {"names": sorted(os.environ), "seen": seen, "cwd": str(Path.cwd()), "argv": sys.argv[2:]}
        )
        tools = [{"name": "environment", "description": report, "inputSchema": {"type": "object"}}]
    match method:
        case "server/discover" if modern:
            return {
                "resultType": "complete",
                "supportedVersions": [VERSION],
                "capabilities": {"tools": {}},
                "instructions": config.get("instructions"),
                "ttlMs": 0,
                "cacheScope": "private",
            }
        case "initialize" if not modern:
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "1"},
                "instructions": config.get("instructions", ""),
            }
        case "tools/list" if "unlistable" not in config:
            size = config.get("page", len(tools) or 1)
            start = int((params or {}).get("cursor") or 0)
            result = {"tools": tools[start : start + size]}
            if start + size < len(tools):
                result["nextCursor"] = str(start + size)
            elif config.get("loop"):
                result["nextCursor"] = str(size)
            if modern:
                result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return result
    return None


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    config = json.loads(sys.argv[1])
    if "pids" in config:
        with Path(config["pids"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    if config.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "banner" in config:
        say(config["banner"])
    sys.stderr.write("x" * config.get("stderr", 0))
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or config.get("era") == "mute":
            continue
        result = answer(config, message["method"], message.get("params"))
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": f"no method {message['method']}"}
        else:
            reply["result"] = {key: value for key, value in result.items() if value is not None}
        say(json.dumps(reply))
    while config.get("deaf"):
        time.sleep(60)


if __name__ == "__main__":
    main()
