"""One case, turn by turn: the belt, its form, the model's reply, the dispatch, the results, and again."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.arguments import parse
from packbelt.belt.gate import Denial, admit
from packbelt.catalog.tokens import count
from packbelt.cost import Cost
from packbelt.evals.bound import is_web, owners
from packbelt.evals.cases import Case
from packbelt.evals.models.model import Mind, ModelError, Request
from packbelt.evals.trace import Ended, Made, Reply, Tokens, Usage
from packbelt.live.agent import LiveAgent
from packbelt.model import Answer, Call, Outcome, ToolCall, ToolResult
from packbelt.model.encode import canonical
from packbelt.providers import Form
from packbelt.turn import Turn

TARGET = "openai-chat"
"""The form in which models are asked: it is what most endpoints speak."""
REPEATS = 3
"""Times that the same call is made until its case is ended as a loop."""


class Player:
    """Plays one case: belt, form, reply, dispatch, results, and again.

    Args:
        case: the case.
        told: from a call and its answer, what the model is told.
        over: from the replies, whether the play is over although the model would go on.

    Attributes:
        replies: what the model said so far, in order.
    """

    def __init__(
        self, case: Case, told: Callable[[Made, str], str], over: Callable[[Sequence[Reply]], bool]
    ) -> None:
        self.case = case
        self.told = told
        self.over = over
        self.replies: list[Reply] = []
        self.messages: list[Any] = [{"role": line.role, "content": line.text} for line in case.conversation]
        self.made: Counter[str] = Counter()

    async def play(self, agent: LiveAgent, mind: Mind) -> Ended:
        """Play it to its end.

        Raises:
            ModelError: the model gave no reply, or none that can be read.
        """
        for _ in range(self.case.steps):
            turn = await agent.turn()
            form, belt = _compiled(turn)
            message, calls, usage = await self._ask(form, mind)
            facts = [_facts(turn.belt, form, call) for call in calls]
            results = [self._told(*pair) for pair in zip(facts, await turn.run(calls), strict=True)]
            made = tuple(_made(*pair) for pair in zip(facts, results, strict=True))
            tokens = Tokens(
                belt=belt.total,
                prefix=belt.tools + count(form.system),
                conversation=sum(map(_tokens, self.messages)),
                reply=_tokens(message),
            )
            self.replies.append(Reply(_names(form), form.text(message), made, usage, tokens))
            if not calls:
                return Ended.ANSWERED
            if self.over(self.replies):
                return Ended.SETTLED
            self.messages += [message, *form.results(results)]
            self.made.update(map(_key, calls))
            if max(self.made.values()) >= REPEATS:
                return Ended.REPEATED
        return Ended.STEPS

    def _told(self, call: Made, result: ToolResult) -> ToolResult:
        """The result with what the model is told in the place of the answer."""
        said = self.told(call, result.text)
        return result if said == result.text else replace(result, answer=Answer.of_text(said, result.outcome))

    async def _ask(self, form: Form, mind: Mind) -> tuple[Mapping[str, Any], list[ToolCall], Usage | None]:
        """A model's reply, its calls, and what it took.

        Raises:
            ModelError: it gave none, or none that can be read.
        """
        request = Request(
            tuple(form.kwargs.get("tools", ())), ({"role": "system", "content": form.system}, *self.messages)
        )
        reply = await mind.reply(request)
        try:
            message = dict(reply)
            usage = _usage(message.pop("usage", None))
            calls = form.calls(message)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelError(f"its reply cannot be read ({type(error).__name__})") from None
        return message, [replace(call, name=str(call.name)) for call in calls], usage


def _key(call: ToolCall) -> str:
    """Equal where the call is the same: by what its arguments mean, or by their letters if nothing."""
    read = parse(call.arguments)
    return canonical([call.name, str(call.arguments) if read is None else read])


def _tokens(message: Mapping[str, Any]) -> int:
    """Tokens of a message's text and calls, without what a provider puts around them."""
    content = message.get("content")
    texts = [content if isinstance(content, str) else canonical(content) if content else ""]
    for call in message.get("tool_calls") or ():
        if isinstance(call, Mapping) and isinstance(function := call.get("function"), Mapping):
            texts += [str(function.get("name")), str(function.get("arguments"))]
    return sum(map(count, texts))


def _usage(said: Mapping[str, Any] | None) -> Usage | None:
    """A usage as Chat Completions give it (`prompt_tokens`, `completion_tokens`, `prompt_tokens_details`)."""
    if said is None:
        return None
    details = said.get("prompt_tokens_details") or {}
    return Usage(
        said.get("prompt_tokens") or 0, said.get("completion_tokens") or 0, details.get("cached_tokens") or 0
    )


def _compiled(turn: Turn) -> tuple[Form, Cost]:
    """A turn as it is sent and what its belt costs, worked out once for all cases that have the same belt."""
    belt = turn.belt
    key = ("evals", belt.subject.scope)
    known = belt.registry.memo.get(key)
    if known is None or known[0] is not belt:
        known = belt.registry.memo[key] = belt, turn.compile(TARGET, strict=False), turn.cost
    return known[1], known[2]


def _names(form: Form) -> tuple[str, ...]:
    """The wire names of the tools that were sent, in order."""
    return tuple(form.names.unspell(tool["function"]["name"]) for tool in form.kwargs.get("tools", ()))


def _facts(belt: Belt, form: Form, call: ToolCall) -> Made:
    """Which tool a call means, inside the opener the inner one, and whether the gate admits it."""
    registry = belt.registry
    admitted = admit(belt, call.name, call.arguments, form.names.spell)
    if isinstance(admitted, Denial):
        i, refused = admitted.i, admitted.kind
    elif isinstance(admitted, Call) and admitted.answer is not None:
        i, refused = None, None
    else:
        i, refused = registry.locate(admitted.tool.id), None
    tool = None if i is None else registry.tools[i]
    return Made(
        name=call.name,
        arguments=call.arguments,
        tool=None if tool is None else str(tool.id),
        target=None if tool is None else tool.target,
        owners=() if i is None else owners(registry, i),
        web=tool is not None and is_web(tool),
        refused=refused,
        outcome=Outcome.NOT_STARTED,
        answer="",
    )


def _made(facts: Made, result: ToolResult) -> Made:
    """The facts of a call with what became of it."""
    return replace(facts, outcome=result.outcome, answer=result.text)
