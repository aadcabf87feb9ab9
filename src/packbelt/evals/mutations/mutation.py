"""What a mutation is: a change of the workspace, or of what the agent is told, outside of the engine."""

from collections.abc import Callable
from dataclasses import dataclass

from packbelt.catalog.workspace import Workspace
from packbelt.evals.trace import Made


def as_is(workspace: Workspace) -> Workspace:
    """The workspace unchanged."""
    return workspace


def as_told(call: Made, text: str) -> str:
    """The answer unchanged."""
    del call
    return text


@dataclass(frozen=True, slots=True)
class Mutation:
    """One breakage.

    The engine has no switch for it and does not know of it: it decides what the changed files say, and what
    it answers is changed on its way to the model.

    Attributes:
        name: how it is asked for.
        about: what is broken, in one sentence.
        workspace: the workspace with the breakage in its files.
        told: from a call and its answer, what the model is told instead.
    """

    name: str
    about: str
    workspace: Callable[[Workspace], Workspace] = as_is
    told: Callable[[Made, str], str] = as_told
