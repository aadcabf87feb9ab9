"""Promises: texts that name a tool which their reader cannot call.

A text is read by those that it is shown to: a prompt by its agent, a pack's guide by whoever can open the
pack, its summary by them and by those whom sections send to its owners, an agent's description by whoever can
call its hand-off, a skill's description by the agents that have the skill, a tool's by whoever can call it.
The description of an agent speaks of what that agent does, and may name what that agent can call; that of a
skill, what one agent with the skill can call. A sentence that says `not available here` promises nothing.
"""

import re
from collections.abc import Iterable, Iterator

from packbelt.belt import FIND_TOOLS, Belt
from packbelt.checks.mentions import NOT_HERE, Mention, mentions
from packbelt.checks.workbench import Workbench, listed
from packbelt.model import Code, Diagnostic, Level, Origin, State, Where
from packbelt.turn import Turn

_PARAGRAPHS = re.compile(r"\n\s*\n")


def can_call(belt: Belt, name: str, i: int | None) -> bool:
    """Whether a reader can call what a text names."""
    if i is not None:
        return bool(belt.callable >> i & 1)
    return any(tool is not None and tool.wire_name == name for tool in (belt.opener, belt.finder))


def prompts(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents' prompts. A file of another tool's format gets a warning: its words were written for that."""
    names = bench.known_names
    for name, belt in bench.belts.items():
        agent = belt.subject.agent
        for found in mentions(agent.body, names):
            i = names[found.name]
            if can_call(belt, found.name, i):
                continue
            first = agent.lines.get("body", 0)
            where = Where(agent.file, first + found.line if first else 0) if agent.file else None
            yield Diagnostic(
                bench.level(name, _gravity(bench, belt, found.name, i)),
                Code.PROMISE_BROKEN,
                f"the prompt of {name!r} names {found.name!r}, which {name!r} cannot call: "
                f"{_why(bench, belt, found.name, i)}",
                where,
                _mend(belt, i),
                found.name,
            )


def sections(bench: Workbench) -> Iterator[Diagnostic]:
    """Sections that the workspace's own templates make: what they say for each agent."""
    for one in bench.turns.values():
        for section, name, why in untrue(bench, one):
            template = bench.workspace.templates.get(section)
            if template is None or template.origin is Origin.EMBEDDED:
                continue  # packbelt's own are held to law 1
            before, spelled, _ = template.source.partition(name)
            line = before.count("\n") + 1 if spelled else 0
            yield Diagnostic(
                Level.ERROR,
                Code.PROMISE_BROKEN,
                f"section {section!r} as {one.agent!r} reads it names {name!r}: {why}",
                Where(template.file, line),
                "write what the belt says, as the shipped template does, and no name by hand",
                name,
            )


def untrue(bench: Workbench, one: Turn) -> Iterator[tuple[str, str, str]]:
    """Section, name and fault of each tool that a turn's sections name and its reader cannot call so.

    A section speaks of calls to make now. What is put away is named in one paragraph with the opener that it
    is called through. Words that sections quote are no calls, and a pack's id is none.
    """
    belt = one.belt
    opener = bench.workspace.config.opener
    names = {name: i for name, i in bench.known_names.items() if name not in bench.workspace.packs}
    for section, text in one.sections.items():
        for paragraph in _PARAGRAPHS.split(_without(text, bench.quoted)):
            for found in mentions(paragraph, names):
                i = names[found.name]
                if not can_call(belt, found.name, i):
                    yield section, found.name, _why(bench, belt, found.name, i)
                elif i is not None and belt.packed >> i & 1 and opener not in paragraph:
                    yield section, found.name, f"it is put away, and nothing beside it says {opener!r}"


def _without(text: str, words: Iterable[str]) -> str:
    """A text without words that it quotes; what stands in backticks is a name to call, and stays."""
    for some in words:
        text = re.sub(rf"(?<!`){re.escape(some)}(?!`)", "", text)
    return text


def packs(bench: Workbench) -> Iterator[Diagnostic]:
    """Guides of packs, and their summaries, which those from whom a pack is reserved read too."""
    names = bench.known_names
    for pack in bench.workspace.packs.values():
        mask = bench.registry.index.packs[pack.id]
        raw = mask & ~bench.registry.handoffs
        opening = [belt for belt in bench.belts.values() if belt.packed & mask]
        kept = [belt for belt in bench.belts.values() if belt.fold.states[State.RESERVED] & raw]
        told = [*(belt for belt in opening if belt.packed & raw), *kept]
        for key, text, readers in (("guide", pack.guide, opening), ("summary", pack.summary, told)):
            what = f"the {key} of pack {pack.id!r}"
            found = mentions(text, names)
            yield from _read(bench, found, readers, what=what, where=pack.where(key), level=Level.ERROR)


def descriptions(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents' descriptions, which their hand-offs carry. What the agent itself can call, they may name."""
    names = bench.known_names
    for name, agent in bench.workspace.agents.items():
        link = bench.registry.index.to_agent.get(name)
        if link is None:
            continue
        own = bench.belts.get(name)
        found = [
            mention
            for mention in mentions(agent.description, names)
            if own is None or not can_call(own, mention.name, names[mention.name])
        ]
        readers = [belt for belt in bench.belts.values() if belt.callable >> link & 1]
        what = f"the description of agent {name!r}"
        level = bench.level(name, Level.ERROR)
        yield from _read(bench, found, readers, what=what, where=agent.where("description"), level=level)


def skills(bench: Workbench) -> Iterator[Diagnostic]:
    """Skills' descriptions: third parties' words, hence warnings."""
    names = bench.known_names
    known = [(belt, {skill.name for skill in belt.subject.skills}) for belt in bench.belts.values()]
    for skill in bench.registry.skills:
        readers = [belt for belt, mine in known if skill.name in mine]
        for found in mentions(skill.description, names):
            i = names[found.name]
            if any(can_call(belt, found.name, i) for belt in readers) or not readers:
                continue
            yield Diagnostic(
                Level.WARNING,
                Code.PROMISE_BROKEN,
                f"the description of skill {skill.name!r} names {found.name!r}, which no agent that has the "
                "skill can call",
                skill.where,
                "grant the tool to the agent that runs skills, or correct the description",
                found.name,
            )


def tools(bench: Workbench) -> Iterator[Diagnostic]:
    """Descriptions of the workspace's own tools that send their reader on to another tool."""
    names = bench.known_names
    for i, tool in enumerate(bench.registry.index.tools):
        if tool.target is not None:
            continue  # an agent's description
        readers = [belt for belt in bench.belts.values() if belt.callable >> i & 1]
        found = (mention for mention in mentions(tool.description, names) if mention.name != tool.name)
        what = f"the description of tool {tool.name!r}"
        yield from _read(bench, found, readers, what=what, where=tool.where, level=Level.WARNING)


def _read(
    bench: Workbench,
    found: Iterable[Mention],
    readers: list[Belt],
    *,
    what: str,
    where: Where | None,
    level: Level,
) -> Iterator[Diagnostic]:
    """What readers of one text cannot call, one finding a name."""
    names = bench.known_names
    for mention in found:
        i = names[mention.name]
        deceived = [belt for belt in readers if not can_call(belt, mention.name, i)]
        if deceived:
            agents = listed(dict.fromkeys(belt.agent for belt in deceived))
            worst = {_gravity(bench, belt, mention.name, i) for belt in deceived}
            yield Diagnostic(
                level if Level.ERROR in worst else Level.WARNING,
                Code.PROMISE_BROKEN,
                f"{what} names {mention.name!r}, which {agents} cannot call: "
                f"{_why(bench, deceived[0], mention.name, i)}",
                where,
                _mend(deceived[0], i),
                mention.name,
            )


def _gravity(bench: Workbench, belt: Belt, name: str, i: int | None) -> Level:
    """An error, unless the promise holds once nothing is switched off: then only the present breaks it."""
    if i is not None and i >= bench.registry.index.size:
        return Level.WARNING if belt.state(i) is State.UNAVAILABLE else Level.ERROR
    rested = bench.at_rest(belt.agent)
    return Level.WARNING if rested is not None and can_call(rested, name, i) else Level.ERROR


def _why(bench: Workbench, belt: Belt, name: str, i: int | None) -> str:
    if i is not None:
        return f"it is {belt.state(i)}: {belt.reasons(i)[0].detail}"
    if name in (bench.workspace.config.opener, FIND_TOOLS):
        return f"nothing is {'deferred' if name == FIND_TOOLS else 'put away'} for {belt.agent!r}"
    return "no tool is behind it"


def _mend(belt: Belt, i: int | None) -> str:
    routes = [] if i is None else [route for route in belt.decision(i).routes if route.via == "handoff"]
    otherwise = f'or say "{NOT_HERE}" in the same sentence'
    if routes:
        calls = listed(dict.fromkeys(str(route.arguments.get("tool", route.call)) for route in routes), 3)
        return f"name its hand-off instead ({calls}), {otherwise}"
    return f"remove it from the text, grant the tool, {otherwise}"


CHECKS = (prompts, sections, packs, descriptions, skills, tools)
"""The checks of this family."""
