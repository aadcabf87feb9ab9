"""FastMCP: a server mounted under a namespace for each, and three visibility rules."""

from typing import Any

from fastmcp import FastMCP
from fastmcp.tools.base import Tool, ToolResult

from bench.catalogue import DENIED, Catalogue
from bench.peers import Handed, Peer


class _Fixed(Tool):
    """A tool with a schema of its own, as one that comes from elsewhere has."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=str(arguments))


def build(catalogue: Catalogue) -> list[Peer]:
    main = FastMCP("bench")
    for server, entries in catalogue.listed.items():
        part = FastMCP(server)
        for e in entries:
            part.add_tool(
                _Fixed(
                    name=e["name"],
                    description=e["description"],
                    parameters=e["inputSchema"],
                    tags={e["name"].partition("_")[0]},
                )
            )
        main.mount(part, namespace=server)
    for verb in DENIED:
        main.disable(tags={verb})

    async def visible() -> Handed:
        return [(tool.name, tool.description, tool.parameters) for tool in await main.list_tools()]

    async def one(name: str) -> bool:
        return await main.get_tool(name) is not None

    return [Peer("FastMCP, mounted, namespaced, 3 visibility rules", visible, "{}_{}".format, one)]
