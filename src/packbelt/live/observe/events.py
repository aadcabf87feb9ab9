"""The event log: one line of JSON for each thing that happened.

Five kinds of event. Keys without a value are left out; times are ISO 8601 in UTC, spans of time milliseconds.

- `server`: a server is starting, connected, failed or lost.
- `turn`: an agent's belt was decided.
- `call`: a call has ended, or was refused.
- `run`: an agent began or ended its work.
- `reload`: the workspace was loaded anew, or could not be.

What a tool was called with and what it answered stands in none of them unless the log was opened with
`arguments=True`. What others wrote (a name that a model made up, an error's words) is one line without
control characters, at most 240 bytes long, with the values of secrets masked: the `Observer`, which builds
the events, sees to that.
"""

import inspect
import io
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from packbelt.model import HintClass, Outcome, PackbeltError, Rule, ServerStatus, State

logger = logging.getLogger("packbelt.events")
"""Where it is said, once, that a log came to its end."""


class EventLogError(PackbeltError):
    """An event log cannot be opened."""


def now() -> str:
    """The time in UTC as the events have it: `2026-01-31T09:30:00.125Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    kind: ClassVar[str]
    time: str = field(default_factory=now)

    def to_json(self) -> dict[str, Any]:
        """The event as plain data, `kind` and `time` first; keys without a value are left out."""
        values = ((entry.name, getattr(self, entry.name)) for entry in fields(self))
        told = {name: value for name, value in values if value is not None and value not in ("", ())}
        return {"kind": self.kind, "time": self.time, **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent(_Event):
    """A server's state changed.

    Attributes:
        server: its name.
        status: its state now.
        tools: how many tools it lists.
        error: why it failed, in one line.
        ms: from its start to this state, where that was measured.
    """

    kind: ClassVar[str] = "server"
    server: str
    status: ServerStatus
    tools: int = 0
    error: str = ""
    ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEvent(_Event):
    """An agent's belt was decided.

    Attributes:
        agent: the agents from the root down to this one, joined by `/`.
        run: the run's id.
        direct: tools whose schemas are sent, the opener among them.
        packed: tools behind the opener.
        deferred: tools behind the search.
        withheld: every other known tool.
        digest: of the bytes that are sent.
        gained: identities of tools that can be called now and could not in the turn before.
        lost: identities of tools that could be called in the turn before and cannot now.
    """

    kind: ClassVar[str] = "turn"
    agent: str
    run: str = ""
    direct: int
    packed: int
    deferred: int
    withheld: int
    digest: str
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent(_Event):
    """A call has ended, or was refused.

    Attributes:
        agent: the agents from the root down to the one that called, joined by `/`.
        run: the run's id.
        call: the provider's id of the call.
        name: what was called, as the model said it.
        tool: the identity of the tool that was meant; absent for a name that is none.
        wire_name: that tool's wire name.
        pack: the pack it was looked for in, where it came by the opener.
        target: for a hand-off, the agent it leads to.
        state: what the tool was to the agent.
        rule: the rule that gave this state.
        hint: the class of the answer, where the call was refused.
        approval: `granted` or `refused`, where a person was asked.
        approval_ms: how long the person took.
        outcome: how the call ended; `ambiguous` where it was broken off after it was sent, absent before.
        error: what broke it off: an exception's class.
        queued_ms: from when it was admitted, and approved, until it was sent.
        running_ms: from when it was sent until its end.
        arguments: JSON, where it was asked for.
        result: text, where it was asked for.
    """

    kind: ClassVar[str] = "call"
    agent: str
    run: str = ""
    call: str = ""
    name: str
    tool: str = ""
    wire_name: str = ""
    pack: str = ""
    target: str = ""
    state: State = State.UNKNOWN
    rule: Rule = Rule.NO_SUCH_TOOL
    hint: HintClass | None = None
    approval: str = ""
    approval_ms: float | None = None
    outcome: Outcome | None = None
    error: str = ""
    queued_ms: float | None = None
    running_ms: float | None = None
    arguments: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent(_Event):
    """An agent began or ended its work on a request.

    Attributes:
        agent: the agents from the root down to this one, joined by `/`.
        run: the run's id.
        phase: `started`, `resumed` or `finished`.
        status: where the run stands.
        parent: the run that spawned it.
        resumable: whether it can be continued; absent while it is at work.
        reason: why it cannot, or why it failed.
        ms: how long it worked.
    """

    kind: ClassVar[str] = "run"
    agent: str
    run: str
    phase: str
    status: str
    parent: str = ""
    resumable: bool | None = None
    reason: str = ""
    ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadEvent(_Event):
    """The workspace was loaded anew.

    Attributes:
        workspace: its directory.
        servers: how many servers it configures.
        error: why the workspace before it was kept; absent where the new one took its place.
        ms: how long it took.
    """

    kind: ClassVar[str] = "reload"
    workspace: str
    servers: int = 0
    error: str = ""
    ms: float | None = None


Event = ServerEvent | TurnEvent | CallEvent | RunEvent | ReloadEvent
"""All the kinds there are."""


class Writable(Protocol):
    """An open file, of text or of bytes."""

    def write(self, text: Any, /) -> object:
        """Take one line."""
        ...


Sink = Callable[[Event], object] | str | Path | Writable
"""A function that is given each event; a file's path; an open file."""


