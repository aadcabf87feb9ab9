"""What was decided about one tool for one scope, and what a belt reports besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from packbelt.model.codes import Code, Level, Rule, State
from packbelt.model.where import Where

NOTHING_TO_DO = "nothing needs to be done"
"""The mend of a diagnostic that only informs."""

Via = Literal["direct", "opener", "search", "handoff"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why: the rule, what it says here, and where that was written."""

    rule: Rule
    detail: str
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """A way to get a tool's work done.

    Attributes:
        via: what kind of way.
        call: the wire name to call first.
        arguments: its arguments, with `...` where the caller's own words go.
        agents: for a hand-off, the agents it goes through, in order; the last can call the tool.
    """

    via: Via
    call: str
    arguments: Mapping[str, Any]
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """State, reasons and routes of one tool for one scope.

    Attributes:
        state: the answer.
        reasons: the rules that gave it, at least one.
        routes: ways to it from this scope, best first; empty where there is none.
        cuts: where a reserved tool has no route, what cuts each way that should be one.
    """

    state: State
    reasons: tuple[Reason, ...]
    routes: tuple[Route, ...] = ()
    cuts: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something a person should know about a workspace, a snapshot or a belt."""

    level: Level
    code: Code
    message: str
    where: Where | None = None
    mend: str = ""
    name: str = field(default="")

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        mend = f"; {self.mend}" if self.mend else ""
        return f"{self.level}: {place}{self.message}{mend} [{self.code}]"
