"""Files that commands write: whole or not at all."""

import os
import re
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from packbelt.model import PackbeltError, Where

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 100
"""Letters of a name that go into a file's name."""


def file_name(name: str) -> str:
    """A name as part of a file's name, on any file system; an altered one ends in a hash of the whole."""
    safe = _UNSAFE.sub("_", name).lstrip(".")[:_LONGEST]
    if safe == name:
        return safe
    return f"{safe}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def write_text(path: Path, text: str) -> None:
    """Write a file through a temporary one beside it; its folder is made.

    Raises:
        PackbeltError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".packbelt-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
            Path(temporary).chmod(_mode(path))
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise PackbeltError(
            f"cannot be written: {error.strerror}", where=Where(str(path)), mend="check the directory"
        ) from None


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or what the user's mask leaves of 0666."""
    with suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
