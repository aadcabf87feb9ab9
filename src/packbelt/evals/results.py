"""The results file: JSON lines, a header and then one line for each play with its whole trace.

A line is written and flushed as its play ends, so that a run that is killed loses only what was under way.
Run again with the same file, only what is missing is played.
"""

import json
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import lock_descriptor
from pydantic import TypeAdapter

from packbelt._version import __version__
from packbelt.evals.executors.work import Bench
from packbelt.evals.identity import cases_digest, workspace_digest
from packbelt.evals.outcomes import Result
from packbelt.evals.report import judged_again
from packbelt.evals.trials import Played, Trial
from packbelt.model import PackbeltError, Where

_MEND = "name another file, or move this one away"


class ResultsError(PackbeltError):
    """A results file cannot be read, or is that of another run."""


@dataclass(frozen=True, slots=True)
class Header:
    """What was played, so that two runs are not mistaken for one.

    Attributes:
        packbelt: its version.
        suites: the suites' ids.
        cases: digest of the cases as they are played.
        workspace: digest of what decides the workspace's belts and prompts.
    """

    packbelt: str
    suites: tuple[str, ...]
    cases: str
    workspace: str

    @classmethod
    def of(cls, bench: Bench) -> Self:
        """The header of a job."""
        return cls(
            __version__,
            tuple(suite.id for suite in bench.suites),
            cases_digest(bench.cases),
            workspace_digest(bench.workspace),
        )


_TITLES = {
    "packbelt": "another version of packbelt",
    "suites": "other suites",
    "cases": "other cases, or they were changed",
    "workspace": "another workspace, or it was changed",
}


class Results:
    """A results file that is written to. Made by `open`, and used as a context manager.

    Attributes:
        header: what is played.
        played: what the file held when it was opened, each trial once.
    """

    def __init__(self, file: IO[bytes], header: Header, played: Sequence[Played]) -> None:
        self._file = file
        self.header = header
        self.played = tuple(played)

    @classmethod
    def open(cls, path: Path, header: Header) -> Self:
        """Open a file, or begin one, and keep others from writing to it.

        A last line that was cut off is dropped.

        Args:
            path: the file.
            header: what is to be played.

        Raises:
            ResultsError: the file is that of another run, is being written by one, holds a line that is no
                result, or cannot be read or written.
        """
        try:
            file = path.open("a+b")
        except OSError as error:
            raise _unusable(error, path) from None
        try:
            played = _taken(file, header, path)
        except OSError as error:
            file.close()
            raise _unusable(error, path) from None
        except ResultsError:
            file.close()
            raise
        return cls(file, header, played)

    def missing(self, trials: Sequence[Trial]) -> tuple[Trial, ...]:
        """Those that the file does not hold. A play in which the eval itself failed is played again."""
        held = {one.trial for one in self.played if one.report.result is not Result.HARNESS_ERROR}
        return tuple(trial for trial in trials if trial not in held)

    def add(self, played: Played) -> None:
        """Write one play.

        Raises:
            ResultsError: it cannot be written.
        """
        line = _line(_plays().dump_python(played, mode="json"))
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise _unusable(error, Path(self._file.name)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError) if error else nullcontext():  # what could not be written was said
            self._file.close()


def read_results(path: Path) -> tuple[Header, tuple[Played, ...]]:
    """A results file, every outcome worked out anew from its trace. A last line that was cut off is left out.

    Of a trial that was played again because the eval itself had failed, the last play counts; it stands
    where the first stood.

    Raises:
        ResultsError: it cannot be read, or holds a line that is no result.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unusable(error, path) from None
    return _read(content[: content.rfind(b"\n") + 1], path)


def _taken(file: IO[bytes], header: Header, path: Path) -> Sequence[Played]:
    """What a file holds, once nobody else writes to it; a new one begins with the header.

    Raises:
        ResultsError: as for `Results.open`.
        OSError: it cannot be read, written or locked.
    """
    if not lock_descriptor(file.fileno(), blocking=False):  # closing the file lets go of it
        raise ResultsError(
            "is being written by another run",
            where=Where(str(path)),
            mend="wait for it, or name another file",
        )
    file.seek(0)
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    first = _line(asdict(header))
    if whole:
        known, played = _read(whole, path)
        _compare(known, header, path)
    elif first.startswith(content):
        whole, played = first, ()
        file.truncate(0)
        file.write(first)
    else:
        raise _no_results(path)
    if len(whole) < len(content):
        file.truncate(len(whole))
    file.flush()
    return played


def _read(content: bytes, path: Path) -> tuple[Header, tuple[Played, ...]]:
    head, *lines = content.splitlines() or [b""]
    try:
        data = json.loads(head)
        header = Header(data["packbelt"], tuple(data["suites"]), data["cases"], data["workspace"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _no_results(path) from None
    played: dict[Trial, Played] = {}
    for number, line in enumerate(lines, 2):
        try:
            one = _plays().validate_python(json.loads(line))
        except (ValueError, RecursionError):  # a ValidationError among them
            raise ResultsError("is no result", where=Where(str(path), number), mend=_MEND) from None
        played[one.trial] = Played(one.trial, judged_again(one.report), one.seconds)
    return header, tuple(played.values())


def _compare(known: Header, header: Header, path: Path) -> None:
    for field, said in _TITLES.items():
        if getattr(known, field) != getattr(header, field):
            raise ResultsError(f"was written for {said}", where=Where(str(path)), mend=_MEND)


def _no_results(path: Path) -> ResultsError:
    return ResultsError(
        "is no results file", where=Where(str(path), 1), mend="name a file that --results wrote"
    )


def _unusable(error: OSError, path: Path) -> ResultsError:
    return ResultsError(
        f"cannot be used ({error.strerror})", where=Where(str(path)), mend="name another file"
    )


def _line(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


@cache
def _plays() -> TypeAdapter[Played]:
    return TypeAdapter(Played)
