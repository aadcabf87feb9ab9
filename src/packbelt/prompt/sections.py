"""`render_sections` and `render_prompt`: a belt in words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.spell import Spell, respelled
from packbelt.model import Code, Diagnostic, Level
from packbelt.model.text import LIMIT, few
from packbelt.prompt.body import known_sections, misplaced, placed, with_sections
from packbelt.prompt.view import view_of

NAMED = 5
"""Third parties that a note names."""

_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of one agent's prompt.

    Attributes:
        texts: by name, in the order in which they are appended; one without content is absent.
        diagnostics: templates that failed, places that name no section, texts that were cut.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def render_sections(belt: Belt, spell: Spell = str) -> Sections:
    """The sections that the agent's prompt places (all of them where it places none), from its belt.

    A template that fails costs its own section and is reported; nothing is raised.

    Args:
        belt: the decision that everything is read off.
        spell: how the target of the request spells a wire name.
    """
    from packbelt.prompt.sandbox import render  # noqa: PLC0415 - Jinja2 only when something is rendered

    workspace, agent = belt.registry.workspace, belt.subject.agent
    known = known_sections(workspace)
    found = list(misplaced(agent, known))
    texts: dict[str, str] = {}
    data = view_of(belt, spell)
    for name in placed(agent, known):
        template = workspace.templates.get(name)
        if template is None:
            continue
        rendered = render(template, data)
        if isinstance(rendered, Diagnostic):
            found.append(rendered)
        elif text := _tidy(rendered):
            texts[name] = text
    found += _cut(data, texts)
    return Sections(texts, tuple(found))


def _tidy(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", _TRAILING.sub("", text)).strip()


def _cut(data: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A note for each section that shows only a part of what third parties say."""
    listings = (*(group.servers for group in data["reached"]), data["own"])
    servers = [server for listing in listings for server in listing.lines]
    for section, entries in (("connected_mcp_servers", servers), ("installed_skills", data["skills"].lines)):
        names = [entry.name for entry in entries if entry.cut]
        if section in texts and names:
            shown = few(names, most=NAMED)
            message = f"section {section!r} shows only {LIMIT} bytes of what {shown} say"
            yield Diagnostic(Level.NOTE, Code.TEXT_CUT, message, name=section)
    skills = data["skills"]
    if "installed_skills" in texts and (skills.names or skills.more):
        message = (
            f"section 'installed_skills' has a line for {len(skills.lines)} skills and names "
            f"{len(skills.names)} more; {skills.more} are only counted: each can still be named"
        )
        yield Diagnostic(
            Level.NOTE, Code.LIST_CUT, message, mend="list an agent's own `skills:`", name="installed_skills"
        )


def render_prompt(belt: Belt, sections: Sections, spell: Spell = str) -> str:
    """The agent's prompt with its sections.

    In packbelt's own format each `{{ sections.NAME }}` is replaced, and names of sent tools in backticks are
    spelled as the target spells them; every other brace is text. An imported body stays as it is.

    Args:
        belt: the agent's belt.
        sections: what `render_sections` made of it, in the same spelling.
        spell: how the target of the request spells a wire name.
    """
    agent = belt.subject.agent
    if agent.is_template and spell is not str:
        agent = replace(agent, body=respelled(belt, agent.body, spell))
    return with_sections(agent, sections.texts)
