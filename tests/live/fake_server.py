"""An MCP server on the standard library alone, for tests: argv[1] is its configuration in JSON.

era: `initialize` refuses `server/discover`; `modern` answers it and refuses `initialize`; `mute` answers nothing.
tools: entries of tools/list; page: how many to a page; loop: the last page's cursor leads to the second page;
stderr: so many bytes there before the first answer; pids: a file that gets this process's id;
banner: a line before the first message; deaf: neither a closed standard input nor SIGTERM ends it;
reveal: names of variables whose SHA-256 becomes the description of a tool `environment`.

calls: what each tool does when it is called, by name (see `Server.call`); they are listed where `tools` is not
given. record: a file that gets every message that came. slow: seconds before it reads the first message.
hang: names of methods that are never answered. once: a file that, where it does not exist yet, is made, and the
process exits with 1. lists: tool lists that take the place of `tools` one after the other, each when a call of
`change` says so. tools_file: a file that has them instead. listens: whether changes can be subscribed to.
resources: entries of resources/list, each with its text.
"""

import hashlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

VERSION = "2026-07-28"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def tools_of(config):
    if "reveal" in config:
        seen = {
            name: hashlib.sha256(os.environ.get(name, "").encode()).hexdigest() for name in config["reveal"]
        }
        report = json.dumps(
            {"names": sorted(os.environ), "seen": seen, "cwd": str(Path.cwd()), "argv": sys.argv[2:]}
        )
        return [{"name": "environment", "description": report, "inputSchema": {"type": "object"}}]
    if "tools_file" in config:
        return json.loads(Path(config["tools_file"]).read_text())
    called = [{"name": name, "inputSchema": {"type": "object"}} for name in config.get("calls", ())]
    return config.get("tools", called)


def answer(config, method, params):
    modern = config.get("era") == "modern"
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
            return page(config, "tools", tools_of(config), params)
        case "resources/list" if "resources" in config:
            listed = [{"uri": one["uri"], "name": one["uri"]} for one in config["resources"]]
            return page(config, "resources", listed, params)
        case "resources/templates/list" if "resources" in config:
            listed = [{"uriTemplate": one["uri"] + "/{x}", "name": "t"} for one in config["resources"]]
            return page(config, "resourceTemplates", listed, params)
        case "resources/read" if "resources" in config:
            found = [one for one in config["resources"] if one["uri"] == params["uri"]]
            contents = [{"uri": one["uri"], "text": one["text"] * one.get("times", 1)} for one in found]
            return complete(config, {"contents": contents}) if found else None
    return None


def complete(config, result):
    modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return result | (modern if config.get("era") == "modern" else {})


def page(config, key, entries, params):
    size = config.get("page", len(entries) or 1)
    start = int((params or {}).get("cursor") or 0)
    result = {key: entries[start : start + size]}
    if start + size < len(entries):
        result["nextCursor"] = str(start + size)
    elif config.get("loop"):
        result["nextCursor"] = str(size)
    return complete(config, result)


