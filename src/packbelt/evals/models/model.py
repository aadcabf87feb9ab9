"""What a model is to an eval: it begins a case, and replies to each request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from packbelt.evals.bound import Bound
from packbelt.model import PackbeltError
from packbelt.model.encode import compact


class ModelError(PackbeltError):
    """A model gave no reply that can be used."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is sent, as Chat Completions take it.

    Attributes:
        tools: the tools.
        messages: the system's text, then the conversation.
    """

    tools: Sequence[Mapping[str, Any]]
    messages: Sequence[Mapping[str, Any]]


class Mind(Protocol):
    """A model at work on one case."""

    async def reply(self, request: Request) -> Mapping[str, Any]:
        """The assistant's message, with a `usage` of Chat Completions beside its own keys where it is known.

        Raises:
            ModelError: there is none.
        """


class Model(Protocol):
    """A model.

    One that waits on a network may have an attribute `concurrency`: how many cases it can be asked about at
    a time. Without it that is one.
    """

    @property
    def name(self) -> str:
        """How reports call it."""

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case, without a memory of others.

        Args:
            case: the case.
            repeat: how often it was played before; a model that samples takes it as its seed.
        """


def say(text: str) -> dict[str, Any]:
    """An assistant's message of text alone."""
    return {"role": "assistant", "content": text}


def call(number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An assistant's message with one call.

    Args:
        number: tells its id apart from those of other calls.
        name: the tool, as it was advertised.
        arguments: what it is called with.
    """
    function = {"name": name, "arguments": compact(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }
