"""What did not load of a workspace, said on standard error so that no answer hides it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from packbelt.catalog.workspace import Workspace
from packbelt.cli.output import line_of, note
from packbelt.model import Code, Diagnostic, Level, WorkspaceError

if TYPE_CHECKING:
    from packbelt.turn import Turn

MOST = 3
"""Errors that get a line each."""


def load_errors(workspace: Workspace) -> list[Diagnostic]:
    """The errors of a workspace's files, in the order in which they were read."""
    return [one for one in workspace.diagnostics if one.level is Level.ERROR]


def report(errors: Sequence[Diagnostic]) -> None:
    """A line for each of the first errors, and one for the rest."""
    for one in errors[:MOST]:
        note(line_of(one))
    if len(errors) > MOST:
        note(f"and {len(errors) - MOST} more; packbelt check shows them")


def is_of(workspace: Workspace, agents: Sequence[str]) -> Callable[[Diagnostic], bool]:
    """Whether an error is why one of some agents cannot start, which is said where the agent is asked for."""

    def told(one: Diagnostic) -> bool:
        broken = workspace.broken.get(one.name) if one.name in agents else None
        return broken is not None and one.code is Code.AGENT_BROKEN and one.where == broken.error.where

    return told


def refuse_broken_sections(turn: "Turn") -> None:
    """A prompt that is asked for by its agent's name is not given with a section missing.

    Raises:
        WorkspaceError: a template of its sections does not load, compile or end.
    """
    found = (*turn.belt.registry.workspace.diagnostics, *turn.rendered.diagnostics)
    for one in found:
        if one.code is Code.TEMPLATE_BROKEN and one.level is Level.ERROR:
            raise WorkspaceError(one.message, where=one.where, mend=one.mend, name=one.name)
