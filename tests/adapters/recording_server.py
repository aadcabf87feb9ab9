"""An MCP server on the standard library alone that records what it runs.

argv: a file that gets a line of JSON for each call, this server's name, and its tools as `tools/list` has them.
A tool named `fails` says isError, `picture` gives text and an image, every other what it ran with.
"""

import json
import sys
from pathlib import Path

LOG, NAME, TOOLS = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def call(tool, arguments):
    with LOG.open("a") as file:
        file.write(json.dumps([f"{NAME}/{tool}", arguments]) + "\n")
    if tool == "fails":
        return {"content": [{"type": "text", "text": "it broke"}], "isError": True}
    text = {"type": "text", "text": f"{NAME}/{tool} ran with {json.dumps(arguments)}"}
    if tool == "picture":
        return {"content": [text, {"type": "image", "mimeType": "image/png", "data": DOT}]}
    return {"content": [text]}


def answer(message):
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": NAME, "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return call(message["params"]["name"], message["params"].get("arguments") or {})
    return None


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message)
            said = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