class Server:
    def __init__(self, config):
        self.config = config
        self.lock = threading.Lock()
        self.answers = {}
        self.subscriptions = []
        self.wedged = False

    def say(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line):
        with self.lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def changed(self):
        method = "notifications/tools/list_changed"
        if self.config.get("era") != "modern":
            self.say(method=method)
        for subscription in self.subscriptions:
            self.say(method=method, params={"_meta": {SUBSCRIPTION: subscription}})

    def receive(self, line):
        message = json.loads(line)
        config = self.config
        method, number = message.get("method"), message.get("id")
        if "record" in config:
            with Path(config["record"]).open("a") as file:
                file.write(line.strip() + "\n")
        if config.get("era") == "mute" or method in config.get("hang", ()):
            return
        if method is None:  # an answer to a question of ours
            self.answers[number][1].append(message.get("result"))
            self.answers[number][0].set()
        elif method == "subscriptions/listen" and config.get("listens"):
            self.subscriptions.append(number)
            meta = {"_meta": {SUBSCRIPTION: number}}
            agreed = {"notifications": {"toolsListChanged": True}}
            self.say(method="notifications/subscriptions/acknowledged", params=agreed | meta)
        elif number is None:
            return
        elif method == "tools/call" and message["params"]["name"] in config.get("calls", {}):
            threading.Thread(target=self.call, args=(number, message["params"]), daemon=True).start()
        else:
            result = answer(config, method, message.get("params"))
            if result is None:
                self.say(id=number, error={"code": -32601, "message": f"no method {method}"})
            else:
                self.say(id=number, result={key: value for key, value in result.items() if value is not None})

    def call(self, number, params):  # noqa: C901, PLR0912, PLR0915 - one verb a branch
        """Do what the configuration says this tool does: a list of steps."""
        arguments = params.get("arguments") or {}
        for step in self.config["calls"][params["name"]]:
            verb, value = step if isinstance(step, list) else (step, None)
            match verb:
                case "sleep":
                    time.sleep(arguments.get("delay", 0) if value is None else value)
                case "exit":
                    os._exit(value)
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "close":  # no more output, and it lives on
                    os.close(1)
                case "junk":  # so many megabytes of lines that are no messages
                    for _ in range(value):
                        self.write("x" * 1023 + "\n" + ("y" * 1023 + "\n") * 1022 + "z" * 1023)
                case "stderr":
                    for _ in range(value):
                        sys.stderr.write("e" * (1 << 20))
                        sys.stderr.flush()
                case "wedge":  # reads nothing more
                    self.wedged = True
                    self.say(id=number, result=complete(self.config, {"content": []}))
                case "complain":
                    sys.stderr.write(value + "\n")
                    sys.stderr.flush()
                case "echo":
                    text = {"type": "text", "text": json.dumps(arguments)}
                    self.say(id=number, result=complete(self.config, {"content": [text]}))
                case "big":
                    text = {"type": "text", "text": "x" * value}
                    self.say(id=number, result=complete(self.config, {"content": [text]}))
                case "result":
                    self.say(id=number, result=value)
                case "other":  # an answer to a request that nobody made
                    self.say(id=4711, result=value)
                case "error":
                    self.say(id=number, error=value)
                case "raw":
                    self.write(value)
                case "change":
                    self.config["tools"] = self.config["lists"].pop(0)
                    self.changed()
                case "changed":
                    self.changed()
                case "break":
                    self.config["unlistable"] = True
                case "mend":
                    del self.config["unlistable"]
                    self.config["tools"] = self.config["lists"].pop(0)
                case "deafen":
                    self.config["hang"] = ["tools/list"]
                case "ask":
                    if not self.ask(number, params, value):
                        return

    def ask(self, number, params, message):
        """Ask a person, and answer the call with what came back; False while that is still to come."""
        question = {
            "message": message,
            "requestedSchema": {"type": "object", "properties": {"who": {"type": "string"}}},
        }
        if self.config.get("era") == "modern":
            if "inputResponses" not in params:
                asked = {"name": {"method": "elicitation/create", "params": {"mode": "form", **question}}}
                result = {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
                self.say(id=number, result=result)
                return False
            came = params["inputResponses"]["name"]
        else:
            name = f"q{number}"
            arrived, came = self.answers[name] = (threading.Event(), [])
            self.say(id=name, method="elicitation/create", params=question)
            arrived.wait()
            came = came[0]
        text = {"type": "text", "text": json.dumps(came)}
        self.say(id=number, result=complete(self.config, {"content": [text]}))
        return True


def main():
    config = json.loads(sys.argv[1])
    if "pids" in config:
        with Path(config["pids"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    if config.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "once" in config and not Path(config["once"]).exists():
        Path(config["once"]).touch()
        sys.exit("not yet")
    time.sleep(config.get("slow", 0))
    server = Server(config)
    if "banner" in config:
        server.write(config["banner"])
    sys.stderr.write("x" * config.get("stderr", 0))
    sys.stderr.flush()
    for line in sys.stdin:
        server.receive(line)
        while server.wedged:
            time.sleep(60)
    while config.get("deaf"):
        time.sleep(60)


if __name__ == "__main__":
    main()
