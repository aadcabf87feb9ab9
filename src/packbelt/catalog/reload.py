"""A workspace loaded anew: as a whole or not at all."""

from collections.abc import Iterator

from packbelt.catalog.load import load
from packbelt.catalog.workspace import Workspace
from packbelt.model import Code, Diagnostic, Level, Where, WorkspaceError

_BROKEN = frozenset({Code.AGENT_BROKEN, Code.SERVER_BROKEN, Code.SKILL_BROKEN})
_EMPTY = {"": 1}


def reloaded(before: Workspace) -> Workspace:
    """The workspace as its files are now.

    A file that does not load keeps the last good workspace, since what a half-written file leaves out may be
    what denied a call. An emptied or missing `packbelt.yaml` counts as half-written.

    Raises:
        WorkspaceError: a file does not load that loaded before; says which, and that nothing changed.
    """
    fresh = load(before.root, tools=tuple(before.handlers.values()))
    known = {(one.code, one.where, one.message) for one in _broken(before)}
    for one in _broken(fresh):
        if (one.code, one.where, one.message) not in known:
            raise WorkspaceError(
                f"{one.message}; the last good workspace stays in force",
                where=one.where,
                mend=one.mend,
                name=one.name,
            )
    lines, now = before.config.lines, fresh.config.lines
    if before.config.file and lines != _EMPTY and (not fresh.config.file or now == _EMPTY):
        what = "is empty" if fresh.config.file else "is gone"
        raise WorkspaceError(
            f"it {what}, which would undo what it denied; the last good workspace stays in force",
            where=Where(before.config.file),
            mend="write {} to mean the defaults",
        )
    return fresh


def _broken(workspace: Workspace) -> Iterator[Diagnostic]:
    return (one for one in workspace.diagnostics if one.level is Level.ERROR or one.code in _BROKEN)
