"""Archives as sources: zip, tar and tar.gz, told apart by their first bytes."""

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from packbelt.toolkits.bundle import CHUNK, Bundle, Entry, Kind, made, path_problem, reading
from packbelt.toolkits.limits import Limits, ToolkitError

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP = b"\x1f\x8b"
_TAR = b"ustar"
_MARK = slice(257, 262)  # where a tar file says what it is
_ENCRYPTED = 1
_UNIX = 3


@dataclass(frozen=True, slots=True)
class Zip:
    """A zip file."""

    file: zipfile.ZipFile
    entries: Mapping[str, Entry]
    twice: frozenset[str]

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file; see `Bundle`."""
        return cast("BinaryIO", self.file.open(path))


@dataclass(frozen=True, slots=True)
class Tar:
    """A tar file."""

    file: tarfile.TarFile
    members: Mapping[str, tarfile.TarInfo]
    entries: Mapping[str, Entry]
    twice: frozenset[str]

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file; see `Bundle`."""
        found = self.file.extractfile(self.members[path])
        if found is None:
            raise ToolkitError(f"{path!r} is no regular file")
        return cast("BinaryIO", found)


def settle(path: Path, limits: Limits) -> None:
    """Make a file that was fetched one that `open_archive` reads: a compressed tar is decompressed in place.

    Raises:
        ToolkitError: it is no archive, or has more bytes than a source may have.
    """
    with path.open("rb") as file:
        head = file.read(_MARK.stop)
    if head.startswith(_GZIP):
        plain = path.with_name(path.name + ".plain")
        try:
            with reading(), gzip.open(path) as packed, plain.open("xb") as out:
                _copy(cast("IO[bytes]", packed), out, limits.source_bytes)
            plain.replace(path)
        finally:
            plain.unlink(missing_ok=True)
    elif not head.startswith(_ZIP) and head[_MARK] != _TAR:
        raise ToolkitError("it is no archive", mend="give a .zip, .tar or .tar.gz")


def _copy(source: IO[bytes], out: IO[bytes], limit: int) -> None:
    left = limit
    while data := source.read(CHUNK):
        left -= len(data)
        if left < 0:
            raise ToolkitError(f"it has more than {limit:,} bytes once it is unpacked")
        out.write(data)


@contextmanager
def open_archive(path: Path, limits: Limits, *, strict: bool) -> Iterator[Bundle]:
    """List an archive.

    Args:
        path: a zip, or a tar without compression.
        limits: what it may have.
        strict: whether one path that may not be written condemns the whole archive, as nobody makes such a
            one by mistake; else it only spoils the skill that it belongs to.

    Raises:
        ToolkitError: it is broken, hostile, or has too many entries.
    """
    if zipfile.is_zipfile(path):
        with reading():
            file = zipfile.ZipFile(path)
        with file:
            yield _zip(file, limits, strict=strict)
    else:
        with reading():
            tar = tarfile.open(path, "r:")  # noqa: SIM115 - closed by the next line
        with tar:
            with reading():
                listed = _tar(tar, limits, strict=strict)
            yield listed


def _zip(file: zipfile.ZipFile, limits: Limits, *, strict: bool) -> Zip:
    entries: dict[str, Entry] = {}
    twice: set[str] = set()
    infos = file.infolist()
    if len(infos) > limits.entries:
        raise ToolkitError(f"it has more than {limits.entries:,} entries")
    for info in infos:
        # Not `info.filename`: it ends at a NUL, and has the separators of this system.
        path = _checked(info.orig_filename.removesuffix("/"), strict=strict)
        if info.is_dir():
            continue
        mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
        mode = mode if stat.S_IFMT(mode) else mode | stat.S_IFREG
        target = ""
        if stat.S_ISLNK(mode) and info.file_size <= CHUNK:
            with reading():
                target = file.read(info).decode("utf-8", "replace")
        entry = made(path, mode, info.file_size, target)
        if info.flag_bits & _ENCRYPTED:
            entry = Entry(path, Kind.SPECIAL, problem="is encrypted")
        if path in entries:
            twice.add(path)
        entries[path] = entry
    return Zip(file, entries, frozenset(twice))


def _tar(file: tarfile.TarFile, limits: Limits, *, strict: bool) -> Tar:
    entries: dict[str, Entry] = {}
    members: dict[str, tarfile.TarInfo] = {}
    twice: set[str] = set()
    for count, member in enumerate(file, 1):
        if count > limits.entries:
            raise ToolkitError(f"it has more than {limits.entries:,} entries")
        raw = member.name.removeprefix("./")
        if member.isdir() and raw in ("", "."):
            continue
        path = _checked(raw, strict=strict)
        if member.isdir():
            continue
        if member.islnk():
            target = member.linkname.removeprefix("./")
            target = "" if path_problem(target) else target
            entry = Entry(path, Kind.LINK, target=target, problem=path_problem(path))
        elif member.issym():
            entry = made(path, stat.S_IFLNK, 0, member.linkname)
        elif member.isreg():
            entry = made(path, stat.S_IFREG | member.mode, member.size)
        else:
            entry = made(path, stat.S_IFIFO, 0)
        if path in entries:
            twice.add(path)
        entries[path], members[path] = entry, member
    return Tar(file, members, entries, frozenset(twice))


def _checked(path: str, *, strict: bool) -> str:
    problem = path_problem(path)
    if strict and problem:
        raise ToolkitError(f"its entry {path!r} {problem}; nothing of it was installed")
    return path
