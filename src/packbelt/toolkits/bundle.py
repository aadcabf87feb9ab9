"""What a source holds, entry by entry, before a single byte of it is written anywhere.

Nothing is ever unpacked by an archive library: entries are listed, judged, and the regular files of one skill
are read one by one and written as new plain files.
"""

import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Protocol

from packbelt.toolkits.limits import Limits, ToolkitError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_PATH = 400  # characters
_MAX_TARGET = 4096  # bytes of a link's target
CHUNK = 1 << 16
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    ValueError,
)


class Kind(Enum):
    """What an entry is. A folder counts by the files in it."""

    FILE = "file"
    LINK = "link"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a source.

    Attributes:
        path: with `/`, relative to the source.
        kind: a hard link in an archive is a link too.
        size: bytes, as the source says.
        executable: whether its owner may run it.
        target: where a link leads, as a path of the source; empty if out of it.
        problem: why it cannot be installed whatever else holds; empty if it can.
    """

    path: str
    kind: Kind
    size: int = 0
    executable: bool = False
    target: str = ""
    problem: str = ""


class Bundle(Protocol):
    """An open source."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """By path."""
        ...

    @property
    def twice(self) -> frozenset[str]:
        """Paths that stand in it more than once."""
        ...

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file of it."""
        ...


def path_problem(path: str) -> str:
    """Why a path is none that may be written on every system; empty if it is."""
    parts = path.split("/")
    if path.startswith("/"):
        return "is absolute"
    if ".." in parts:
        return "leads out of its folder"
    if "" in parts or "." in parts:
        return "has an empty part"
    if "\\" in path or ":" in path:
        return "holds a \\ or a :"
    if _CONTROL.search(path):
        return "holds a control character"
    if not path.isprintable() or path != path.encode("utf-8", "replace").decode():
        return "holds a character that cannot be printed"
    if len(path) > _MAX_PATH:
        return f"has more than {_MAX_PATH} characters"
    return ""


def link_target(path: str, target: str) -> str:
    """Where a symbolic link at a path leads, within the source; empty if out of it."""
    if target.startswith("/") or "\\" in target or "\0" in target:
        return ""
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def read_all(bundle: Bundle, path: str, limit: int) -> bytes:
    """A file's bytes.

    Raises:
        ToolkitError: it has more than the limit, whatever its source says.
    """
    with reading(), bundle.open(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ToolkitError(f"{path!r} has more than {limit:,} bytes")
    return data


@contextmanager
def reading() -> Iterator[None]:
    """Say of a source's faults that they are the source's."""
    try:
        yield
    except _BROKEN as error:
        raise ToolkitError(f"the source is broken: {error}") from None


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory as a source. Links are seen and not followed."""

    root: Path
    entries: Mapping[str, Entry]
    twice: frozenset[str] = frozenset()

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file; see `Bundle`."""
        # NOFOLLOW and NONBLOCK: what was a file when it was listed may be a link or a pipe by now.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            number = os.open(self.root / path, flags)
        except OSError as error:
            raise ToolkitError(f"{path!r} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise ToolkitError(f"{path!r} is no regular file any more")
        return os.fdopen(number, "rb")


@contextmanager
def open_folder(root: Path, limits: Limits) -> Iterator[Folder]:
    """List a directory.

    Raises:
        ToolkitError: it is none, cannot be listed, or has too many entries.
    """
    entries: dict[str, Entry] = {}
    waiting = [root]
    seen = 0
    while waiting:
        folder = waiting.pop()
        try:
            found = sorted(os.scandir(folder), key=lambda each: each.name)
        except OSError as error:
            raise ToolkitError(f"{folder.name!r} cannot be listed: {error.strerror}") from None
        seen += len(found)
        if seen > limits.entries:
            raise ToolkitError(f"it has more than {limits.entries:,} entries", mend="name a smaller folder")
        for each in found:
            path = Path(each.path)
            if each.is_dir(follow_symlinks=False):
                if each.name != ".git":
                    waiting.append(path)
            else:
                entry = _entry(path, path.relative_to(root).as_posix())
                entries[entry.path] = entry
    yield Folder(root, entries)


def _entry(path: Path, name: str) -> Entry:
    try:
        found = path.lstat()
        target = str(path.readlink()) if stat.S_ISLNK(found.st_mode) else ""
    except OSError as error:
        return Entry(name, Kind.SPECIAL, problem=f"cannot be read: {error.strerror}")
    return made(name, found.st_mode, found.st_size, target)


def made(path: str, mode: int, size: int, target: str = "") -> Entry:
    """An entry of a path, its mode, its size, and what a symbolic link says."""
    problem = path_problem(path)
    if stat.S_ISLNK(mode):
        return Entry(path, Kind.LINK, target=link_target(path, target[:_MAX_TARGET]), problem=problem)
    if not stat.S_ISREG(mode):
        return Entry(path, Kind.SPECIAL, problem=problem or "is a device, a pipe or a socket")
    return Entry(path, Kind.FILE, size, bool(mode & stat.S_IXUSR), problem=problem)
