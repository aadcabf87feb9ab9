"""An MCP server on the standard library alone that answers at once: what is measured is its client."""

import json
import os
import sys

TOOL = {"name": "echo", "description": "Gives its arguments back.", "inputSchema": {"type": "object"}}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "initialize":
                capabilities = {"tools": {"listChanged": True}}
                info = {"name": "echo", "version": "1"}
                reply["result"] = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "serverInfo": info,
                }
            case "tools/list":
                reply["result"] = {"tools": [TOOL]}
            case "tools/call":
                said = json.dumps({"arguments": message["params"].get("arguments"), "pid": os.getpid()})
                reply["result"] = {"content": [{"type": "text", "text": said}]}
            case method:
                reply["error"] = {"code": -32601, "message": f"no method {method}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
