"""What happened in one case, as data: everything that its outcome is worked out from."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from packbelt.model import HintClass, Outcome


class Ended(StrEnum):
    """How a case ended."""

    ANSWERED = "answered"
    STEPS = "steps"
    REPEATED = "repeated"
    SETTLED = "settled"


class Fault(StrEnum):
    """Whose fault it is that a case could not be played to its end."""

    AGENT = "agent"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Made:
    """A call that the model made, and what became of it.

    Attributes:
        name: the wire name, as the model called it.
        arguments: what it gave, as it gave it.
        tool: the identity of the tool that was meant, inside the opener the inner one; None for an invented
            name, a listing or a search.
        target: the agent that it leads to, for a hand-off.
        owners: the agents for whom the tool's pack is there.
        web: whether it is a tool for the web.
        refused: the class of the refusal; None for a call that was admitted.
        outcome: how it ended.
        answer: what the model was told.
    """

    name: str
    arguments: Any
    tool: str | None
    target: str | None
    owners: tuple[str, ...]
    web: bool
    refused: HintClass | None
    outcome: Outcome
    answer: str

    @property
    def looked(self) -> bool:
        """Whether it opened a pack or searched, and so called nothing."""
        return self.tool is None and self.refused in (None, HintClass.CALLABLE)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply took, in tokens, as the model's endpoint counts them.

    Attributes:
        prompt: of the request.
        completion: of the reply.
        cached: those of the request that were read from a cache.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """A request and its reply in tokens, all under o200k_base whatever the model, so that layouts compare.

    Attributes:
        belt: of the tools and of the prompt's sections: what a layout changes.
        prefix: of the tools and of the whole prompt: all that stands before the conversation.
        conversation: of the conversation up to here, results of calls among it.
        reply: of what the model said and called.
    """

    belt: int
    prefix: int
    conversation: int
    reply: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the model.

    Attributes:
        advertised: the names of the tools that were sent, in order.
        text: what it said.
        calls: what it called, in order.
        usage: what it took; None where the model does not say.
        tokens: what was sent and said, counted here; None where nobody counted.
    """

    advertised: tuple[str, ...]
    text: str
    calls: tuple[Made, ...] = ()
    usage: Usage | None = None
    tokens: Tokens | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One case from the request to its end.

    Attributes:
        replies: in order.
        ended: how; None where a fault ended it.
        fault: whose fault ended it.
        error: what that was, in one line.
    """

    replies: tuple[Reply, ...] = ()
    ended: Ended | None = None
    fault: Fault | None = None
    error: str = ""

    @property
    def calls(self) -> tuple[Made, ...]:
        """All calls in order."""
        return tuple(call for reply in self.replies for call in reply.calls)


@dataclass(frozen=True, slots=True)
class Expected:
    """Where a request belongs, in identities.

    Attributes:
        steps: the calls in order, each by the identities of which any one will do; empty for no tool.
        targets: the agents that these lead to.
        forbidden: identities of tools that must not run.
    """

    steps: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
