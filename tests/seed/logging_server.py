"""An MCP server on the standard library alone that writes a log of its own: one line of JSON for each thing.

argv: the log's file, and what the server does: `uuid` or `weather`. The weather has a key in WEATHER_KEY.
"""

import hashlib
import json
import os
import sys
import uuid
from pathlib import Path

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = {
    "uuid": {"name": "generate", "description": "Generates a UUID.", "inputSchema": {"type": "object"}},
    "weather": {"name": "forecast", "description": "Forecasts the weather.", "inputSchema": CITY},
}


def answer(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main():
    log, kind = Path(sys.argv[1]), sys.argv[2]

    def note(**line):
        with log.open("a") as file:
            file.write(json.dumps({"pid": os.getpid(), **line}) + "\n")

    key = os.environ.get("WEATHER_KEY", "")
    note(event="started", key=hashlib.sha256(key.encode()).hexdigest())
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        match message["method"]:
            case "initialize":
                result = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": kind, "version": "1"},
                }
            case "tools/list":
                result = {"tools": [TOOLS[kind]]}
            case "tools/call":
                params = message["params"]
                given = params.get("arguments") or {}
                said = str(uuid.uuid4()) if kind == "uuid" else f"Rain in {given['city']}, 12 degrees."
                note(event="called", tool=params["name"], arguments=given, said=said)
                result = {"content": [{"type": "text", "text": said}]}
            case _:
                error = {"code": -32601, "message": "no such method"}
                answer(id=message["id"], error=error)
                continue
        answer(id=message["id"], result=result)


if __name__ == "__main__":
    main()
