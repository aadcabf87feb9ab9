"""The belts of a workspace held against a folder of kept ones, or kept there anew."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from packbelt.belt import Belt, Scope, belt_of
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.model import PackbeltError, UnknownAgentError
from packbelt.testing.kept import KeptError, difference, kept, read, write
from packbelt.turn import NOTHING

_SUFFIX = ".yaml"


def held(
    workspace: Workspace, snapshot: Snapshot | None, folder: Path, agents: Sequence[str], *, update: bool
) -> str:
    """What is not as it was kept, for a person; empty if everything is.

    Args:
        workspace: whose belts.
        snapshot: what is connected; None for nothing.
        folder: where they are kept.
        agents: whose; none for all, and then what is kept of an agent that is gone is a difference too.
        update: whether to keep them as they are now instead.
    """
    registry = bind(workspace, NOTHING if snapshot is None else snapshot)
    told = []
    for agent in agents or (*workspace.agents, *workspace.broken):
        path = folder / f"{agent}{_SUFFIX}"
        belt: Belt | str
        try:
            belt = belt_of(registry, Scope(agent))
        except UnknownAgentError as error:  # nothing is kept of a name that is none, nor under it
            told.append(str(error))
            continue
        except PackbeltError as error:
            belt = str(error)
        if update:
            write(path, agent, belt if isinstance(belt, str) else kept(belt))
        elif said := _said(path, belt):
            told.append(f"the belt of {agent!r} is not the one that was kept:\n{said}")
    if not agents:
        told += _gone(workspace, folder, update=update)
    return "\n".join(told)


def _said(path: Path, belt: Belt | str) -> str:
    if not path.exists():
        return "  none was"
    try:
        before = read(path)
    except KeptError as error:
        return f"  {error}"
    if isinstance(belt, str):
        return "" if isinstance(before, str) else f"  cannot start any more: {belt}"
    return difference(before, belt)


def _gone(workspace: Workspace, folder: Path, *, update: bool) -> Iterator[str]:
    known = {*workspace.agents, *workspace.broken}
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        if path.stem in known or not _is_kept(path):
            continue
        if update:
            path.unlink(missing_ok=True)
        else:
            yield f"the agent {path.stem!r} is gone, and its belt is kept"


def _is_kept(path: Path) -> bool:
    """Whether a file holds a belt: what else somebody keeps there is theirs."""
    try:
        read(path)
    except KeptError:
        return False
    return True


__all__ = ["held"]
