"""Workspaces of a real fleet: their servers are child processes that answer at once."""

import json
import sys
from pathlib import Path

from packbelt.catalog.load import load
from packbelt.catalog.workspace import Workspace

SERVER = Path(__file__).with_name("echo_server.py")
COMMAND = (sys.executable, "-S", str(SERVER))


def place(root: Path, servers: int) -> Workspace:
    """A workspace with so many servers and one agent, read from its files."""
    folder = root / "prompts" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "packbelt.yaml").write_text("orchestrator: boss\n")
    entry = {"command": COMMAND[0], "args": list(COMMAND[1:])}
    entries = {f"server_{k:02}": entry for k in range(servers)}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    (folder / "boss.md").write_text("---\nname: boss\ndescription: Does it all.\n---\nYou work.\n")
    return load(root)


def wire(server: int) -> str:
    """The wire name of the only tool of a server."""
    return f"mcp__server_{server:02}__echo"
