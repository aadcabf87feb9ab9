"""Why a server failed, in one line.

Transport and session wrap what went wrong in nested exception groups and in "Connection closed"; the
evidence lies beside them: what the process printed, how it ended, what status HTTP answered. A `Witness`
collects it for as long as the server is connected.
"""

import http
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from packbelt.model.text import cut, one_line

MAX_MESSAGE = 64 << 20
"""Bytes of one message; a server that sends more is cut off."""
STDERR_KEPT = 8192
"""Bytes kept of a server's standard error: its end, shown only where it fails."""
JUNK_KEPT = 3
"""Lines kept of what a server prints that is no message."""
LINE_LENGTH = 200
"""Bytes of a third party's words in an error."""

ANSWER, LIST = "answer", "list its tools"
"""What a server is doing when it fails."""
_LIMITS = {ANSWER: "start", LIST: "list"}
_REFUSED, _BROKEN = 400, 500
_PASSING = frozenset({404, 408, 409, 425, 429})  # what a server answers that is not there yet, or busy
_NPM = re.compile(r"npm (?:error|ERR!) (?:code|\d{3} [A-Z])")
"""The lines of npm that say what is wrong; its last line says where a log lies."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(slots=True)
class Witness:
    """What was seen of a server.

    Attributes:
        stderr: the end of its standard error.
        junk: first lines of its standard output that are no messages.
        messages: how many messages came.
        exit_code: how it ended by itself; negative for a signal; None while it runs.
        stopped: whether it was told to end; how it ends after that says nothing of it.
        oversize: whether a message passed the limit.
        status: the last HTTP status of 300 or more.
        refusal: why it stays unauthorized, in one line; empty where it is not for that.
        healthy: whether it was asked all that there was to ask; its end is then its own affair.
        mask: takes the values of secrets out of a text, before anything of it is cut off.
    """

    stderr: bytearray = field(default_factory=bytearray)
    junk: list[str] = field(default_factory=list)
    messages: int = 0
    exit_code: int | None = None
    stopped: bool = False
    oversize: bool = False
    status: int | None = None
    refusal: str = ""
    healthy: bool = False
    mask: Callable[[str], str] = field(default=str, repr=False)

    def heard(self, chunk: bytes) -> None:
        """Keep the end of standard error."""
        self.stderr += chunk
        del self.stderr[: -2 * STDERR_KEPT]  # twice: what is cut in two at its beginning is never shown

    def noticed(self, line: bytes) -> None:
        """Keep a line that is no message."""
        if len(self.junk) < JUNK_KEPT and (text := clean(self.mask(line.decode(errors="replace")))):
            self.junk.append(text)

    @property
    def last_words(self) -> str:
        """The last line of standard error that speaks of an error, else the last line; npm's by its code."""
        said = self.mask(self.stderr.decode(errors="replace"))[-STDERR_KEPT:]
        lines = [text for line in said.splitlines() if (text := clean(line))]
        telling = [line for line in lines if "error" in line.lower()]
        npms = [line for line in telling if _NPM.match(line)]
        return "; ".join(npms[:2]) if npms else (telling or lines or [""])[-1]


class RedirectRefusedError(Exception):
    """A server answered with a redirect. Carries the status and the target's origin, nothing else of it."""

    def __init__(self, status: int, origin: str) -> None:
        self.status = status
        self.origin = origin
        super().__init__(f"HTTP {status} with a redirect to {origin}")


class CannotStartError(Exception):
    """A server cannot be started or addressed at all; the message is the line."""


def clean(text: str, length: int = LINE_LENGTH) -> str:
    """A third party's words as one line: no colours, no control characters, cut to so many bytes."""
    return cut(one_line(_COLOUR.sub("", text)), length)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def too_late(witness: Witness, what: str, seconds: float) -> str:
    """The line for a server that ran out of time."""
    if witness.junk and not witness.messages:
        return _junk(witness)
    return _with_words(f"{_late(what)} {seconds:g} s", witness)


def _late(what: str) -> str:
    return f"did not {what} within"


def late_for(error: str) -> str:
    """The limit among the workspace's `times` that a server's error is about; empty if it is about none."""
    return next((limit for what, limit in _LIMITS.items() if error.startswith(_late(what))), "")


def ended(witness: Witness) -> str:
    """The line for a server that was connected and is no more; empty where nothing was seen of its end."""
    if witness.oversize:
        return _oversize()
    if witness.exit_code is not None:
        return _with_words(_ending(witness.exit_code), witness)
    return ""


def lasting(error: BaseException | None, witness: Witness) -> bool:
    """Whether a failed start cannot get better by waiting.

    It cannot where the definition itself is at fault, or where HTTP refused the request for what it is.
    """
    causes = list(leaves(error)) if error else []
    if any(isinstance(cause, RedirectRefusedError | CannotStartError) for cause in causes):
        return True
    status = witness.status or 0
    return _REFUSED <= status < _BROKEN and status not in _PASSING


def explain(error: BaseException, witness: Witness, doing: str) -> str:
    """The line for a server that failed while `doing` (`ANSWER` or `LIST`)."""
    causes = list(leaves(error))
    for cause in causes:
        if isinstance(cause, RedirectRefusedError):
            return f"answered {cause}; redirects are never followed: write the final address into `url`"
        if isinstance(cause, CannotStartError):
            return str(cause)
    if witness.oversize:
        return _oversize()
    if witness.exit_code is not None:
        return _with_words(f"{_ending(witness.exit_code)} before it could {doing}", witness)
    if witness.refusal or witness.status is not None:
        return witness.refusal or f"answered HTTP {status_line(witness.status or 0)}"
    if any(isinstance(link, ConnectionRefusedError) for cause in causes for link in _chain(cause)):
        return "connection refused: nothing listens at its address"
    first = causes[0]
    words = clean(witness.mask(str(first))) or type(first).__name__
    if isinstance(first, OSError) or type(first).__module__.partition(".")[0] in ("httpx2", "httpcore2"):
        return f"cannot be reached: {words}"
    if witness.junk and not witness.messages:
        return _junk(witness)
    return _with_words(f"did not {doing}: {words}", witness)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that it was raised from or while handling."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        link = waiting.pop()
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [inner for inner in (link.__cause__, link.__context__) if inner]
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions


def _oversize() -> str:
    return f"sent a message over the limit of {MAX_MESSAGE >> 20} MiB"


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was ended by {name}"


def _junk(witness: Witness) -> str:
    return (
        f"printed something that is not MCP: {witness.junk[0]!r}; "
        "standard output carries messages alone, logs belong on standard error"
    )


def _with_words(line: str, witness: Witness) -> str:
    return f"{line}: {witness.last_words}" if witness.last_words else line


def status_line(code: int) -> str:
    """A status of HTTP with its name."""
    try:
        return f"{code} {http.HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)
