"""What a model called, and what it is given back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packbelt.model.outcome import Hint, Outcome
from packbelt.model.tool import ToolId


@dataclass(frozen=True, slots=True)
class Speech:
    """How a model that reads through a target is spoken to.

    Attributes:
        spell: how the target spells a wire name.
        search: whether the target finds what is put away by its own search, so that there is no opener.
    """

    spell: Callable[[str], str] = str
    search: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model's reply has it.

    Attributes:
        id: the provider's id of the call; the result carries it back.
        name: the name that was called.
        arguments: an object, or the JSON of one.
        speech: how the model that made it is spoken to; None for plain wire names.
    """

    id: str
    name: str
    arguments: object = None
    speech: Speech | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended, and what came of it.

    Attributes:
        outcome: how it ended.
        content: content blocks in MCP's wire form (`{"type": "text", "text": ...}`), as the tool gave them.
        structured: the tool's structured result, or None.
        said_by: the agent whose words these are, or None for a tool's.
        detail: packbelt's own line on what happened, where there is something to say.
    """

    outcome: Outcome
    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    said_by: str | None = None
    detail: str = ""

    @classmethod
    def of_text(cls, text: str, outcome: Outcome = Outcome.OK, **more: Any) -> "Answer":
        """An answer of one block of text."""
        return cls(outcome, ({"type": "text", "text": text},), **more)

    @property
    def is_error(self) -> bool:
        """Whether a provider is told of it as an error."""
        return self.outcome is not Outcome.OK

    @property
    def text(self) -> str:
        """What a model reads where its provider takes text alone: text as it is, other blocks by their kind.

        Where nothing was returned, packbelt's own line.
        """
        return "\n".join(_as_text(block) for block in self.content) or self.detail


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A call with its answer.

    Attributes:
        call: what was called.
        answer: how it ended.
        tool: which tool that was; None for a name that is none.
        hint: the hint that the text is, where the call was refused.
    """

    call: ToolCall
    answer: Answer
    tool: ToolId | None = None
    hint: Hint | None = field(default=None)

    @property
    def id(self) -> str:
        """The provider's id of the call."""
        return self.call.id

    @property
    def outcome(self) -> Outcome:
        """How the call ended."""
        return self.answer.outcome

    @property
    def text(self) -> str:
        """What a model reads."""
        return self.answer.text

    @property
    def is_error(self) -> bool:
        """Whether a provider is told of it as an error."""
        return self.answer.is_error


def _as_text(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource":
        resource = block.get("resource") or {}
        if isinstance(resource.get("text"), str):
            return str(resource["text"])
        return f"[resource {resource.get('uri', '')}]"
    if kind == "resource_link":
        return f"[resource {block.get('uri', '')}]"
    return f"[{kind} {block.get('mimeType', '')}]".replace(" ]", "]")
