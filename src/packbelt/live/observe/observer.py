"""`Observer`: what a fleet does is said to it once; it writes the event log and the spans.

The fleet and its agents say what happens and nothing else::

    observer = Observer(EventLog.of(events), mask=mask)
    observer.server(state)
    observer.turn(agent, turn, before)
    with observer.run(agent) as work:
        with observer.call(agent, call) as seen:
            seen.asked(refusal)         # a person's answer, once it is there
            seen.admitted(resolved)     # unless it was refused
            seen.dispatched()           # it is sent now; until here it waited
            seen.ended(result)
        work.ended(status, resumable=True)

Where nobody listens, each of these is a call that does nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter

from packbelt.catalog.registry import bits
from packbelt.catalog.snapshot import ServerState
from packbelt.live.observe.events import Event, EventLog, ReloadEvent, RunEvent, ServerEvent, TurnEvent
from packbelt.live.observe.seen import Actor, Deaf, Seen, Words, milliseconds
from packbelt.live.observe.spans import NO_SPAN, SpanHandle, Spans
from packbelt.model import ServerStatus, ToolCall
from packbelt.turn import Turn


class Observer:
    """Writes what happens to an event log and to spans; no failure of either harms what is observed.

    Args:
        log: where events go; none by default.
        spans: what makes spans; by default, where a tracer provider is configured.
        mask: replaces the values of the secrets in use in a text; it is asked for everything that others
            wrote, and for arguments and results.
    """

    def __init__(
        self,
        log: EventLog | None = None,
        spans: Spans | None = None,
        *,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        self.log = log or EventLog(None)
        self.spans = spans or Spans()
        self.words = Words(mask or str)
        self._servers: dict[str, tuple[object, ...]] = {}
        self._began: dict[str, float] = {}

    @property
    def active(self) -> bool:
        """Whether anybody listens."""
        return self.log.active or self.spans.active

    def server(self, state: ServerState) -> None:
        """A server's state changed. One in which nothing that is told is new is no event."""
        if self.log.active:
            seconds = self._since(state)
            told = (state.status, state.tools, state.error)
            if self._servers.get(state.name) == told:
                return
            self._servers[state.name] = told
            self.emit(
                lambda: ServerEvent(
                    server=self.words.said(state.name),
                    status=state.status,
                    tools=len(state.tools),
                    error=self.words.said(state.error),
                    ms=milliseconds(seconds),
                )
            )

    def _since(self, state: ServerState) -> float | None:
        """Seconds from a server's start to a state that ends it, where the start was told."""
        if state.status is ServerStatus.STARTING:
            self._began[state.name] = perf_counter()
            return None
        began = self._began.pop(state.name, None)
        return None if began is None else perf_counter() - began

    def turn(self, agent: Actor, turn: Turn, before: Turn | None = None) -> None:
        """An agent's belt was decided. The very turn that it had before is no event.

        Args:
            agent: whose.
            turn: its turn now.
            before: the turn before, or None for its first.
        """
        if self.log.active and turn is not before:
            self.emit(lambda: self._turn(agent, turn, before))

    def call(self, agent: Actor, call: ToolCall) -> AbstractContextManager[Seen]:
        """While inside, a call is resolved, and made or refused: its span, and an event at its end."""
        return Seen(self, agent, call) if self.active else _DEAF

    def run(self, agent: Actor, *, resumed: bool = False) -> "AbstractContextManager[Work]":
        """While inside, an agent works on a request: its span, and an event at its start and end."""
        return self._run(agent, "resumed" if resumed else "started") if self.active else _IDLE

    def reload(self, workspace: str, servers: int, *, error: str = "", seconds: float | None = None) -> None:
        """The workspace was loaded anew or, with an error, was not.

        Args:
            workspace: its directory.
            servers: how many servers it configures.
            error: why the one before was kept.
            seconds: how long it took.
        """
        if self.log.active:
            self.emit(
                lambda: ReloadEvent(
                    workspace=self.words.said(workspace),
                    servers=servers,
                    error=self.words.said(error),
                    ms=milliseconds(seconds),
                )
            )

    def emit(self, build: Callable[[], Event]) -> None:
        """Build an event and log it; not even a failure to build it is the caller's."""
        if not self.log.active:
            return
        try:
            event = build()
        except Exception as error:  # noqa: BLE001 - as above
            self.log.fail(error)
        else:
            self.log.emit(event)

    def _turn(self, agent: Actor, turn: Turn, before: Turn | None) -> TurnEvent:
        belt = turn.belt
        is_now = _callable(turn)
        was = is_now if before is None else _callable(before)
        return TurnEvent(
            agent="/".join(agent.path),
            run=agent.run_id,
            direct=len(belt.tools),
            packed=belt.packed.bit_count(),
            deferred=belt.deferred.bit_count(),
            withheld=len(belt.registry.tools) - belt.callable.bit_count(),
            digest=turn.digest,
            gained=tuple(self.words.said(name) for name in is_now if name not in was),
            lost=tuple(self.words.said(name) for name in was if name not in is_now),
        )

    @contextmanager
    def _run(self, agent: Actor, phase: str) -> "Iterator[Work]":
        path, run, parent = "/".join(agent.path), agent.run_id, agent.parent
        above = parent.run_id if parent else ""
        self.emit(lambda: RunEvent(agent=path, run=run, phase=phase, status="running", parent=above))
        work, began, broken = Work(), perf_counter(), ""
        try:
            with self.spans.agent(agent.path, run) as work.span:
                yield work
        except BaseException as error:
            broken = type(error).__name__
            raise
        finally:
            over = perf_counter()
            self.emit(
                lambda: RunEvent(
                    agent=path,
                    run=run,
                    phase="finished",
                    status=work.status or ("failed" if broken else "completed"),
                    parent=above,
                    resumable=work.resumable,
                    reason=self.words.said(work.reason) or broken,
                    ms=milliseconds(over - began),
                )
            )


class Work:
    """One agent at work, as the one who keeps its record tells of it."""

    __slots__ = ("reason", "resumable", "span", "status")

    def __init__(self) -> None:
        self.span: SpanHandle = NO_SPAN
        self.status = self.reason = ""
        self.resumable: bool | None = None

    def ended(self, status: str, *, resumable: bool | None = None, reason: str = "") -> None:
        """The run's record as it now stands.

        Args:
            status: `completed` or `failed`.
            resumable: whether it can be continued.
            reason: why it cannot, or why it failed.
        """
        self.status, self.resumable, self.reason = str(status), resumable, reason
        if self.status == "failed":
            self.span.failed(self.status)


class _Idle(Work):
    __slots__ = ()

    def ended(self, status: str, *, resumable: bool | None = None, reason: str = "") -> None:
        """Nobody listens."""


def _callable(turn: Turn) -> dict[str, None]:
    tools = turn.belt.registry.tools
    return dict.fromkeys(str(tools[i].id) for i in bits(turn.belt.callable))


_DEAF = Deaf()
_IDLE: AbstractContextManager[Work] = nullcontext(_Idle())
