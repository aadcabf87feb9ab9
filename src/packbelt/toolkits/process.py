"""One command run to its end: bounded in time and output, and nothing of it left alive."""

import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.abc import ByteReceiveStream, Process

from packbelt.live.group import pipe, release, signal_group, until
from packbelt.toolkits.limits import ToolkitError

_LAST_WORDS = 0.5  # seconds for the output of an ended command to arrive
_KILLED = 1.0  # seconds for the loop to see that a killed process has ended


@dataclass(slots=True)
class Kept:
    """The beginning and the end of a stream.

    Attributes:
        most: bytes kept of each of the two.
        left_out: bytes between them.
    """

    most: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    left_out: int = 0

    def add(self, data: bytes) -> None:
        """Take what was read."""
        room = self.most - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room < len(data) else b""
        if (over := len(self.tail) - self.most) > 0:
            del self.tail[:over]
            self.left_out += over

    def text(self) -> str:
        """As text, foreign bytes as U+FFFD; says how much is missing in the middle."""
        gap = f"\n... {self.left_out:,} bytes left out ...\n".encode() if self.left_out else b""
        return bytes(self.head + gap + self.tail).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        exit_code: its own, negative for a signal; None where its time was up.
    """

    exit_code: int | None
    stdout: str
    stderr: str


async def run(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, seconds: float, keep: int = 32 << 10
) -> Ended:
    """Run a command directly, with nothing on its standard input, in a process group of its own.

    When it ends, when its time is up and when the caller is cancelled, every process of the group is killed.
    A process that leaves the group on purpose (a daemon) is out of reach.

    Args:
        argv: the command, looked up in the PATH of `env`, and its arguments.
        env: its whole environment.
        cwd: its directory.
        seconds: its time.
        keep: bytes kept of the beginning, and as many of the end, of each stream.

    Raises:
        ToolkitError: it cannot be started.
    """
    out, err = Kept(keep), Kept(keep)
    process = await _start(argv, env, cwd)
    try:
        with anyio.move_on_after(seconds) as time:
            async with anyio.create_task_group() as readers:
                readers.start_soon(_read, process.stdout, out)
                readers.start_soon(_read, process.stderr, err)
                await until(lambda: process.returncode is not None)
                signal_group(process.pid, signal.SIGKILL)  # what it left behind also holds its pipes
                readers.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS
        late = time.cancelled_caught
    finally:
        signal_group(process.pid, signal.SIGKILL)
        with anyio.move_on_after(_KILLED, shield=True):
            await until(lambda: process.returncode is not None)
        release(process)
    return Ended(None if late else process.returncode, out.text(), err.text())


async def _start(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Process:
    if sys.platform == "win32":
        raise ToolkitError("commands are not run on Windows: their processes could not be ended with them")
    if not await anyio.Path(cwd).is_dir():  # exec would call it a missing command
        raise ToolkitError(f"{cwd.name!r} is no directory")
    process = None
    try:
        with anyio.CancelScope(shield=True):  # between fork and handle a cancellation would lose the process
            process = await anyio.open_process(argv, env=env, cwd=cwd, stdin=DEVNULL, start_new_session=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = getattr(error, "strerror", None) or str(error)
        raise ToolkitError(f"{argv[0]} cannot be run: {reason}", mend=f"install {argv[0]}") from None
    if process is None:
        raise RuntimeError("a shielded start was cancelled")
    return process


async def _read(stream: ByteReceiveStream | None, kept: Kept) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        while True:
            kept.add(await pipe(stream).receive())
