"""What becomes of a call: resolved before it is made, and its outcome after."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from packbelt.model.codes import HintClass
from packbelt.model.tool import Tool


class Outcome(StrEnum):
    """How a call ended. Only `rejected` and `not_started` may be tried again."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    REJECTED = "rejected"
    NOT_STARTED = "not_started"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A call that was put through the gate, and its arguments through the schema, before it was proposed."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hint:
    """What the caller of a name is told.

    Attributes:
        kind: the class of the answer.
        text: the words for the model, one short paragraph.
        suggestions: calls it may make instead, best first.
    """

    kind: HintClass
    text: str
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted call of a tool.

    Attributes:
        tool: the tool, whatever name or opener it came by.
        arguments: validated against its schema.
        approve: whether a person must approve it first.
        answer: the result, where packbelt itself has it (the opener's listing, a search); else None.
    """

    tool: Tool
    arguments: Mapping[str, Any]
    approve: bool = False
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class HandOff:
    """An admitted call of a hand-off.

    Attributes:
        tool: the hand-off.
        agent: whom it leads to.
        request: what to pass on.
        context: what the caller adds, or None.
        mcp_servers: the servers it leaves the other agent, or None for all it would have.
        approve: whether a person must approve it first.
    """

    tool: Tool
    agent: str
    request: str
    context: str | None = None
    mcp_servers: tuple[str, ...] | None = None
    approve: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was not admitted, and what its caller is told."""

    name: str
    hint: Hint


Resolution = Call | HandOff | Refusal