class EventLog:
    """Where events go.

    Each event is one write of one whole line to a file opened for appending, so that several processes may
    share one log. A sink that fails harms no call: the failure is said once, as a warning of the logger
    `packbelt.events`, and the log is at its end. Used as a context manager, it closes the file it opened.

    Args:
        sink: a function, which is called with each event in the thread where it happened and must not wait;
            a path, which is created with mode 0600 where it does not exist; an open file of text or bytes,
            which stays open; or None for no log.
        arguments: also keep what tools are called with and what they answer, at most 2,000 bytes of
            each; values of the servers' own secrets are masked there too.

    Raises:
        EventLogError: the file cannot be opened.
        TypeError: the function is asynchronous, or the sink is none.
    """

    def __init__(self, sink: Sink | None, *, arguments: bool = False) -> None:
        self.arguments = arguments
        self._file: int | None = None
        self._write = self._writer(sink)

    @classmethod
    def of(cls, events: "EventLog | Sink | None") -> "EventLog":
        """The log as it is, or a log of this sink.

        Raises:
            EventLogError, TypeError: as for `EventLog`.
        """
        return events if isinstance(events, EventLog) else cls(events)

    @property
    def active(self) -> bool:
        """Whether an event given to it gets anywhere; nobody needs to build one that does not."""
        return self._write is not None

    def emit(self, event: Event) -> None:
        """Take one event. Raises nothing."""
        if self._write is None:
            return
        try:
            self._write(event)
        except Exception as error:  # noqa: BLE001 - a log's failure is never a call's
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """The log is at its end; says so, without a word of an event. Raises nothing."""
        if self._write is None:
            return
        self.close()
        # The words of an exception may be the event's; those of the system are about the file alone.
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        with suppress(Exception):  # a handler of somebody's
            logger.warning("the event log failed and is switched off: %s", why)

    def close(self) -> None:
        """No event is taken any more; the file that the log opened is closed. May be called again."""
        self._write = None
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _writer(self, sink: Sink | None) -> Callable[[Event], object] | None:
        if sink is None:
            return None
        if isinstance(sink, str | Path):
            self._file = _open(Path(sink))
            return self._append
        write = getattr(sink, "write", None)
        if callable(write):
            return _lines_to(sink, write)
        if inspect.iscoroutinefunction(sink) or not callable(sink):
            raise TypeError(f"events go to a function, a path or an open file, not to {type(sink).__name__}")
        return sink

    def _append(self, event: Event) -> None:
        line = _line(event).encode()
        if self._file is not None and os.write(self._file, line) != len(line):
            raise OSError(0, "a line was written in part")


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise EventLogError(
            f"the event log {path} cannot be opened: {reason}", mend="name a file that can be written"
        ) from None


def _lines_to(sink: object, write: Callable[[Any], object]) -> Callable[[Event], object]:
    raw = isinstance(sink, io.RawIOBase | io.BufferedIOBase)
    flush = getattr(sink, "flush", None)

    def put(event: Event) -> None:
        line = _line(event)
        write(line.encode() if raw else line)
        if callable(flush):
            flush()

    return put


def _line(event: Event) -> str:
    """ASCII, so that no character of a result ends a line or speaks to a terminal."""
    return json.dumps(event.to_json(), separators=(",", ":")) + "\n"
