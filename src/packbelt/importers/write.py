"""The files of an import, written whole or not at all, and over nothing that is there."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from packbelt.catalog.config import FILE as CONFIG
from packbelt.catalog.load import load
from packbelt.model import Level, PackbeltError, Where, WorkspaceError

KEPT = ".orig"
"""What the name of a file that was overwritten ends in from then on."""
_MOST = 4


def to_write(files: Mapping[str, str], target: Path, *, force: bool = False) -> dict[str, str]:
    """Those files that differ from what is there.

    Args:
        files: texts by path in the workspace.
        target: the workspace's directory.
        force: whether others may be overwritten.

    Raises:
        WorkspaceError: a file is there that says something else, and may not be overwritten.
    """
    wanted = {name: text for name, text in files.items() if _there(target / name) != text}
    there = [name for name in wanted if os.path.lexists(target / name)]
    if there and not force:
        shown = ", ".join(there[:_MOST]) + (f" and {len(there) - _MOST} more" if len(there) > _MOST else "")
        verb = "exists" if len(there) == 1 else "exist"
        raise WorkspaceError(
            f"{shown} {verb} already, and nothing was written",
            where=Where(str(target)),
            mend=f"name another directory with --into, or --force: what is there is kept as *{KEPT}",
        )
    return wanted


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
    prove(files)
    made: list[Path] = []
    moved: list[tuple[Path, Path]] = []
    try:
        staged = [(name, _stage(target / name, text, made)) for name, text in wanted.items()]
        for name, temporary in staged:
            path = target / name
            if os.path.lexists(path):
                kept = _kept(path)
                path.rename(kept)
                moved.append((kept, path))
            temporary.rename(path)
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


def prove(files: Mapping[str, str]) -> None:
    """Load what would be written, in a directory of its own.

    Raises:
        WorkspaceError: it does not load, or an agent or server of it does not.
    """
    with tempfile.TemporaryDirectory(prefix="packbelt-") as folder:
        root = Path(folder)
        (root / CONFIG).touch()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8", newline="\n")
        workspace = load(root)
    broken = next((one for one in workspace.diagnostics if one.level is Level.ERROR), None)
    if broken is not None:
        raise WorkspaceError(
            f"would be written and not load: {broken.message}", where=broken.where, mend=broken.mend
        )


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
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)
    return temporary


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
            kept.rename(path)
