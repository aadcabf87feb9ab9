"""All agents of a workspace over streamable HTTP, one path each, so that several processes serve one fleet.

Nothing of a client is kept between its requests, and what is listed follows from the snapshot alone: any
process behind a balancer that has the same workspace and the same servers gives the same bytes.
"""

import logging
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import uvicorn
from anyio.abc import TaskGroup
from mcp.server.request_state import RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from packbelt.gateway.agent import Served
from packbelt.gateway.guard import Guard, allowed, path_of
from packbelt.gateway.server import AgentServer, Manner
from packbelt.gateway.stopping import Beside, alongside, on_signal, only
from packbelt.gateway.tokens import Tokens
from packbelt.live.fleet import Fleet
from packbelt.model import PackbeltError

MAX_BODY = 4 << 20
"""Bytes of a request's body."""
DRAIN = 2
"""Seconds that requests under way are given when the gateway is told to stop."""


class ListenError(PackbeltError):
    """The address cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where agents are reached, and which are not.

    Attributes:
        url: scheme, host and port.
        paths: of each agent that is served.
        refused: agents that cannot start, with the reason.
        agents: those at work.
    """

    url: str
    paths: Mapping[str, str]
    refused: Mapping[str, PackbeltError]
    agents: Sequence[Served]


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Change nothing."""
        yield


async def serve_http(
    fleet: Fleet,
    manner: Manner,
    tokens: Tokens,
    *,
    host: str,
    port: int,
    allow_hosts: Sequence[str] = (),
    on_ready: Callable[[Listening], None] | None = None,
    beside: Beside | None = None,
) -> None:
    """Serve the agents that have a token until a signal asks this process to end.

    Listening begins when every server has connected or failed; calls under way at the end have `DRAIN`.

    Args:
        fleet: opened, not entered: it is entered and left here.
        manner: how belts are served.
        tokens: whose token opens which agent's path.
        host: the address to listen on.
        port: the port; 0 for any that is free.
        allow_hosts: further names that clients may have in `Host`, such as a balancer's.
        on_ready: told when requests are answered.
        beside: runs from then on, until the end, where it is cancelled.

    Raises:
        ListenError: the address cannot be listened on.
        PackbeltError: the fleet cannot start, or no agent can.
    """
    failures: list[Exception] = []
    with _listener(host, port) as listener:
        async with anyio.create_task_group() as tasks:
            config = uvicorn.Config(
                _nothing, lifespan="off", log_config=None, access_log=False, ws="none", http="h11",
                server_header=False, proxy_headers=False, timeout_graceful_shutdown=DRAIN,
            )  # fmt: skip
            web = _Server(config)
            hosted = _Hosted(fleet, manner, tokens)

            def stop() -> None:
                web.should_exit = True
                hosted.hang_up()
                if not web.started:
                    tasks.cancel_scope.cancel()

            await tasks.start(on_signal, stop)
            try:
                async with fleet:
                    async with anyio.create_task_group() as agents:
                        await hosted.start(agents)
                        if hosted.apps:
                            config.app = Guard(hosted.apps, tokens, allowed((*allow_hosts, _shown(host))))
                            if on_ready:
                                url = f"http://{_shown(host)}:{listener.getsockname()[1]}"
                                on_ready(hosted.listening(url))
                            async with alongside(beside):
                                await web.serve(sockets=[listener])
                        hosted.end()
                    failures += [] if hosted.apps else list(hosted.refused.values())
            except Exception as error:  # noqa: BLE001 - raised below, outside the group that would wrap it
                failures.append(only(error))
            tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]


class _Hosted:
    """Every agent at work in a task of its own, so that their own servers start side by side.

    Attributes:
        apps: an ASGI application for each agent that is served.
        refused: agents that cannot start, with the reason.
        agents: those at work.
    """

    def __init__(self, fleet: Fleet, manner: Manner, tokens: Tokens) -> None:
        self._fleet = fleet
        self._manner = manner
        self._tokens = tokens
        self._over = anyio.Event()
        self._servers: list[AgentServer] = []
        self.apps: dict[str, ASGIApp] = {}
        self.refused: dict[str, PackbeltError] = {}
        self.agents: list[Served] = []

    async def start(self, tasks: TaskGroup) -> None:
        """Start them all, and wait until each is at work or refused."""
        ready = {name: anyio.Event() for name in self._tokens.agents}
        for name, event in ready.items():
            tasks.start_soon(self._host, name, event)
        for event in ready.values():
            await event.wait()

    def listening(self, url: str) -> Listening:
        """What is reached where."""
        paths = {name: path_of(name) for name in self._tokens.agents if name in self.apps}
        return Listening(url, paths, self.refused, self.agents)

    def end(self) -> None:
        """End them all; their tasks take what time they need."""
        self._over.set()

    def hang_up(self) -> None:
        """End the streams on which clients wait for changes."""
        for server in self._servers:
            server.hang_up()

    async def _host(self, name: str, ready: anyio.Event) -> None:
        state, manner = RequestStateSecurity(keys=[self._tokens.key(name)]), self._manner
        server = AgentServer(name, manner, state, connected=False)
        manager = StreamableHTTPSessionManager(server.mcp, stateless=True, max_request_body_size=MAX_BODY)
        try:
            async with (
                Served(self._fleet, name, manner.spell, manner.briefing, remembers=False) as live,
                server.serving(live),
                manager.run(),
            ):
                self.apps[name] = manager.asgi_app
                self.agents.append(live)
                self._servers.append(server)
                ready.set()
                await self._over.wait()
        except PackbeltError as error:
            self.refused[name] = error
        finally:
            ready.set()


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands for the application until there is one; nobody is listening yet."""
    del scope, receive, send


@contextmanager
def _listener(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that is bound to the address.

    Raises:
        ListenError: it cannot be.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        raise ListenError(
            f"{_shown(host)}:{port} cannot be listened on: {error.strerror or error}",
            mend="choose another port, or an address of this machine",
            name=host,
        ) from None
    with listener:
        yield listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


for _name in (
    "mcp.server.request_state",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
    "mcp.shared.jsonrpc_dispatcher",
):  # what strangers send is answered, and not printed
    logging.getLogger(_name).addHandler(logging.NullHandler())
