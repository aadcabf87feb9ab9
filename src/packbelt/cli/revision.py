"""A workspace as it stands in a git revision, written to a temporary directory.

Read with git's plumbing alone: no index, no working tree, no hook, no filter and no attribute of the
repository has a part in it, and nothing of the user's is written.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packbelt.catalog.text import MAX_FILE
from packbelt.model import PackbeltError

_LARGEST = 8 * MAX_FILE
"""Bytes; of a file beyond that, which nothing reads, only the size is written."""
_LINK = "120000"
_FILES = ("100644", "100755", "100664")
_LOCAL = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE")
"""What git sets for its hooks: it would speak of another directory than the one that is asked about."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: how it is kept, its object, its size and its path below the workspace."""

    mode: str
    blob: str
    size: int
    path: PurePosixPath


def check_out(revision: str, anchor: Path, into: Path) -> None:
    """Write what a revision has at a directory's place.

    Args:
        revision: anything that git understands as a commit.
        anchor: the directory, inside a repository.
        into: an empty directory of a temporary one.

    Raises:
        PackbeltError: git is missing, the directory is in no repository, or there is no such revision.
    """
    prefix = _git(anchor, "rev-parse", "--show-prefix", trouble=_no_repository(revision, anchor))
    where = prefix.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("/")
    commit = _commit(revision, anchor)
    tree = _git(anchor, "rev-parse", "--verify", "--quiet", f"{commit}:{where}", missing=True).strip()
    if not tree:
        return
    try:
        _write(_contents(anchor, tree.decode()), into)
    except OSError as error:
        raise PackbeltError(
            f"{revision!r} cannot be written to a temporary directory: {error.strerror}",
            mend="make room there, or name two directories",
        ) from None


def _write(files: Iterable[tuple[Entry, bytes]], into: Path) -> None:
    links = []
    for entry, data in files:
        path = into / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == _LINK:
            links.append((path, os.fsdecode(data)))
        else:
            path.write_bytes(data)
            if entry.size > len(data):
                os.truncate(path, entry.size)
    for path, target in links:  # last, so that nothing is written through one
        inside = Path(os.path.normpath(path.parent / target)).is_relative_to(into)
        stays = inside and target and "\0" not in target and not Path(target).is_absolute()
        path.symlink_to(target if stays else into.parent)  # one that leads out still leads out


def _commit(revision: str, anchor: Path) -> str:
    question = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _git(anchor, *question, missing=True).strip()
    if not commit:
        raise PackbeltError(
            f"{revision!r} is no directory, and no git revision of {anchor}",
            mend="check the name; in CI fetch the whole history (fetch-depth: 0)",
            name=revision,
        )
    return commit.decode()


def _contents(anchor: Path, tree: str) -> Iterator[tuple[Entry, bytes]]:
    """The files of a tree with what is in them, in the tree's order."""
    entries = list(_entries(_git(anchor, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)))
    small = [entry for entry in entries if entry.size <= _LARGEST]
    asked = "".join(f"{entry.blob}\n" for entry in small).encode()
    answer = memoryview(_git(anchor, "cat-file", "--batch", given=asked) if small else b"")
    at = 0
    for entry in entries:
        if entry.size > _LARGEST:
            yield entry, b""
            continue
        head = bytes(answer[at : at + 128]).partition(b"\n")[0]
        start = at + len(head) + 1
        at = start + entry.size + 1
        yield entry, bytes(answer[start : at - 1])


def _entries(listing: bytes) -> Iterator[Entry]:
    for line in listing.split(b"\0"):
        head, _, name = line.partition(b"\t")
        if not name:
            continue
        mode, _, blob, size = head.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        safe = not path.is_absolute() and ".." not in path.parts
        if safe and mode in (*_FILES, _LINK):  # a submodule's files are not in this repository
            yield Entry(mode, blob, int(size), path)


def _no_repository(revision: str, anchor: Path) -> PackbeltError:
    return PackbeltError(
        f"{revision!r} is no directory, and {anchor} is in no git repository to look it up in",
        mend="name a workspace's directory, or go to a repository",
        name=revision,
    )


def _git(
    anchor: Path,
    *args: str,
    given: bytes = b"",
    missing: bool = False,
    trouble: PackbeltError | None = None,
) -> bytes:
    """Git's answer.

    Args:
        anchor: where it is asked.
        args: what it is asked.
        given: its standard input.
        missing: whether a failure only means that there is no such thing: the answer is empty.
        trouble: what a failure means; None for what git itself says.
    """
    environ = {key: value for key, value in os.environ.items() if key not in _LOCAL}
    environ |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and a revision stands behind --end-of-options
            ["git", "-C", str(anchor), *args],  # noqa: S607 - the git that the user's PATH names
            input=given,
            capture_output=True,
            env=environ,
            check=False,
        )
    except OSError as error:
        raise PackbeltError(
            f"git cannot be run: {error.strerror}", mend="install git, or name two directories"
        ) from None
    if done.returncode == 0:
        return done.stdout
    said = ""
    with suppress(IndexError):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1].removeprefix("fatal: ")
    if "dubious ownership" in done.stderr.decode("utf-8", "replace"):
        raise PackbeltError(
            f"git does not trust the repository of {anchor}: it belongs to somebody else",
            mend=f"git config --global --add safe.directory {anchor}",
        )
    if missing:
        return b""
    raise trouble or PackbeltError(f"git {args[0]} failed: {said or done.returncode}", mend="ask git")
