"""A difference in words: what its forms for people say alike, grouped by cause."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packbelt.checks.difference import AgentDiff, Change, Kind, Prefix
from packbelt.checks.worse import Worse
from packbelt.cli.output import number, several
from packbelt.model import State

KINDS: tuple[tuple[Kind, str, str], ...] = (
    ("lost", "Lost", "bad"),
    ("gained", "Gained", "good"),
    ("moved", "Moved", "away"),
)
"""The kinds of changes, their titles and styles."""

UNASKED = "no person approves its calls any more"
"""What is said of a tool that may be called without a person's yes now."""

MOST = 10
"""Diagnostics that are shown."""


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that went the same way, for the same reason, for the same agents."""

    tools: tuple[str, ...]
    agents: tuple[str, ...]
    like: Change


def groups(agents: Iterable[AgentDiff], kind: Kind) -> list[Group]:
    """The changes of one kind, of agents that start on both sides, each set of tools said once."""
    ways: dict[object, dict[str, list[str]]] = {}
    firsts: dict[object, Change] = {}
    for one in agents:
        for change in one.of(kind):
            if change.before is None or change.after is None:
                continue
            # Of tools that are gone each has a place of its own; they are said together.
            where = None if change.after is State.UNKNOWN else change.cause.where
            cause = (change.cause.rule, change.cause.detail, where)
            way: object = (change.before, change.after, cause, change.ended, change.widened)
            firsts.setdefault(way, change)
            ways.setdefault(way, {}).setdefault(change.tool, []).append(one.agent)
    found = []
    for each, tools in ways.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for tool, names in tools.items():
            alike.setdefault(tuple(names), []).append(tool)
        found += [Group(tuple(group), names, firsts[each]) for names, group in alike.items()]
    return found


def listed(names: Sequence[str], most: int, *, everything: bool) -> str:
    """Names, cut to a number of them."""
    rest = 0 if everything else len(names) - most
    return ", ".join(names[:most] if rest > 0 else names) + (f" and {rest} more" if rest > 0 else "")


def approvals(agents: Sequence[AgentDiff]) -> list[tuple[tuple[str, ...], list[str], bool]]:
    """Tools whose calls a person approves no more, or now: the tools, the agents, and whether now."""
    found: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for one in agents:
        for tools, now in ((one.unasked, False), (one.asked, True)):
            if tools:
                found.setdefault((tools, now), []).append(one.agent)
    return [(tools, names, now) for (tools, now), names in found.items()]


def cause_of(group: Group) -> str:
    """The rule that did it, in words, without its place."""
    cause = group.like.cause
    return f"{'no more: ' if group.like.ended else ''}{cause.rule}, {cause.detail}"


def place_of(group: Group) -> str:
    """Where the rule was written, and on which side if that is not NEW's."""
    where = group.like.cause.where
    if where is None:
        return ""
    was = group.like.ended or group.like.after is State.UNKNOWN
    return f"{where} of OLD" if was else str(where)


def tokens_of(one: AgentDiff) -> str:
    """Tokens before and now."""
    if one.delta is None:
        return f"{'-' if one.tokens is None else number(one.tokens)} → " + (
            "-" if one.tokens_now is None else number(one.tokens_now)
        )
    if not one.delta:
        return number(one.tokens or 0)
    return f"{number(one.tokens or 0)} → {number(one.tokens_now or 0)}"


def change_of(one: AgentDiff) -> str:
    """The difference of tokens, in percent where there is one to take it of."""
    if not one.delta:
        return ""
    if not one.tokens:
        return f"{one.delta:+,}"
    return f"{100 * one.delta / one.tokens:+.1f} %"


def life_of(one: AgentDiff) -> str:
    """What became of the agent itself; empty for one that starts on both sides."""
    match one.before, one.after:
        case "absent", "starts":
            return "new"
        case "absent", _:
            return "new, cannot start"
        case _, "absent":
            return "gone"
        case "starts", "refused":
            return "cannot start"
        case "refused", "starts":
            return "can start"
    return ""


def kept_of(prefix: Prefix | None) -> str:
    """What a prompt cache keeps, in a word."""
    if prefix is None:
        return "-"
    if prefix.whole:
        return "all"
    if prefix.breaks_at is None:
        return "all tools"
    return f"{number(prefix.kept)} of {number(prefix.sent)} tools"


def break_of(prefix: Prefix) -> str:
    """Where a prompt cache breaks, as a sentence; empty where it does not."""
    if prefix.whole:
        return ""
    if prefix.breaks_at is None:
        return "the tools stay, the prompt behind them differs"
    tokens = f"{number(prefix.kept_tokens)} of {several(prefix.sent_tokens, 'token')}"
    return f"{tokens} of tools stay, up to {prefix.breaks_at}"


def verdict(failed: Sequence[Worse]) -> list[str]:
    """A line for each condition that holds."""
    return [f"{one.condition.text}: {', '.join(one.of)}" for one in failed]


def unfelt(differing: Sequence[AgentDiff]) -> str:
    """A line on the agents of which only withheld tools moved; empty if there is none."""
    count = sum(not one.felt for one in differing)
    return f"{several(count, 'agent')} with moves only among tools kept from them anyway" if count else ""


def breaks(differing: Sequence[AgentDiff]) -> dict[str, list[str]]:
    """Where the prompt cache breaks, each with the agents."""
    lines: dict[str, list[str]] = {}
    for one in differing:
        if one.prefix is not None and (line := break_of(one.prefix)):
            lines.setdefault(line, []).append(one.agent)
    return lines


def arrival(one: AgentDiff, tools: str) -> str:
    """What an agent that came or went calls, or called; empty for none."""
    if not tools:
        return ""
    return f"; it {'calls' if one.after == 'starts' else 'called'} {tools}"
