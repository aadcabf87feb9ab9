"""`packbelt diff` as Markdown, for a pull request.

Whatever a file or a server wrote stands in code spans: it can neither mention anybody nor become markup.
"""

from collections.abc import Iterator, Sequence

from packbelt.checks.difference import AgentDiff, Diff
from packbelt.checks.worse import Worse
from packbelt.cli.diff_words import (
    KINDS,
    MOST,
    UNASKED,
    Group,
    approvals,
    arrival,
    breaks,
    cause_of,
    change_of,
    groups,
    kept_of,
    life_of,
    place_of,
    tokens_of,
    unfelt,
    verdict,
)
from packbelt.cli.output import number, several
from packbelt.model import Diagnostic
from packbelt.model.text import one_line

_NAMED = 12
"""Tools or agents that one line names."""


def code(text: str) -> str:
    """A text as a code span, also inside a table."""
    return "`" + one_line(text).replace("`", "'").replace("|", "\u00a6") + "`"


def markdown_of(old: str, new: str, found: Diff, failed: Sequence[Worse], *, everything: bool) -> str:
    """A difference, as `show_diff` takes it."""
    return "\n".join(_lines(old, new, found, failed, everything=everything))


def _lines(old: str, new: str, found: Diff, failed: Sequence[Worse], *, everything: bool) -> Iterator[str]:
    yield f"### packbelt: {code(old)} → {code(new)}"
    yield ""
    if failed:
        yield from (f"- **fails on** {code(line)}" for line in verdict(failed))
        yield ""
    differing = found.differing
    if found.empty:
        yield "No difference that packbelt knows of."
        return
    verb = "differs" if len(differing) == 1 else "differ"
    yield f"{several(len(differing), 'agent')} {verb}, {len(found.agents) - len(differing)} alike."
    yield from _table(differing, everything=everything)
    for kind, heading, _ in KINDS:
        some = groups(differing, kind)
        yield from _section(heading, (_group(group, everything=everything) for group in some))
    yield from _section("Approval", _approvals(differing, everything=everything))
    yield from _section("Tools", _tools(found, everything=everything))
    lines = breaks(differing).items()
    cache = (f"{_spans(agents, everything=everything)}: {code(line)}" for line, agents in lines)
    yield from _section("Prompt cache", cache)
    yield from _section("Agents that came or went", _arrivals(differing, everything=everything))
    for heading, findings in (("New findings", found.found), ("Vanished findings", found.mended)):
        yield from _section(heading, _findings(findings, everything=everything))


def _table(differing: Sequence[AgentDiff], *, everything: bool) -> Iterator[str]:
    shown = [one for one in differing if one.felt or everything]
    if line := "" if everything else unfelt(differing):
        yield f"{line}."
    if not shown:
        return
    yield ""
    yield "| agent | lost | gained | moved | tokens | | cache keeps |"
    yield "|---|--:|--:|--:|--:|--:|---|"
    for one in shown:
        counts = " | ".join(number(len(one.of(kind))) for kind, _, _ in KINDS)
        last = life_of(one) or kept_of(one.prefix)
        yield f"| {code(one.agent)} | {counts} | {tokens_of(one)} | {change_of(one)} | {last} |"


def _section(heading: str, lines: Iterator[str]) -> Iterator[str]:
    listed_lines = list(lines)
    if listed_lines:
        yield ""
        yield f"**{heading}**"
        yield ""
        yield from (f"- {line}" for line in listed_lines)


def _spans(names: Sequence[str], *, everything: bool) -> str:
    shown = names if everything else names[:_NAMED]
    rest = len(names) - len(shown)
    return ", ".join(code(name) for name in shown) + (f" and {rest} more" if rest else "")


def _group(group: Group, *, everything: bool) -> str:
    widened = " (**widened**)" if group.like.widened else ""
    place = place_of(group)
    why = f"{code(cause_of(group))}{f', {code(place)}' if place else ''}"
    tools = _spans(group.tools, everything=everything)
    agents = _spans(group.agents, everything=everything)
    return f"{tools}: {group.like.before} → {group.like.after}{widened} for {agents}; {why}"


def _approvals(differing: Sequence[AgentDiff], *, everything: bool) -> Iterator[str]:
    for tools, agents, now in approvals(differing):
        words = "a person approves each call now" if now else f"{UNASKED} (**widened**)"
        yield f"{_spans(tools, everything=everything)}: {words}, for {_spans(agents, everything=everything)}"


def _tools(found: Diff, *, everything: bool) -> Iterator[str]:
    for word, names in (
        ("new", found.tools_new),
        ("gone", found.tools_gone),
        ("defined anew", found.tools_changed),
    ):
        if names:
            yield f"{word}: {_spans(names, everything=everything)}"


def _arrivals(differing: Sequence[AgentDiff], *, everything: bool) -> Iterator[str]:
    for one in differing:
        if life_of(one):
            tools = _spans([change.tool for change in one.changes], everything=everything)
            reasons = "".join(f"; {code(reason.message)}" for reason in one.refused)
            yield f"{code(one.agent)}: {life_of(one)}{arrival(one, tools)}{reasons}"


def _findings(found: Sequence[Diagnostic], *, everything: bool) -> Iterator[str]:
    shown = found if everything else found[:MOST]
    for one in shown:
        where = f"{code(str(one.where))} " if one.where else ""
        yield f"{one.level}: {where}{code(one.message)} {code(one.code)}"
    if len(found) > len(shown):
        yield f"and {len(found) - len(shown)} more"


__all__ = ["code", "markdown_of"]
