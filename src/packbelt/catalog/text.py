"""Files as text: bounded, UTF-8, and never from outside the workspace."""

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from packbelt.model import PackbeltError, Where, WorkspaceError

MAX_FILE = 1 << 20
"""Bytes of one file of a workspace."""
MAX_SNAPSHOT = 64 << 20
"""Bytes of a snapshot file."""


class OutsideError(WorkspaceError):
    """A symbolic link leads out of the workspace."""


def read_text(
    path: Path, file: str, *, limit: int = MAX_FILE, error: type[PackbeltError] = WorkspaceError
) -> str:
    """A file's text without a byte order mark, lines ended by a line feed.

    Args:
        path: the file.
        file: its name in messages.
        limit: most bytes it may have.
        error: what is raised.

    Raises:
        PackbeltError: it cannot be read, is no regular file, is too large or is not UTF-8.
    """
    where = Where(file)
    try:
        # Asked before opening: a named pipe would block for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise error("is not a regular file", where=where, mend="replace it by a file")
        with path.open("rb") as handle:
            data = handle.read(limit + 1)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise error(f"cannot be read: {reason}", where=where, mend="check its path and permissions") from None
    if len(data) > limit:
        raise error(f"has more than {limit:,} bytes", where=where, mend="split it or make it smaller")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise error("is not UTF-8", where=Where(file, line), mend="save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder; one that cannot be followed or asked does not."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Whether a path leads to a regular file; one that cannot be followed or asked does not."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # pathlib forgives a missing file, but no name that is too long
        return 0


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds.

    Attributes:
        files: in the order of their paths.
        outside: links to folders outside the workspace, which were not entered.
    """

    files: tuple[Path, ...]
    outside: tuple[Path, ...]


class Tree:
    """A workspace's directory.

    Args:
        root: the directory; it may itself be reached by a link.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def name(self, path: Path) -> str:
        """A path relative to the workspace, with `/`."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def holds(self, path: Path) -> bool:
        """Whether a path, all links followed, lies in the workspace."""
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):  # a circle of links
            return False

    def refusal(self, path: Path) -> WorkspaceError | None:
        """Why a path is not to be followed: a link that leads to nothing, in a circle, or out; or None."""
        where = Where(self.name(path))
        try:
            real = path.resolve(strict=True)
        except FileNotFoundError:
            if not os.path.lexists(path):
                return None
            return WorkspaceError("is a link that leads to nothing", where=where, mend="mend or remove it")
        except (OSError, RuntimeError) as problem:
            # A circle is a RuntimeError up to Python 3.12; what else cannot be followed, reading reports.
            if isinstance(problem, RuntimeError) or problem.errno == errno.ELOOP:
                return WorkspaceError("is a link that leads in a circle", where=where, mend="remove it")
            return None
        if real.is_relative_to(self.root):
            return None
        return OutsideError("is a link that leads out of the workspace", where=where, mend="copy it in")

    def read(self, path: Path) -> str:
        """A file's text.

        Raises:
            OutsideError: a link leads out of the workspace.
            WorkspaceError: a link leads nowhere; else see `read_text`.
        """
        if problem := self.refusal(path):
            raise problem
        return read_text(path, self.name(path))

    def peek(self, path: Path) -> str:
        """What can be told of the beginning of a file that `read` refuses, foreign bytes as U+FFFD.

        Empty where nothing can: for a folder, a link out, or a file that may not be read.
        """
        try:
            if self.refusal(path) or not stat.S_ISREG(path.stat().st_mode):
                return ""
            with path.open("rb") as handle:
                data = handle.read(MAX_FILE)
        except OSError:
            return ""
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def find(self, folder: Path, *suffixes: str, deep: bool = False) -> Listing:
        """What a folder holds under names with one of these suffixes, hidden ones left out.

        A folder of such a name is among them, so that reading it says that it is no file.

        Args:
            folder: a folder of the workspace; a missing one is empty.
            suffixes: with their dot.
            deep: whether folders below are entered, each once whatever links lead to it.

        Raises:
            OutsideError: the folder itself leads out of the workspace.
            WorkspaceError: a folder cannot be listed, or is a link that leads nowhere.
        """
        files: list[Path] = []
        outside: list[Path] = []
        seen: set[Path] = set()
        todo = [folder]
        while todo:
            here = todo.pop()
            entries = self.entries(here)
            if (real := here.resolve()) in seen:
                continue
            seen.add(real)
            for path in entries:
                if path.name.startswith("."):
                    continue
                if path.suffix in suffixes:
                    files.append(path)
                if deep and is_folder(path):
                    (todo if self.holds(path) else outside).append(path)
        return Listing(tuple(sorted(files)), tuple(sorted(outside)))

    def entries(self, folder: Path) -> list[Path]:
        """Everything directly in a folder, in the order of the names; a missing folder is empty.

        Raises:
            OutsideError: it is a link that leads out of the workspace.
            WorkspaceError: it cannot be listed.
        """
        if not os.path.lexists(folder):
            return []
        if problem := self.refusal(folder):
            raise problem
        try:
            return sorted(folder.iterdir())
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
            raise WorkspaceError(
                f"cannot be listed: {reason}",
                where=Where(self.name(folder)),
                mend="check it is a readable folder",
            ) from None
