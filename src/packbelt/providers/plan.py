"""What every target starts from: the sent tools in order, their names, and the prompt in its spelling."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from packbelt.belt import FIND_TOOLS, Belt
from packbelt.belt.opener import opener_tool
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.registry import bits, pick
from packbelt.model import HANDOFF, NATIVE, Code, Diagnostic, Level, Tool
from packbelt.prompt import render_prompt, render_sections
from packbelt.providers.names import CompileError, Names, name_all
from packbelt.providers.schemas import fit_all
from packbelt.providers.target import Target

LARGEST = 5
"""Packs that a refusal names."""

Mapped = Callable[[Tool], str | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """A belt ready to be written in a target's form.

    Attributes:
        belt: the decision; where the target defers by itself, with nothing behind the opener.
        names: wire names and the target's names.
        tools: those that are sent, in order, descriptions in the target's spelling.
        deferred: those that the target's own deferral carries.
        system: the agent's prompt with its sections, in the target's spelling.
        diagnostics: what a person should know.
        sections: the prompt's sections by name, in the target's spelling.
    """

    belt: Belt
    names: Names
    tools: tuple[Tool, ...]
    deferred: tuple[Tool, ...]
    system: str
    diagnostics: tuple[Diagnostic, ...]
    sections: Mapping[str, str]

    @property
    def shown(self) -> tuple[str, ...]:
        """The names that the target's model sees, in order."""
        return tuple(self.names.spell(tool.wire_name) for tool in self.tools)


def plan(
    belt: Belt, target: Target, *, strict: bool, search: bool = False, mapped: Mapped | None = None
) -> Plan:
    """Plan a belt for a target.

    Args:
        belt: the decision.
        target: whose form it will be.
        strict: whether what cannot be said there refuses the whole; else it is left out, with a diagnostic.
        search: whether what is packed or deferred goes into the target's own deferral instead of behind the
            opener and `find_tools`.
        mapped: the target's name of a tool; by default its prefix and the wire name.

    Raises:
        CompileError: a tool has no name there, two have one, or there are more tools than it takes.
    """
    if search:
        belt = belt.searched()
    named = mapped or (lambda tool: target.names.prefix + tool.wire_name)
    away = tuple(pick(belt.registry.tools, belt.packed | belt.deferred))
    own = tuple(tool for tool in belt.tools if search and tool.wire_name == FIND_TOOLS)  # one, or none
    wanted = tuple(tool for tool in belt.tools if tool not in own)
    fit, found = fit_all(target, (*wanted, *away) if search else wanted, strict=strict)
    taken = {target.search: own[0]} if own else {}
    names, kept, left_out = name_all(target, fit, named, strict=strict, taken=taken)
    if not search:  # what the opener calls is said in texts alone, and needs no name that the target takes
        names = name_all(target, (*kept, *away), named, strict=False)[0]
    if own:  # the target's own search: said in prompts, never called by us
        names = Names({**names.shown, FIND_TOOLS: target.search}, names.wire)
    put_away = {tool.wire_name for tool in away}
    sent = tuple(tool for tool in kept if tool.wire_name not in put_away)
    deferred = tuple(tool for tool in kept if tool.wire_name in put_away)
    spelled = tuple(_spelled(belt, tool, names) for tool in sent)
    sections = render_sections(belt, names.spell)
    known = [*found, *left_out, *sections.diagnostics]
    known += _over(belt, target, [*sent, *deferred], strict=strict)
    known += _cut(target, [*spelled, *deferred])
    system = render_prompt(belt, sections, names.spell)
    return Plan(belt, names, spelled, deferred, system, tuple(known), sections.texts)


def _spelled(belt: Belt, tool: Tool, names: Names) -> Tool:
    """The opener says names of other tools; everybody else's words are its own."""
    if tool.id.source == NATIVE and tool.wire_name == belt.registry.workspace.config.opener:
        return opener_tool(belt, names.spell)
    return tool


def _over(belt: Belt, target: Target, tools: list[Tool], *, strict: bool) -> list[Diagnostic]:
    """More tools than the target takes: an error before the request, with what is large."""
    if not target.most_tools or len(tools) <= target.most_tools:
        return []
    sizes: dict[str, int] = {}
    for i in bits(belt.direct):
        pack = belt.registry.pack_of(i) or "no pack"
        sizes[pack] = sizes.get(pack, 0) + 1
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:LARGEST]
    named = ", ".join(f"{pack} ({count})" for pack, count in largest)
    problem = (
        f"{len(tools)} tools are sent, and {target.title} takes {target.most_tools}; most are of {named}"
    )
    mend = "pack the largest (`exposure: packed`), or grant this agent fewer"
    if strict:
        raise CompileError(problem, mend=mend, name=belt.agent)
    return [Diagnostic(Level.WARNING, Code.TARGET_LIMIT, problem, mend=mend, name=belt.agent)]


def _cut(target: Target, tools: list[Tool]) -> list[Diagnostic]:
    """Descriptions of which the target shows only a part."""
    longest = target.longest_description
    return [
        Diagnostic(
            Level.WARNING,
            Code.TEXT_CUT,
            f"the description of {tool.wire_name!r} has {len(tool.description):,} letters, and "
            f"{target.title} shows {longest:,}",
            tool.where,
            "shorten it",
            tool.wire_name,
        )
        for tool in tools
        if longest and len(tool.description) > longest
    ]


def spelled(made: Plan, allowed: Sequence[str]) -> list[str]:
    """Wire names that may be called in one request, in the target's spelling.

    Raises:
        CompileError: one of them is not sent.
    """
    sent = {tool.wire_name for tool in (*made.tools, *made.deferred)}
    for name in allowed:
        if name not in sent:
            mend = suggestion(name, sorted(sent), otherwise=f"sent are: {listed(sorted(sent))}")
            raise CompileError(f"`allowed` has {name!r}, which is not sent", mend=mend, name=name)
    return [made.names.spell(name) for name in allowed]


def handoffs(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The hand-offs among tools."""
    return tuple(tool for tool in tools if tool.id.source == HANDOFF)
