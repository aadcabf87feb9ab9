"""Files of the user's alone: what they hold says who may do what in the user's name."""

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ANY = stat.S_IRWXG | stat.S_IRWXO


def others_can_write(status: os.stat_result) -> bool:
    """Whether somebody else owns a file or can write it; on Windows its directory sees to that."""
    return _others(status, _WRITE)


def others_can_use(status: os.stat_result) -> bool:
    """Whether somebody else owns a file, or can read, write or run it; as above."""
    return _others(status, _ANY)


def others_can_enter(directory: Path) -> bool:
    """Whether anybody else can put files into a directory, whoever owns it; as above."""
    return sys.platform != "win32" and bool(directory.stat().st_mode & _WRITE)


def replace(file: Path, text: str) -> None:
    """Write a file whole or not at all, with mode 0600 from its first byte; its directory is made if need be.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def create(file: Path, text: str) -> None:
    """Write a file that does not exist yet, with mode 0600 from its first byte.

    Raises:
        OSError: it exists, or cannot be written.
    """
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(text)


def _others(status: os.stat_result, how: int) -> bool:
    if sys.platform == "win32":
        return False
    return status.st_uid != os.geteuid() or bool(status.st_mode & how)
