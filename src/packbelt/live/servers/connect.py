"""Start servers, see what they offer, and stop them again."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from mcp import Client
from mcp.client import Transport

from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import ServerSpec, Times, Workspace
from packbelt.live.environment import PlaceholderError, Resolved, child_environment, resolve
from packbelt.live.logs import discreet
from packbelt.live.servers.child import child
from packbelt.live.servers.failure import ANSWER, LIST, Witness, clean, explain, too_late
from packbelt.live.servers.listing import Listing, Tap, all_tools
from packbelt.live.servers.remote import remote
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

    Returns:
        A snapshot of these servers, in the order of `specs`.
    """
    starter = _Starter(workspace.root, workspace.config.times, on_progress or _silent, environ)
    states: dict[str, ServerState] = {}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def run(spec: ServerSpec) -> None:
        async with limiter:
            states[spec.name] = await starter.visit(spec)

    async with anyio.create_task_group() as tasks:
        for spec in specs[:MAX_SERVERS]:
            tasks.start_soon(run, spec)
    for spec in specs[MAX_SERVERS:]:
        states[spec.name] = _failed(spec.name, f"not started: the limit is {MAX_SERVERS} servers")
    return Snapshot(servers={spec.name: states[spec.name] for spec in specs})


def connect_now(
    workspace: Workspace,
    specs: Sequence[ServerSpec],
    *,
    on_progress: Progress | None = None,
    environ: Mapping[str, str] | None = None,
) -> Snapshot:
    """`connect` for callers without an event loop; an interrupt, SIGTERM or SIGHUP cleans up first.

    Raises:
        KeyboardInterrupt: after an interrupt, when every server has ended.
        SystemExit: after SIGTERM or SIGHUP, with 128 and the signal's number, as a shell reports it.
    """
    caught: list[int] = []

    async def main() -> Snapshot:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            caught.append(number)
            if task is not None:
                task.cancel()

        with suppress(NotImplementedError):  # Windows
            for number in _ending_signals():
                loop.add_signal_handler(number, stop, number)
        return await connect(workspace, specs, on_progress=on_progress, environ=environ)

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if caught:
            raise SystemExit(128 + caught[0]) from None
        raise


def _ending_signals() -> list[int]:
    """Signals that would end this process at once, its children left behind."""
    if threading.current_thread() is not threading.main_thread():
        return []
    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]


@dataclass(frozen=True, slots=True)
class _Starter:
    """Visits one server after the other with the same settings."""

    root: Path
    times: Times
    on_progress: Progress
    environ: Mapping[str, str] | None

    async def visit(self, spec: ServerSpec) -> ServerState:
        """Start one server, list its tools, stop it; never raises for what the server does."""
        began = time.monotonic()
        self.on_progress(spec.name, ServerStatus.STARTING, 0, 0.0)
        try:
            resolved = resolve(spec, self.environ)
        except PlaceholderError as error:
            state = _failed(spec.name, f"{error.detail}; {error.mend}")
        else:
            with discreet(resolved.secrets):
                state = await self._meet(resolved)
            state = replace(state, error=resolved.mask(state.error))
        self.on_progress(spec.name, state.status, len(state.tools), time.monotonic() - began)
        return state

    async def _meet(self, resolved: Resolved) -> ServerState:
        name = resolved.spec.name
        witness = Witness()
        tap = Tap(self._transport(resolved, witness))
        listing: Listing | None = None
        instructions: str | None = None
        doing, seconds = ANSWER, self.times.start
        # One scope with a moving deadline: scopes must nest, and the client's outlives the start.
        scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        try:
            with scope:
                async with Client(tap, cache=None) as client:
                    doing, seconds = LIST, self.times.list
                    scope.deadline = anyio.current_time() + seconds
                    instructions = client.instructions
                    listing = await all_tools(name, client, tap)
                    witness.healthy = True
                    scope.deadline = anyio.current_time() + self.times.shutdown
            failure = too_late(witness, doing, seconds)
        except Exception as error:  # noqa: BLE001 - whatever a server does to its client costs that server alone
            late = scope.cancel_called
            failure = too_late(witness, doing, seconds) if late else explain(error, witness, doing)
        if listing is None:
            return _failed(name, failure)
        return _connected(name, listing, instructions)

    def _transport(self, resolved: Resolved, witness: Witness) -> Transport:
        spec = resolved.spec
        if spec.transport == "http":
            return remote(resolved.url, resolved.headers, times=self.times, witness=witness)
        return child(
            spec.command,
            [value.reveal() for value in resolved.args],
            env=child_environment(resolved, self.environ),
            cwd=None if spec.cwd is None else self.root / Path(spec.cwd).expanduser(),
            shutdown=self.times.shutdown,
            witness=witness,
        )


def _connected(name: str, listing: Listing, instructions: str | None) -> ServerState:
    try:
        state = Snapshot().connect(name, listing.tools, instructions=instructions).servers[name]
    except (RecursionError, ValueError, TypeError) as error:
        return _failed(name, f"lists tools that cannot be read: {clean(str(error))}")
    return replace(state, diagnostics=(*listing.diagnostics, *state.diagnostics))


def _failed(name: str, error: str) -> ServerState:
    return ServerState(name, ServerStatus.FAILED, error=error)


def _silent(_name: str, _status: ServerStatus, _tools: int, _seconds: float) -> None:
    pass
