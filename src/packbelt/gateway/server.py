"""One agent as an MCP server, whatever it is reached by."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as t
from mcp.server import NotificationOptions
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from packbelt._version import __version__
from packbelt.belt.spell import Spell
from packbelt.gateway.agent import Served
from packbelt.gateway.brief import Briefing
from packbelt.gateway.calls import Caller
from packbelt.gateway.client import Client, Context
from packbelt.gateway.rounds import Rounds
from packbelt.gateway.shelf import Shelf
from packbelt.gateway.spelling import spelling
from packbelt.live.turn import LiveTurn
from packbelt.model import PackbeltError, ServerStatus
from packbelt.providers import Form

QUICK = 5.0
"""Seconds that the first answer waits for servers that are starting, so that its instructions know of them.

Clients give a server 10 to 60 seconds to answer at all; the list of tools waits as long as it takes."""

STARTING = (
    "The tools of agent {agent}. Its MCP servers are still starting, and the list of tools waits for them; "
    "what its prompt says of them is in the MCP prompt `{agent}`."
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How belts are served.

    Attributes:
        known_as: the name by which the client knows the gateway; None where it shows names as they are.
        briefing: answers hand-offs with briefs; None where they are run, or not on the belt.
    """

    known_as: str | None = None
    briefing: Briefing | None = None

    @property
    def spell(self) -> Spell:
        """How the client shows a wire name.

        Raises:
            SpellingError: no client can know the gateway by that name.
        """
        return spelling(self.known_as)


class AgentServer:
    """The MCP server of one agent. Requests may come before `serving` is entered; they wait for it.

    Args:
        name: the agent.
        manner: how its belt is served.
        state: keeps what a client carries from round to round of a call from being forged.
        connected: whether one connection is served, for as long as it lasts; else any number of requests
            that know nothing of each other.

    Attributes:
        mcp: the SDK's server, to be given to a transport.
    """

    def __init__(self, name: str, manner: Manner, state: RequestStateSecurity, *, connected: bool) -> None:
        self.name = name
        self._manner = manner
        self._connected = connected
        self._open = anyio.Event()
        self._changed = anyio.Event()
        self._live: Served | None = None
        self._caller: Caller | None = None
        self._session: ServerSession | None = None
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._shelf = Shelf(self._form, self._announce_tools)
        self.mcp: Server[Any] = Server(
            "packbelt",
            version=__version__,
            title=name,
            get_tool_input_schema=self._shelf.schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscriptions_listen=self._listen,
        )
        self.mcp.middleware += [
            RequestStateBoundary(state, default_audience=f"packbelt: {name}"),
            self._introduced,
        ]

    @property
    def options(self) -> InitializationOptions:
        """What the first answer says to clients of a connection before 2026-07-28."""
        told = NotificationOptions(tools_changed=self._connected, resources_changed=self._connected)
        return self.mcp.create_initialization_options(told)

    @asynccontextmanager
    async def serving(self, live: Served) -> AsyncIterator[None]:
        """While inside, requests are answered by this agent, which is at work; changes are announced."""
        end = live.fleet.subscribe(self._wake)
        try:
            async with anyio.create_task_group() as tasks:
                self._live = live
                rounds = Rounds(tasks) if self._connected else None
                self._caller = Caller(live, self._manner.spell, rounds)
                tasks.start_soon(self._watch, live)
                self._open.set()
                yield
                self.hang_up()
                tasks.cancel_scope.cancel()
        finally:
            end()

    def _wake(self) -> None:
        self._changed.set()

    def hang_up(self) -> None:
        """End the streams on which clients wait for changes."""
        self._listen.close()

    async def _watch(self, live: Served) -> None:
        known = _connected(live)
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            with suppress(PackbeltError):  # an agent that cannot be decided now keeps its last list
                await self._shelf.refresh()
            connected = _connected(live)
            if connected != known:
                known = connected
                await self._announce(ResourcesListChanged(), t.ResourceListChangedNotification())

    async def _announce_tools(self) -> None:
        await self._announce(ToolsListChanged(), t.ToolListChangedNotification())

    async def _announce(self, event: ServerEvent, notification: t.ServerNotification) -> None:
        """Tell of a change in both eras' ways: to those who listen, and to the one that is connected."""
        await self._bus.publish(event)
        if self._session is not None:
            await self._session.send_notification(notification)

    async def _decide(self) -> LiveTurn:
        return await (await self._agent()).turn()

    async def _form(self) -> Form:
        return self._compiled(await self._decide())

    def _compiled(self, turn: LiveTurn) -> Form:
        return turn.compile("mcp", strict=False, shown_as=self._manner.known_as)

    async def _agent(self) -> Served:
        await self._open.wait()
        if self._live is None:
            raise RuntimeError("the server was opened without an agent")
        return self._live

    # the first answer -----------------------------------------------------------------------------------

    async def _introduced(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Puts the prompt's sections into the first answer, and knows whom to tell of changes."""
        if ctx.method == "notifications/initialized" and self._connected:
            self._session = ctx.session
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, Mapping):
            text = await self._instructions()
            return {**result, "instructions": text} if text else result
        return result

    async def _instructions(self) -> str:
        with anyio.move_on_after(QUICK):
            await self._open.wait()
        if not self._open.is_set():
            return STARTING.format(agent=self.name)
        with _told():
            return str((await self._form()).kwargs.get("instructions", ""))

    # tools ----------------------------------------------------------------------------------------------

    async def _list_tools(self, ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        del ctx, params
        with _told():
            return t.ListToolsResult(tools=await self._shelf.tools())

    async def _call_tool(
        self, ctx: Context, params: t.CallToolRequestParams
    ) -> t.CallToolResult | t.InputRequiredResult:
        with _told():
            turn = await self._decide()
            if self._caller is None:
                raise RuntimeError("the server was opened without an agent")
            return await self._caller.call(turn, Client(ctx), params)

    # prompts --------------------------------------------------------------------------------------------

    async def _list_prompts(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListPromptsResult:
        del ctx, params
        with _told():
            turn = await self._decide()
        description = turn.belt.subject.agent.description
        return t.ListPromptsResult(prompts=[t.Prompt(name=self.name, description=description or None)])

    async def _get_prompt(self, ctx: Context, params: t.GetPromptRequestParams) -> t.GetPromptResult:
        del ctx
        if params.name != self.name:
            raise MCPError(t.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is: {self.name}")
        with _told():
            turn = await self._decide()
            text = self._compiled(turn).system
        description = turn.belt.subject.agent.description
        message = t.PromptMessage(role="user", content=t.TextContent(type="text", text=text))
        return t.GetPromptResult(description=description or None, messages=[message])

    # resources ------------------------------------------------------------------------------------------

    async def _list_resources(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourcesResult:
        del ctx, params
        with _told():
            return t.ListResourcesResult(resources=list(await (await self._agent()).resources()))

    async def _list_templates(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        del ctx, params
        with _told():
            templates = await (await self._agent()).resource_templates()
            return t.ListResourceTemplatesResult(resource_templates=list(templates))

    async def _read_resource(self, ctx: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        del ctx
        with _told():
            return await (await self._agent()).read_resource(params.uri)


def _connected(live: Served) -> frozenset[str]:
    """The servers that are there now: those whose resources can be listed."""
    servers = live.snapshot.servers.values()
    return frozenset(one.name for one in servers if one.status is ServerStatus.CONNECTED)


@contextmanager
def _told() -> Iterator[None]:
    """Errors of packbelt's own in the protocol's form, in their own words."""
    try:
        yield
    except PackbeltError as error:
        raise MCPError(t.INVALID_PARAMS, str(error)) from None
