"""Errors: each says what is wrong, where, and the mend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from packbelt.model.where import Where

if TYPE_CHECKING:
    from packbelt.model.decision import Diagnostic


class PackbeltError(Exception):
    """What packbelt raises on bad input.

    Args:
        problem: what is wrong, without a final dot.
        where: the file and line at fault, where there is one.
        mend: what to do about it, as an imperative sentence without a final dot.
        name: the culprit (a tool, an agent, a key), where there is one.
    """

    def __init__(self, problem: str, *, where: Where | None = None, mend: str = "", name: str = "") -> None:
        self.problem = problem
        self.where = where
        self.mend = mend
        self.name = name
        place = f"{where}: " if where else ""
        super().__init__(f"{place}{problem}; {mend}" if mend else f"{place}{problem}")


class WorkspaceError(PackbeltError):
    """A workspace's files cannot be used."""


class SnapshotError(PackbeltError):
    """A snapshot cannot be used."""


class SelectorError(PackbeltError):
    """A selector means nothing, or two things."""


class UnknownAgentError(PackbeltError):
    """No agent of this name."""


class AgentBrokenError(PackbeltError):
    """The agent's file did not load."""


class AgentRefusedError(PackbeltError):
    """The agent cannot start as its file stands; carries every reason.

    Args:
        agent: the agent's name.
        reasons: one diagnostic for each entry at fault; the first is the message.
    """

    def __init__(self, agent: str, reasons: Sequence["Diagnostic"]) -> None:
        self.agent = agent
        self.reasons = tuple(reasons)
        first = self.reasons[0]
        more = f" (and {len(self.reasons) - 1} more)" if len(self.reasons) > 1 else ""
        super().__init__(
            f"agent {agent!r} cannot start: {first.message}{more}", where=first.where, name=agent
        )


class AmbiguousToolError(PackbeltError):
    """Several tools have this name; carries their identities.

    Args:
        name: the name asked for.
        candidates: identities to choose from, as text.
    """

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        self.candidates = tuple(candidates)
        listed = ", ".join(self.candidates)
        super().__init__(f"{name!r} is the name of several tools", mend=f"say which: {listed}", name=name)


class VocabularyError(PackbeltError):
    """A tokenizer's vocabulary is missing or is not the one it should be."""
