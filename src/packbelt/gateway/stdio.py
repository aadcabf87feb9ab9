"""One agent on standard input and output: one process, one connection, one run.

Requests are answered from the first moment, while servers are still starting: the first answer (`initialize`,
`server/discover`) comes within `QUICK`, whatever servers do, and everything that needs the belt waits until
each of them has connected or failed, which the workspace's `times` bound. So no client gives the gateway up,
and the first list of tools is complete.
"""

from collections.abc import Callable

import anyio
from mcp.server.request_state import RequestStateSecurity

from packbelt.gateway.agent import Served
from packbelt.gateway.pipes import standard_streams
from packbelt.gateway.server import AgentServer, Manner
from packbelt.gateway.stopping import Beside, alongside, on_signal, only
from packbelt.live.fleet import Fleet


async def serve_stdio(
    fleet: Fleet,
    name: str,
    manner: Manner,
    on_ready: Callable[[Served], None] | None = None,
    beside: Beside | None = None,
) -> None:
    """Serve one agent until the client leaves or a signal asks this process to end.

    Args:
        fleet: opened, not entered: it is entered and left here.
        name: the agent.
        manner: how its belt is served.
        on_ready: told when every server has connected or failed.
        beside: runs from then on, until the end, where it is cancelled.

    Raises:
        PackbeltError: the fleet or the agent cannot start.
    """
    server = AgentServer(name, manner, RequestStateSecurity.ephemeral(), connected=True)
    failures: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        over = anyio.Event()
        talking = anyio.CancelScope()
        opened = False

        def leave() -> None:
            """The conversation is over; before it began there is nothing to end in order."""
            over.set()
            if not opened:
                tasks.cancel_scope.cancel()

        async def talk() -> None:
            with talking:
                async with standard_streams() as (incoming, outgoing):
                    await server.mcp.run(incoming, outgoing, server.options)
            leave()

        await tasks.start(on_signal, talking.cancel)
        tasks.start_soon(talk)
        try:
            async with (
                fleet,
                Served(fleet, name, manner.spell, manner.briefing, remembers=True) as live,
                server.serving(live),
            ):
                opened = True
                if on_ready:
                    on_ready(live)
                async with alongside(beside):
                    await over.wait()
        except Exception as error:  # noqa: BLE001 - raised below, outside the group that would wrap it
            failures.append(only(error))
        tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
