"""What keeps an agent from starting, and what a person should know about a belt that stands."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packbelt.belt.scope import Subject
from packbelt.belt.selectors import NOT_HERE, Match, Purpose, match
from packbelt.catalog.near import listed
from packbelt.catalog.registry import bits
from packbelt.model import NOTHING_TO_DO, Code, Diagnostic, Level, ServerStatus, Where

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt


def start_problems(subject: Subject) -> tuple[Diagnostic, ...]:
    """Entries of agent and snapshot that mean nothing or two things, and required servers that failed."""
    found = [one.problem for one in _matches(subject) if one.problem]
    return (*found, *_required(subject))


def _matches(subject: Subject) -> Iterator[Match]:
    registry, agent = subject.registry, subject.agent
    for selector in agent.tools or ():
        yield match(registry, selector, Purpose.GRANT, agent)
    for selector in agent.disallowed_tools:
        yield match(registry, selector, Purpose.DENY, agent)
    for selector in (*registry.workspace.config.deny, *registry.snapshot.deny):
        yield match(registry, selector, Purpose.DENY)
    for selector in (*registry.workspace.config.approve, *registry.snapshot.approve):
        yield match(registry, selector, Purpose.APPROVE)


def _required(subject: Subject) -> Iterator[Diagnostic]:
    registry = subject.registry
    for name, spec in registry.required.items():
        state = registry.state(name)
        if name in subject.servers and state.status is ServerStatus.FAILED:
            yield Diagnostic(
                Level.ERROR,
                Code.AGENT_REFUSED,
                f"server {spec.short_name!r} is required and failed{because(state.error)}",
                spec.where,
                "mend the server, or remove `required`",
                spec.short_name,
            )


def because(error: str) -> str:
    """An error as the end of a sentence."""
    return f": {error}" if error else ""


def remarks(belt: "Belt") -> tuple[Diagnostic, ...]:
    """Notes on entries, failed servers of the scope, bad tools, altered names and clashes."""
    return tuple(dict.fromkeys(_remarks(belt)))


def _remarks(belt: "Belt") -> Iterator[Diagnostic]:
    subject, registry = belt.subject, belt.registry
    yield from _notes(belt)
    yield from subject.notes
    for name in subject.agent.mcp_servers:
        if name not in registry.masks or (name in registry.private and name not in subject.agent.inline):
            yield Diagnostic(
                Level.WARNING,
                Code.SERVER_UNKNOWN,
                f"agent {belt.agent!r} refers to server {name!r}, which is not configured; it is skipped",
                subject.agent.where("mcp_servers"),
                "configure it in .mcp.json, or remove the reference",
                name,
            )
    for name in subject.servers:
        state = registry.state(name)
        yield from state.diagnostics
        if state.status is ServerStatus.FAILED:
            spec = registry.workspace.servers.get(name) or registry.workspace.inline.get(name)
            yield Diagnostic(
                Level.WARNING,
                Code.SERVER_FAILED,
                f"server {name!r} failed{because(state.error)}; its tools are left out",
                spec.where if spec else None,
                "mend the server, then `packbelt connect` again",
                name,
            )
    changed = belt.subject.server_tools & registry.changed
    if changed:
        names = listed(registry.tools[i].wire_name for i in bits(changed))
        yield Diagnostic(
            Level.WARNING,
            Code.TOOL_CHANGED,
            f"definitions that packbelt.lock does not accept: {names}",
            Where("packbelt.lock"),
            "look at them, then `packbelt connect --lock` accepts them",
            belt.agent,
        )
    yield from _wire_names(belt)


def _notes(belt: "Belt") -> Iterator[Diagnostic]:
    """Notes on entries; those that mean nothing here in an imported file are named together."""
    agent = belt.subject.agent
    together: dict[tuple[Level, Code, str], list[str]] = {}
    for one in _matches(belt.subject):
        note = one.note
        if note is None:
            continue
        if note.code is Code.AGENT_BUILTIN or note.mend == NOT_HERE:
            together.setdefault((note.level, note.code, note.mend), []).append(note.name)
        else:
            yield note
    said = {
        Code.AGENT_BUILTIN: "names tools that Claude Code itself runs, and only a belt compiled for it has",
        Code.AGENT_TOOL_UNKNOWN: "names what nothing here has",
    }
    for (level, code, mend), names in together.items():
        text = f"agent {agent.name!r} {said[code]}: {listed(dict.fromkeys(names))}"
        yield Diagnostic(level, code, text, agent.where("tools"), mend, agent.name)


def _wire_names(belt: "Belt") -> Iterator[Diagnostic]:
    registry = belt.registry
    for i in bits(registry.clashes & belt.subject.server_tools):
        tool = registry.tools[i]
        yield Diagnostic(
            Level.ERROR,
            Code.WIRE_CLASH,
            f"{tool.id} shares the wire name {tool.wire_name!r} with another tool; neither is available",
            None,
            "rename one of the servers",
            tool.wire_name,
        )
    for name in belt.subject.servers:
        if name in registry.workspace.inline:
            continue  # their names always carry the hash
        state = registry.state(name)
        if state.altered and belt.callable & registry.masks[name]:
            first = state.tools[state.altered[0]]
            count = len(state.altered)
            yield Diagnostic(
                Level.NOTE,
                Code.WIRE_ALTERED,
                f"{count} name{'' if count == 1 else 's'} of server {name!r} had to be altered for the wire, "
                f"such as {first.name!r} to {first.wire_name!r}",
                None,
                NOTHING_TO_DO,
                name,
            )
