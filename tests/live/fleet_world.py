"""Real workspaces on disk whose servers are real child processes, and a host that runs agents by a script."""

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import packbelt
from packbelt.model import ToolCall

SERVER = Path(__file__).with_name("tool_server.py")


def server(pids, *args, era="initialize", env=None, **more):
    """An entry of `.mcp.json`: a child process with tools that do something; see tool_server.py."""
    command = [str(SERVER), str(pids.file), era, *map(str, args)]
    return {"command": sys.executable, "args": ["-S", *command], "env": env or {}, **more}


def agent_file(name, *, description=None, body="You work.", **keys):
    """An agent's file; keys as in its front matter."""
    lines = [f"name: {name}", f"description: {description or 'Does ' + name + '.'}"]
    lines += [f"{key}: {json.dumps(value)}" for key, value in keys.items()]
    return "---\n" + "\n".join(lines) + "\n---\n" + body + "\n"


def place(root, *, servers=None, agents=(), config="", tools=(), files=None):
    """Write a workspace and load it. `agents` are texts of `agent_file`, by name."""
    (root / "prompts" / "agents").mkdir(parents=True, exist_ok=True)
    (root / "packs").mkdir(exist_ok=True)
    (root / "packbelt.yaml").write_text(config or "orchestrator: boss\n")
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers or {}}))
    for name, text in dict(agents).items():
        (root / "prompts" / "agents" / f"{name}.md").write_text(text)
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return packbelt.load(root, tools=list(tools))


@asynccontextmanager
async def opened(workspace, **options):
    """A trusted fleet that keeps its runs in memory."""
    options.setdefault("runs", ":memory:")
    options.setdefault("trust", True)
    async with packbelt.open(workspace, **options) as fleet:
        yield fleet


async def call(agent, name, /, **arguments):
    """One call by an agent, and what it read."""
    turn = await agent.turn()
    (result,) = await turn.run([ToolCall("1", name, arguments)])
    return result


def direct(turn):
    return [tool.wire_name for tool in turn.tools]
