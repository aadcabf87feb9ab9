"""A stdio MCP server that has one more tool after its first call, and says so. Argument: a file for what ran."""

import json
import sys
from pathlib import Path

names = ["alpha"]


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    asked = json.loads(line)
    method, id_ = asked.get("method"), asked.get("id")
    if method == "initialize":
        given = {"tools": {"listChanged": True}}
        version = asked["params"]["protocolVersion"]
        info = {"name": "growing", "version": "0"}
        send(id=id_, result={"protocolVersion": version, "capabilities": given, "serverInfo": info})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {}}
        send(id=id_, result={"tools": [{"name": name, "inputSchema": schema} for name in names]})
    elif method == "tools/call":
        name = asked["params"]["name"]
        with Path(sys.argv[1]).open("a") as log:
            log.write(f"{name}\n")
        if "late" not in names:
            names.append("late")
            send(method="notifications/tools/list_changed")
        send(id=id_, result={"content": [{"type": "text", "text": f"{name} ran"}]})
    elif id_ is not None:
        send(id=id_, error={"code": -32601, "message": "no such method"})
