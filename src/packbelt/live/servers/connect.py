"""Start servers, see what they offer, and stop them again."""

import time
from collections.abc import Callable, Mapping, Sequence

import anyio

from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import ServerSpec, Workspace
from packbelt.live.foreground import foreground
from packbelt.live.servers.connection import Connection, Settings
from packbelt.live.servers.oauth import OAuth
from packbelt.model import ServerStatus

AT_ONCE = 16
"""Servers that start at the same time; each has its whole start time from when its turn comes."""
MAX_SERVERS = 256
"""Servers of one call; the rest fails."""

Progress = Callable[[str, ServerStatus, int, float], None]
"""Called with a server's name, its status, how many tools it has, and the seconds since it began to start."""


async def connect(
    workspace: Workspace,
    specs: Sequence[ServerSpec],
    *,
    on_progress: Progress | None = None,
    environ: Mapping[str, str] | None = None,
    oauth: OAuth | None = None,
) -> Snapshot:
    """Start servers, list their tools, stop them, and say what was found.

    Starts whatever it is given: ask `Trust` first. Servers start concurrently; each has `times.start` to
    answer and `times.list` to list its tools. One that fails is marked so, with the reason in one line, and
    changes nothing for the others. When this returns, is cancelled or raises, no process it started is left.

    Args:
        workspace: for its root, which relative `cwd`s are relative to, and its times.
        specs: the servers.
        on_progress: told when a server starts, is connected, or failed.
        environ: where placeholders and the children's environment come from; `os.environ` by default.
        oauth: how HTTP servers are authorized; None for not at all.

    Returns:
        A snapshot of these servers, in the order of `specs`.
    """
    limiter = anyio.CapacityLimiter(AT_ONCE)
    settings = Settings(
        workspace.root,
        workspace.config.times,
        environ,
        starts=anyio.CapacityLimiter(AT_ONCE),
        oauth=oauth,
    )
    states: dict[str, ServerState] = {}

    async def run(spec: ServerSpec) -> None:
        async with limiter:
            states[spec.name] = await _visit(spec, settings, on_progress or _silent)

    async with anyio.create_task_group() as tasks:
        for spec in specs[:MAX_SERVERS]:
            tasks.start_soon(run, spec)
    for spec in specs[MAX_SERVERS:]:
        error = f"not started: the limit is {MAX_SERVERS} servers"
        states[spec.name] = ServerState(spec.name, ServerStatus.FAILED, error=error)
    return Snapshot(servers={spec.name: states[spec.name] for spec in specs})


def connect_now(
    workspace: Workspace,
    specs: Sequence[ServerSpec],
    *,
    on_progress: Progress | None = None,
    environ: Mapping[str, str] | None = None,
    oauth: OAuth | None = None,
) -> Snapshot:
    """`connect` for callers without an event loop; an interrupt, SIGTERM or SIGHUP cleans up first.

    Raises:
        KeyboardInterrupt: after an interrupt, when every server has ended.
        SystemExit: after SIGTERM or SIGHUP, with 128 and the signal's number, as a shell reports it.
    """
    return foreground(
        lambda: connect(workspace, specs, on_progress=on_progress, environ=environ, oauth=oauth)
    )


async def _visit(spec: ServerSpec, settings: Settings, on_progress: Progress) -> ServerState:
    """Start one server, list its tools, stop it; never raises for what the server does."""
    began = time.monotonic()
    on_progress(spec.name, ServerStatus.STARTING, 0, 0.0)

    def told(state: ServerState) -> None:
        if state.status is not ServerStatus.STARTING:
            connection.stop()

    connection = Connection(spec, settings, on_state=told)
    await connection.run()
    state = connection.state
    on_progress(spec.name, state.status, len(state.tools), time.monotonic() - began)
    return state


def _silent(_name: str, _status: ServerStatus, _tools: int, _seconds: float) -> None:
    pass
