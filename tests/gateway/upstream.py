"""An MCP server on the standard library alone, behind the gateway: argv[1] is its configuration in JSON.

tools: names; each answers as `TOOLS` says. pids: a file that gets this process's id; log: a file that gets a line
for each call and each cancellation; delay: seconds before the first answer; instructions: its own words.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from upstream_facts import DEFINED, PICTURE

config = json.loads(sys.argv[1])
listed = list(config.get("tools", ["echo"]))
writing = threading.Lock()
answers = {}
cancelled = set()
called = {}


def say(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def log(line):
    if "log" in config:
        with Path(config["log"]).open("a") as file:
            file.write(line + "\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def call(identity, name, arguments):
    called[identity] = name
    log(f"call {name}")
    if name in ("echo", "guarded"):
        return text(arguments["text"])
    if name == "fails":
        return text("it broke", isError=True)
    if name == "picture":
        return {"content": PICTURE, "structuredContent": {"dots": 1}}
    if name == "grow":
        listed.append("grown")
        say({"method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "ask":
        answers[f"ask-{identity}"] = waiting = {"event": threading.Event()}
        schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
        say(
            {
                "id": f"ask-{identity}",
                "method": "elicitation/create",
                "params": {"message": "Which colour?", "requestedSchema": schema},
            }
        )
        waiting["event"].wait()
        return text(json.dumps(waiting["result"], sort_keys=True))
    if name == "die":
        os._exit(1)
    if name == "slow":
        while identity not in cancelled:
            time.sleep(0.01)
        return None
    return text(name)


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        time.sleep(config.get("delay", 0))
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}, "resources": {}},
            "serverInfo": {"name": "upstream", "version": "1"},
            "instructions": config.get("instructions", "Echoes."),
        }
    if method == "tools/list":
        return {"tools": [{"name": name, **DEFINED[name]} for name in listed]}
    if method == "tools/call":
        return call(message["id"], params["name"], params.get("arguments") or {})
    if method == "resources/list":
        return {"resources": [{"uri": "note://1", "name": "one", "mimeType": "text/plain"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "note://{n}", "name": "notes"}]}
    if method == "resources/read":
        return {
            "contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": f"note at {params['uri']}"}]
        }
    raise LookupError(method)


def respond(message):
    try:
        result = answer(message)
    except LookupError as error:
        say({"id": message["id"], "error": {"code": -32601, "message": str(error)}})
        return
    if result is not None:
        say({"id": message["id"], "result": result})


if "pids" in config:
    with Path(config["pids"]).open("a") as file:
        file.write(f"{os.getpid()}\n")
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        if found := answers.get(message["id"]):
            found["result"] = message.get("result") or message.get("error")
            found["event"].set()
    elif message["method"] == "notifications/cancelled":
        cancelled.add(message["params"]["requestId"])
        log(f"cancelled {called.get(message['params']['requestId'])}")
    elif "id" in message:
        threading.Thread(target=respond, args=(message,), daemon=True).start()
