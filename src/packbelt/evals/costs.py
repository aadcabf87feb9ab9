"""What a case costs in tokens, without and with the provider's cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from packbelt.evals.report import CaseReport
from packbelt.evals.trace import Reply, Tokens, Usage

READ = 0.1
"""What a token costs that is read from the cache, of one that is not: the list price of Anthropic (for all
models) and of OpenAI (since gpt-5; 0.25 or 0.5 for older ones). What writing costs more (Anthropic: 1.25) is
left out."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What cases cost on average, in tokens of o200k_base.

    Attributes:
        cases: how many were counted.
        turns: requests of a case.
        belt: tools and sections of one request.
        case: all requests and replies of a case.
        cached: the same with what the provider has read before at `READ`: tools and prompt, which stay the
            same from case to case, and the conversation as the case's last request had it.
        usage: what the model's endpoint counted for all cases together; None where it does not say.
    """

    cases: int
    turns: float
    belt: float
    case: float
    cached: float
    usage: Usage | None = None

    def to_json(self) -> dict[str, Any]:
        """The costs as data."""
        usage = self.usage
        return {
            "encoding": "o200k_base",
            "cached_price": READ,
            "cases": self.cases,
            "turns": round(self.turns, 2),
            "belt_per_turn": round(self.belt, 1),
            "case": round(self.case, 1),
            "case_cached": round(self.cached, 1),
            "usage": None
            if usage is None
            else {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached},
        }


def costs_of(cases: Sequence[CaseReport]) -> Costs | None:
    """What cases cost on average; None where none has a counted reply.

    Args:
        cases: of one condition.
    """
    counted = [each for case in cases if (each := _counted(case.trace.replies))]
    if not counted:
        return None
    turns = sum(map(len, counted))
    return Costs(
        cases=len(counted),
        turns=turns / len(counted),
        belt=sum(one.belt for each in counted for one in each) / turns,
        case=sum(_whole(one) for each in counted for one in each) / len(counted),
        cached=sum(map(_with_cache, counted)) / len(counted),
        usage=_usage([reply for case in cases for reply in case.trace.replies]),
    )


def _counted(replies: Sequence[Reply]) -> list[Tokens]:
    return [reply.tokens for reply in replies if reply.tokens is not None]


def _whole(one: Tokens) -> int:
    return one.prefix + one.conversation + one.reply


def _with_cache(requests: Sequence[Tokens]) -> float:
    first = requests[0]
    total = READ * first.prefix + first.conversation + first.reply
    for before, now in pairwise(requests):
        same = before.prefix == now.prefix  # else a tool came or went, and nothing behind it is found again
        read = now.prefix + before.conversation if same else 0
        total += READ * read + (now.prefix + now.conversation - read) + now.reply
    return total


def _usage(replies: Sequence[Reply]) -> Usage | None:
    said = [reply.usage for reply in replies if reply.usage is not None]
    if not said:
        return None
    return Usage(
        sum(one.prompt for one in said), sum(one.completion for one in said), sum(one.cached for one in said)
    )
