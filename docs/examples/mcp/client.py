"""An agent's belt as an MCP server, and a client of it: what it lists is the belt, and every call is gated.

uv pip install packbelt
python docs/examples/mcp/client.py orchestrator use_pack '{"pack": "calendar"}'
"""

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters


async def main(agent: str, tool: str, arguments: dict[str, Any]) -> str:
    """Call one tool of an agent of the nearest workspace, as a client of the gateway does."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "packbelt", "serve", "--agent", agent],
        env={name: os.environ[name] for name in ("PACKBELT_TRUST", "XDG_STATE_HOME") if name in os.environ},
    )
    async with Client(command) as client:
        for each in (await client.list_tools()).tools:
            print(f"{each.name}: {each.description}")
        result = await client.call_tool(tool, arguments)
        return "\n".join(block.text for block in result.content if block.type == "text")


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
