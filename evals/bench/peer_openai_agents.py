"""openai-agents: function tools with `is_enabled`, and MCP servers with a cached list and a block list."""

import mcp.types
from agents import Agent, FunctionTool, RunContextWrapper, set_tracing_disabled
from agents.mcp import MCPServerStdio, create_static_tool_filter

from bench.catalogue import Catalogue, denied
from bench.peers import Handed, Peer


async def _invoke(_: object, arguments: str) -> str:
    return arguments


def _enabled(tool: str):
    return lambda _context, _agent: not denied(tool)


def build(catalogue: Catalogue) -> list[Peer]:
    set_tracing_disabled(True)
    context = RunContextWrapper(None)
    tools = [
        FunctionTool(
            name=f"{server}__{e['name']}",
            description=e["description"],
            params_json_schema=e["inputSchema"],
            on_invoke_tool=_invoke,
            strict_json_schema=False,
            is_enabled=_enabled(e["name"]),
        )
        for server, entries in catalogue.listed.items()
        for e in entries
    ]
    holder = Agent(name="bench", tools=tools)
    servers = [_server(server, entries) for server, entries in catalogue.listed.items()]
    connected = Agent(name="bench", mcp_servers=servers, mcp_config={"include_server_in_tool_names": True})

    async def functions() -> Handed:
        found = await holder.get_all_tools(context)
        return [(tool.name, tool.description, tool.params_json_schema) for tool in found]

    async def converted() -> Handed:
        found = await connected.get_mcp_tools(context)
        return [(tool.name, tool.description, tool.params_json_schema) for tool in found]

    async def listed() -> Handed:
        found = [(server.name, await server.list_tools(context, connected)) for server in servers]
        return [
            (f"mcp_{server}__{tool.name}", tool.description, tool.input_schema)
            for server, tools in found
            for tool in tools
        ]

    return [
        Peer("openai-agents, FunctionTool with is_enabled", functions, "{}__{}".format),
        Peer("openai-agents, cached MCP list, block list", listed, "mcp_{}__{}".format),
        Peer("openai-agents, the same made function tools", converted, "mcp_{}__{}".format),
    ]


def _server(server: str, entries: list) -> MCPServerStdio:
    """A server whose list is cached already; no process is started."""
    blocked = create_static_tool_filter(blocked_tool_names=[e["name"] for e in entries if denied(e["name"])])
    made = MCPServerStdio(
        params={"command": "unused"}, name=server, cache_tools_list=True, tool_filter=blocked
    )
    made.session = object()  # it only asks whether there is one, as the list is cached
    made._tools_list = [mcp.types.Tool.model_validate(e) for e in entries]  # noqa: SLF001 - the cache, filled
    made._cache_dirty = False  # noqa: SLF001 - the cache counts
    return made
