"""The files of an import, written whole or not at all, and over nothing that is there."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from packbelt.catalog.config import FILE as CONFIG
from packbelt.catalog.load import load
from packbelt.catalog.servers import FILE as SERVERS
from packbelt.catalog.text import MAX_FILE, OutsideError, Tree
from packbelt.model import Level, PackbeltError, Where, WorkspaceError

KEPT = ".orig"
"""What the name of a file that was overwritten ends in from then on."""
_MOST = 4
_PARTS = (CONFIG, SERVERS, ".claude/agents", "packs", "prompts")
"""What a workspace is read from."""
_FIRST = {CONFIG: 0, SERVERS: 1}
"""Rules are there before what they bind, should writing be cut short."""


def to_write(files: Mapping[str, str], target: Path, *, force: bool = False) -> dict[str, str]:
    """Those files that differ from what is there.

    Args:
        files: texts by path in the workspace.
        target: the workspace's directory.
        force: whether others may be overwritten.

    Raises:
        OutsideError: a link in the workspace leads a file out of it.
        WorkspaceError: a file is there that says something else, and may not be overwritten.
    """
    tree = Tree(target)
    for name in files:
        if not tree.holds((target / name).parent):
            message = "leads out of the workspace by a link, and nothing was written"
            raise OutsideError(message, where=Where(name), mend="replace the link by a folder")
    wanted = {name: text for name, text in files.items() if _there(target / name) != text}
    there = in_the_way(wanted, target)
    if there and not force:
        shown = ", ".join(there[:_MOST]) + (f" and {len(there) - _MOST} more" if len(there) > _MOST else "")
        verb = "exists" if len(there) == 1 else "exist"
        raise WorkspaceError(
            f"{shown} {verb} already, and nothing was written",
            where=Where(str(target)),
            mend=f"name another directory with --into, or --force: what is there is kept as *{KEPT}",
        )
    return wanted


def in_the_way(files: Iterable[str], target: Path) -> list[str]:
    """Those files in whose place something is."""
    return [name for name in files if os.path.lexists(target / name)]


def write(files: Mapping[str, str], target: Path, *, force: bool = False) -> list[str]:
    """Write the files, after the workspace that they make has loaded elsewhere.

    Args:
        files: texts by path in the workspace.
        target: the workspace's directory, which is made.
        force: whether files may be overwritten; what was there is kept beside them.

    Returns:
        The files that were written.

    Raises:
        WorkspaceError: a file is there already, or they make no workspace that loads.
        PackbeltError: they cannot be written; then none is.
    """
    wanted = to_write(files, target, force=force)
    prove(files, target)
    made: list[Path] = []
    moved: list[tuple[Path, Path]] = []
    try:
        staged = [(name, _stage(target / name, text, made)) for name, text in _in_order(wanted)]
        for name, temporary in staged:
            path = target / name
            if os.path.lexists(path):
                moved.append((_keep(path), path))
            temporary.replace(path)
            made[made.index(temporary)] = path
    except OSError as error:
        _take_back(made, moved)
        raise PackbeltError(
            f"cannot be written: {error.strerror}", where=Where(str(target)), mend="check the directory"
        ) from None
    except BaseException:
        _take_back(made, moved)
        raise
    return list(wanted)


def prove(files: Mapping[str, str], target: Path) -> None:
    """Load what would be written, beside what is there, in a directory of its own.

    Raises:
        WorkspaceError: it does not load, or an agent or server of it does not that did before.
    """
    with tempfile.TemporaryDirectory(prefix="packbelt-") as folder:
        root = Path(folder)
        (root / CONFIG).touch()
        before = _errors(root) if _copy(target, root) else set()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8", newline="\n")
        broken = min(_errors(root) - before, default=None)
    if broken is not None:
        _, message, mend, where = broken
        raise WorkspaceError(f"would be written and not load: {message}", where=where, mend=mend)


_Error = tuple[str, str, str, Where | None]


def _errors(root: Path) -> "set[_Error]":
    found = load(root).diagnostics
    return {(str(one.where), one.message, one.mend, one.where) for one in found if one.level is Level.ERROR}


def _copy(target: Path, root: Path) -> bool:
    """What is there of a workspace; says whether anything is."""
    tree, some = Tree(target), False
    for path in (one for part in _PARTS for one in _files(target / part)):
        if tree.holds(path) and path.is_file() and path.stat().st_size <= MAX_FILE:
            copy = root / path.relative_to(target)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            some = True
    return some


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _in_order(files: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(files.items(), key=lambda one: _FIRST.get(one[0], len(_FIRST)))


def _there(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def _stage(path: Path, text: str, made: list[Path]) -> Path:
    """A temporary file beside the one that it will be."""
    _make(path.parent, made)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".packbelt-")
    temporary = Path(name)
    made.append(temporary)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    temporary.chmod(_mode(path))
    return temporary


def _mode(path: Path) -> int:
    """That of the file which is there; of a new one, what the person's mask leaves."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            return stat.S_IMODE(path.lstat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _keep(path: Path) -> Path:
    """Keep what is overwritten under another name; meanwhile it stays under its own, too."""
    kept = _kept(path)
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:  # a file system without them
        path.rename(kept)
    return kept


def _make(folder: Path, made: list[Path]) -> None:
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir()
    made.append(folder)


def _kept(path: Path) -> Path:
    """A name for what is overwritten that nothing has."""
    kept, number = path.with_name(path.name + KEPT), 2
    while os.path.lexists(kept):
        kept, number = path.with_name(f"{path.name}{KEPT}{number}"), number + 1
    return kept


def _take_back(made: list[Path], moved: list[tuple[Path, Path]]) -> None:
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
    for kept, path in reversed(moved):
        with suppress(OSError):
            if path.exists() and kept.samefile(path):
                kept.unlink()
            else:
                kept.replace(path)
