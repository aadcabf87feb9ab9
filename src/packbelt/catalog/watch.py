"""A workspace's files as they are saved: each time they are something else, the workspace that they make.

The folders that a workspace is read from are watched, and no other: what git, an editor or a build does
beside them wakes nobody. What a watcher of files reports (watchfiles: inotify, FSEvents,
ReadDirectoryChangesW) is only the sign to look; what counts is what stands there then. So it does not matter
how an editor saves, or whether a folder was put in the place of another. Once in `TICK` it is looked at
without a sign: the file systems of a network send none.
"""

import logging
import stat
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from watchfiles import awatch

from packbelt.catalog import agents, claude, packs, skills, templates
from packbelt.catalog.config import FILE as CONFIG_FILE
from packbelt.catalog.lock import FILE as LOCK_FILE
from packbelt.catalog.reload import reloaded
from packbelt.catalog.servers import FILE as SERVERS_FILE
from packbelt.catalog.text import Tree, is_folder
from packbelt.catalog.workspace import Workspace
from packbelt.model import PackbeltError

SETTLED = 50
"""Milliseconds without a change after which a burst of them is over."""
BURST = 1000
"""Milliseconds after which a burst is looked at though it goes on."""
TICK = 1000
"""Milliseconds after which is looked without a sign."""
AGAIN = 0.2
"""Seconds after which files that do not load are read once more: they may have been half written."""
MOST = 4096
"""Folders that are watched; what lies in further ones is seen at the next change."""

_FILES = (CONFIG_FILE, SERVERS_FILE, LOCK_FILE)
_SUFFIXES = (".yaml", ".yml", ".md", ".j2")
_DEEP = 8
"""Levels of folders below one that is read with all that it holds."""

_logger = logging.getLogger("packbelt.watch")

Folders = Mapping[Path, tuple[int, int]]
"""The folders that a workspace is read from, each with the device and inode that it is."""
Signature = frozenset[tuple[str, int, int, int, int]]
"""Path, inode, times and size of every file that a workspace is read from."""


async def watch(
    workspace: Workspace, on_problem: Callable[[PackbeltError], object] | None = None
) -> AsyncGenerator[Workspace]:
    """The workspace each time that its files have become something else that loads; see `Workspace.watch`."""
    async with aclosing(states(workspace)) as found:
        async for state in found:
            if isinstance(state, Workspace):
                yield state
            elif on_problem is not None:
                on_problem(state)
            else:
                _logger.warning("%s", state)


async def states(workspace: Workspace) -> AsyncGenerator[Workspace | PackbeltError]:
    """What becomes of a workspace's files: a workspace where they load, else why they do not.

    The same problem is told once. When it is mended a workspace follows, be it the one before the problem.

    Args:
        workspace: the one that is in force.
    """
    good, trouble = workspace, ""
    seen: Signature | None = None  # what was saved since it was loaded is seen at the first look
    async with aclosing(_looks(lambda: good)) as looks:
        async for _ in looks:
            now = signature(good)
            if now == seen:
                continue
            seen, state = now, await _loaded(good)
            if isinstance(state, PackbeltError):
                await anyio.sleep(AGAIN)
                seen, state = signature(good), await _loaded(good)
            if isinstance(state, PackbeltError):
                if str(state) != trouble:
                    trouble = str(state)
                    yield state
            elif trouble or not _same(good, state):
                good, trouble = state, ""
                yield state


async def _loaded(before: Workspace) -> Workspace | PackbeltError:
    try:
        return await anyio.to_thread.run_sync(reloaded, before)
    except PackbeltError as problem:
        return problem


def _same(one: Workspace, other: Workspace) -> bool:
    """Whether two workspaces say the same, the lines of their files included."""

    def said(workspace: Workspace) -> list[Any]:
        values = {field.name: getattr(workspace, field.name) for field in fields(workspace)}
        broken = [(name, one.handoff, str(one.error)) for name, one in values.pop("broken").items()]
        del values["handlers"]
        return [broken, *values.values()]

    return said(one) == said(other)


async def _looks(current: Callable[[], Workspace]) -> AsyncGenerator[None]:
    """A sign each time that it is worth a look, until it is closed."""
    while True:
        folders = watched(current())
        yield
        if not folders:
            await anyio.sleep(TICK / 1000)
            continue
        try:
            changes = awatch(
                *folders, recursive=False, watch_filter=None, debounce=BURST, step=SETTLED, rust_timeout=TICK,
                yield_on_timeout=True, ignore_permission_denied=True,
            )  # fmt: skip
            async with aclosing(changes):
                async for _ in changes:
                    if watched(current()) != folders:
                        break
                    yield
        except OSError:  # a folder went just now, or the system has no watches left
            await anyio.sleep(TICK / 1000)


def watched(workspace: Workspace) -> Folders:
    """The folders that a workspace is read from, and those that would hold them."""
    tree = Tree(workspace.root)
    root = workspace.root
    found = dict.fromkeys((root, root / "prompts", *((root / name).parent for name in skills.SHARED_FOLDERS)))
    for name in (packs.FOLDER, agents.FOLDER, templates.FOLDER, claude.FOLDER):
        found.update(dict.fromkeys(islice(_below(tree, root / name, _DEEP), MOST)))
    for name in (*workspace.config.skills, *skills.SHARED_FOLDERS):
        found.update(dict.fromkeys(islice(_below(tree, root / name, 1), MOST)))
    there: dict[Path, tuple[int, int]] = {}
    for folder in list(found)[:MOST]:
        with suppress(OSError):
            state = folder.stat()
            if stat.S_ISDIR(state.st_mode):
                there[folder] = state.st_dev, state.st_ino
    return there


def signature(workspace: Workspace) -> Signature:
    """What the files of a workspace are now, without reading them."""
    root = workspace.root
    beside = (path for folder in watched(workspace) if folder != root for path in _entries(folder))
    files = (path for path in beside if path.suffix in _SUFFIXES and not path.name.startswith("."))
    found = set()
    for path in (*(root / name for name in _FILES), *files):
        with suppress(OSError):
            state = path.stat()
            times = state.st_mtime_ns, state.st_ctime_ns
            found.add((str(path), state.st_ino, *times, state.st_size))
    return frozenset(found)


def _below(tree: Tree, folder: Path, levels: int) -> Iterator[Path]:
    """A folder and those below it, hidden ones and other people's code left out.

    As where they are read: each once, whatever links lead to it, and none outside the workspace.
    """
    seen: set[Path] = set()
    here = [folder]
    for level in range(levels + 1):
        below: list[Path] = []
        for each in here:
            if not tree.holds(each) or (real := each.resolve()) in seen:
                continue
            seen.add(real)
            yield each
            if level < levels:
                below += [path for path in _entries(each) if _entered(path)]
        here = below


def _entered(path: Path) -> bool:
    return path.name[:1] != "." and path.name not in skills.VENDOR and is_folder(path)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # it is not there, or is no folder
        return []


__all__ = ["Signature", "signature", "states", "watch", "watched"]
