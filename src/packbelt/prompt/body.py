"""An agent's own text: where its sections go, and what is wrong with the places it names."""

import re
from collections.abc import Mapping

from packbelt.catalog.near import nearest
from packbelt.catalog.workspace import Agent, Workspace
from packbelt.model import Code, Diagnostic, Level, Where
from packbelt.model.text import quoted

NAMES = ("connected_mcp_servers", "installed_skills", "capabilities", "routing")
"""The sections that every workspace has, in the order in which they are appended."""

_PLACE = re.compile(r"\{\{[ \t]*sections\.([A-Za-z0-9_-]*)[ \t]*\}\}")
_GAP = "\0"


def known_sections(workspace: Workspace) -> tuple[str, ...]:
    """Every section that a prompt may place: the four, then the workspace's further templates."""
    return (*NAMES, *sorted(set(workspace.templates) - set(NAMES)))


def placed(agent: Agent, known: tuple[str, ...]) -> tuple[str, ...]:
    """The sections that an agent's prompt has: those it places or, where it places none, all of them."""
    if not agent.is_template:
        return known
    named = set(_PLACE.findall(agent.body))
    return tuple(name for name in known if name in named) or known


def misplaced(agent: Agent, known: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """A warning for each placeholder that names no section."""
    if not agent.is_template:
        return ()
    found: dict[str, Diagnostic] = {}
    for match in _PLACE.finditer(agent.body):
        name = match.group(1)
        if name in known or name in found:
            continue
        guess = nearest(name, known)
        found[name] = Diagnostic(
            Level.WARNING,
            Code.TEMPLATE_BROKEN,
            f"the prompt of agent {agent.name!r} places a section {quoted(name)}, which does not exist; "
            "it is left out",
            _where(agent, match.start()),
            f"write {guess}" if guess else f"there are: {', '.join(known)}",
            name,
        )
    return tuple(found.values())


def _where(agent: Agent, offset: int) -> Where | None:
    start = agent.lines.get("body")
    if not agent.file or start is None:
        return agent.where()
    return Where(agent.file, start + agent.body.count("\n", 0, offset))


def with_sections(agent: Agent, texts: Mapping[str, str]) -> str:
    """The agent's text with its sections in their places, or after it where it places none."""
    body = agent.body.strip("\n")
    if agent.is_template and any(name in texts for name in _PLACE.findall(body)):
        return _filled(body, texts)
    if agent.is_template:
        body = _filled(body, {})
    return "\n\n".join(part for part in (body, *texts.values()) if part.strip())


def _filled(body: str, texts: Mapping[str, str]) -> str:
    """The body with each placeholder replaced; a line that held nothing else goes, with its blank lines."""
    filled = _PLACE.sub(lambda match: texts.get(match.group(1), _GAP), body.replace(_GAP, ""))
    kept: list[str] = []
    closing = False
    for line in filled.split("\n"):
        text = line.replace(_GAP, "")
        blank = not text.strip()
        if blank and _GAP in line:
            closing = True
            continue
        if blank and closing and (not kept or not kept[-1].strip()):
            continue
        closing = closing and blank
        kept.append(text)
    return "\n".join(kept).strip("\n")
