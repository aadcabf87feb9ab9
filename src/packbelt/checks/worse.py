"""What makes a difference one for the worse: the conditions of `packbelt diff --fail-on`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packbelt.catalog.near import suggestion
from packbelt.checks.difference import AgentDiff, Diff
from packbelt.model import Level, PackbeltError

CONDITIONS: dict[str, str] = {
    "lost": "an agent can call a tool no more, or cannot start any more",
    "gained": "an agent can call a tool that it could not, whatever the reason",
    "widened": "an agent may call a tool that was there and kept from it, or needs no person's yes any more",
    "moved": "a tool is in another state, and as callable as before",
    "errors": "`packbelt check` finds an error that it did not",
    "cost": "an agent's tools and sections cost more tokens than before, by more than the limit",
}
"""Name and meaning of each."""

_COST = re.compile(r"cost:\+(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    Attributes:
        text: as it was written.
        name: which.
        limit: for `cost`, the growth that is still fine.
        percent: whether the limit is in percent of the tokens before; else in tokens.
    """

    text: str
    name: str
    limit: float = 0
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Worse:
    """A condition that holds, and of what: agents with their figures, or a number of errors."""

    condition: Condition
    of: tuple[str, ...]


def conditions(text: str) -> tuple[Condition, ...]:
    """Conditions from a list with commas.

    Raises:
        PackbeltError: one of them is none.
    """
    return tuple(_condition(part.strip()) for part in text.split(",") if part.strip())


def _condition(text: str) -> Condition:
    if found := _COST.fullmatch(text):
        return Condition(text, "cost", float(found[1]), percent=bool(found[2]))
    if text.partition(":")[0] == "cost":
        raise PackbeltError(
            f"{text!r} is no limit of cost", mend="write cost:+5% or, in tokens, cost:+200", name=text
        )
    if text not in CONDITIONS:
        mend = suggestion(text, CONDITIONS, otherwise=f"there are: {', '.join(CONDITIONS)}")
        raise PackbeltError(f"{text!r} is no condition", mend=mend, name=text)
    return Condition(text, text)


def worse(found: Diff, asked: Sequence[Condition]) -> tuple[Worse, ...]:
    """The conditions that hold of a difference, in the order in which they were asked."""
    held = ((condition, tuple(_of(found, condition))) for condition in asked)
    return tuple(Worse(condition, of) for condition, of in held if of)


def _of(found: Diff, condition: Condition) -> Iterator[str]:
    if condition.name == "errors":
        count = sum(one.level is Level.ERROR for one in found.found)
        if count:
            yield f"{count} new"
        return
    for one in found.differing:
        figure = _figure(one, condition)
        if figure:
            yield f"{one.agent} ({figure})"


def _figure(one: AgentDiff, condition: Condition) -> str:
    """What holds of one agent, in a word; empty if nothing does."""
    match condition.name:
        case "cost":
            return _dearer(one, condition)
        case "widened":
            return str(len(one.widened) or "")
        case "lost" if one.before == "starts" and one.after != "starts":
            return "gone" if one.after == "absent" else "cannot start"
        case name:
            return str(sum(change.kind == name for change in one.changes) or "")


def _dearer(one: AgentDiff, condition: Condition) -> str:
    if not one.delta or not one.tokens_now or one.delta < 0:
        return ""
    before = one.tokens or 0
    allowed = before * condition.limit / 100 if condition.percent else condition.limit
    if one.delta <= allowed:
        return ""
    share = f", +{100 * one.delta / before:.1f} %" if before else ""
    return f"+{one.delta:,} token{'' if one.delta == 1 else 's'}{share}"


__all__ = ["CONDITIONS", "Condition", "Worse", "conditions", "worse"]
