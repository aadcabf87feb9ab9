"""mcp: the gateway's server in process, with the SDK's client in both eras, and FastMCP's; the client is the model."""

import json
import re
from contextlib import asynccontextmanager
from types import MappingProxyType, SimpleNamespace

import anyio
from conformance import AGENT

TARGET = "mcp"
KNOWN_AS = "packbelt"


@asynccontextmanager
async def served(fleet, known_as=None, name=AGENT):
    """The gateway's server of one agent of a fleet."""
    from mcp.server.request_state import RequestStateSecurity

    from packbelt.gateway.agent import Served
    from packbelt.gateway.server import AgentServer, Manner

    manner = Manner(known_as)
    server = AgentServer(name, manner, RequestStateSecurity.ephemeral(), connected=True)
    async with (
        Served(fleet, name, manner.spell, manner.briefing, remembers=True) as live,
        server.serving(live),
    ):
        yield server


async def all_tools(client):
    """Every page of a client's list."""
    found, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return found


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def asked(message):
    """What the gateway's question to a person is about, as `approve` is told of it."""
    name, server, arguments = re.search(
        r'call (\w+) of MCP server "(\w+)"\? Arguments: (.*)', message
    ).groups()
    return SimpleNamespace(
        tool=SimpleNamespace(id=f"server:{server}/{name}"), arguments=json.loads(arguments)
    )


class Sdk:
    """The SDK's client; `mode` says which era of the protocol it speaks."""

    target = TARGET
    module = "mcp"
    omits = MappingProxyType({})
    differs = MappingProxyType({})

    def __init__(self, name, mode, known_as=None):
        self.name = name
        self.mode = mode
        self.known_as = known_as

    def spell(self, wire_name):
        return f"mcp__{self.known_as}__{wire_name}" if self.known_as else wire_name

    @asynccontextmanager
    async def connected(self, server, approve):
        import mcp_types as t
        from mcp import Client

        async def answer(_, params):
            return t.ElicitResult(
                action="accept" if approve(asked(params.message)) else "decline", content={}
            )

        async with Client(server.mcp, mode=self.mode, cache=None, elicitation_callback=answer) as client:
            yield client

    async def listed(self, client):
        return await all_tools(client)

    async def called(self, client, call):
        return text_of(await client.call_tool(call.name, dict(call.arguments)))

    def instructions(self, client):
        return client.instructions or ""

    async def run(self, scene):
        approve = scene.fleet.asking.approve
        async with served(scene.fleet, self.known_as) as server, self.connected(server, approve) as client:
            read = {}

            async def make(call):
                read[call.id] = await self.called(client, call)

            while True:
                shown = [self.spell(tool.name) for tool in await self.listed(client)]
                calls = await scene.request(shown, read, system=self.instructions(client))
                if not calls:
                    return "done"
                async with anyio.create_task_group() as tasks:
                    for call in calls:
                        tasks.start_soon(make, call)


class FastMcp(Sdk):
    module = "fastmcp"

    @asynccontextmanager
    async def connected(self, server, approve):
        from fastmcp import Client
        from fastmcp.client.elicitation import ElicitResult

        async def answer(message, *_):
            return ElicitResult(action="accept" if approve(asked(message)) else "decline", content={})

        async with Client(in_process(server), elicitation_handler=answer) as client:
            yield client

    async def listed(self, client):
        return await client.list_tools()

    async def called(self, client, call):
        return text_of(await client.call_tool(call.name, dict(call.arguments), raise_on_error=False))


def in_process(server):
    """FastMCP's transport to the gateway's server: its own takes servers of its own kind only."""
    from fastmcp.client.transports import ClientTransport
    from mcp.shared.memory import create_client_server_memory_streams

    class InProcess(ClientTransport):
        @asynccontextmanager
        async def connect_session(self, *, transport_options=None, **session):
            from fastmcp.client.transports.base import TransportOptions

            kind = (transport_options or TransportOptions()).session_class
            async with (
                create_client_server_memory_streams() as (near, far),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(server.mcp.run, *far, server.options)
                async with kind(*near, **session) as made:
                    yield made
                tasks.cancel_scope.cancel()

    return InProcess()


DRIVERS = [
    Sdk("mcp", "auto"),
    Sdk("mcp-legacy", "legacy"),
    Sdk("mcp-shown-as", "auto", KNOWN_AS),
    FastMcp("mcp-fastmcp", "auto"),
]
