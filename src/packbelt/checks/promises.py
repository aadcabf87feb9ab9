"""Promises: texts that name a tool which their reader cannot call.

A text is read by those that it is shown to: a prompt by its agent, a pack's guide and summary by whoever can
open the pack, an agent's description by whoever can call its hand-off, a skill's description by the agents that
have the skill, a tool's description by whoever can call the tool. A description of an agent or a skill speaks of
what that agent, or whoever is handed the skill, does; there a tool within reach of its reader is no broken
promise. A sentence that says `not available here` promises nothing.
"""

from collections.abc import Iterator

from packbelt.belt import FIND_TOOLS, Belt
from packbelt.checks.mentions import NOT_HERE, Mention, mentions
from packbelt.checks.workbench import Workbench, listed
from packbelt.model import Code, Diagnostic, Level, Origin, Where
from packbelt.turn import Turn


def can_call(belt: Belt, name: str, i: int | None) -> bool:
    """Whether a reader can call what a text names."""
    if i is not None:
        return bool(belt.callable >> i & 1)
    return any(tool is not None and tool.wire_name == name for tool in (belt.opener, belt.finder))


def prompts(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents' prompts. In a file of another tool's format it is a warning: its words were written for that."""
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
                bench.level(name, Level.ERROR),
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
            line = template.source[: template.source.find(name)].count("\n") + 1 if name in template.source else 0
            yield Diagnostic(
                Level.ERROR,
                Code.PROMISE_BROKEN,
                f"section {section!r} as {one.agent!r} reads it names {name!r}: {why}",
                Where(template.file, line),
                "write what the belt says, as the shipped template does, and no name by hand",
                name,
            )


def untrue(bench: Workbench, one: Turn) -> Iterator[tuple[str, str, str]]:
    """Section, name and fault of each tool that a turn's sections name and its reader cannot call in that way.

    A section speaks of calls to make now. What is put away is named beside the opener that it is called through.
    """
    belt = one.belt
    opener = bench.workspace.config.opener
    names = bench.known_names
    for section, text in one.sections.items():
        for found in mentions(text, names, each=True):
            i = names[found.name]
            if not can_call(belt, found.name, i):
                yield section, found.name, _why(bench, belt, found.name, i)
            elif i is not None and belt.packed >> i & 1 and opener not in found.sentence:
                yield section, found.name, f"it is put away, and the sentence does not say {opener!r}"


def packs(bench: Workbench) -> Iterator[Diagnostic]:
    """Guides and summaries of packs."""
    names = bench.known_names
    for pack in bench.workspace.packs.values():
        mask = bench.registry.index.packs[pack.id]
        readers = [belt for belt in bench.belts.values() if belt.packed & mask]
        for key, text in (("guide", pack.guide), ("summary", pack.summary)):
            shown = readers if key == "guide" else [b for b in readers if b.packed & mask & ~b.registry.handoffs]
            what = f"the {key} of pack {pack.id!r}"
            yield from _read(bench, mentions(text, names), shown, what, pack.where(key), Level.ERROR)


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
        yield from _read(bench, iter(found), readers, what, agent.where("description"), level)


def skills(bench: Workbench) -> Iterator[Diagnostic]:
    """Skills' descriptions: third parties' words, hence warnings. A tool within their reader's reach is fine."""
    names = bench.known_names
    installed = bench.snapshot.skills
    for skill in bench.workspace.skills if installed is None else installed:
        readers = []
        for belt in bench.belts.values():
            mine = belt.subject.agent.skills
            if mine is None or skill.name in mine:
                readers.append(belt)
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
        yield from _read(bench, found, readers, what, tool.where, Level.WARNING)


def _read(
    bench: Workbench,
    found: Iterator[Mention],
    readers: list[Belt],
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
            yield Diagnostic(
                level,
                Code.PROMISE_BROKEN,
                f"{what} names {mention.name!r}, which {listed(belt.agent for belt in deceived)} cannot call: "
                f"{_why(bench, deceived[0], mention.name, i)}",
                where,
                _mend(deceived[0], i),
                mention.name,
            )


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
