"""A server written with the SDK: argv[1] is `stdio`, or the port it serves HTTP on."""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("sdk", version="1")


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool."""
    server.add_tool(lambda: name, name=name, description="Says its name.")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return f"added {name}"


@server.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
