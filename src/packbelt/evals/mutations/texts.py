"""Breakages of what the prompt says: sections that were written by hand and not derived from the belt."""

from collections.abc import Mapping
from dataclasses import replace

from packbelt.catalog.workspace import Template, Workspace

_SERVERS = """
{% if connected %}
## Connected MCP Servers

MCP servers are connected. You MUST delegate with `use_mcp_server` for whatever one of them can do.
{% endif %}
"""
"""In the manner of the report's fourth cause: said whether or not the call can be made."""

_SKILLS = """
{% if skills.lines %}
## Installed Skills

{% for skill in skills.lines %}
- {{ skill.name }}: {{ skill.description }}
{% endfor %}
{% endif %}
"""
"""Also the fourth cause: it names no hand-off."""

_DIRECT_FIRST = """
## Routing

1. If you can answer at once, answer.
2. If a tool in front of you can do it, do it yourself.
3. Only what needs a specialist is handed over. For the weather and for live data use the web tools.
"""
"""The third cause: direct first, and no row for skills or MCP servers."""


def static_sections(workspace: Workspace) -> Workspace:
    """The sections on servers and skills as the report found them."""
    return _with_sources(workspace, {"connected_mcp_servers": _SERVERS, "installed_skills": _SKILLS})


def direct_first(workspace: Workspace) -> Workspace:
    """The routing rules as the report found them."""
    return _with_sources(workspace, {"routing": _DIRECT_FIRST})


def no_routing_rows(workspace: Workspace) -> Workspace:
    """No routing rules at all."""
    return _with_sources(workspace, {"routing": ""})


def _with_sources(workspace: Workspace, sources: Mapping[str, str]) -> Workspace:
    changed = {name: Template(name, source, "(mutation)") for name, source in sources.items()}
    return replace(workspace, templates={**workspace.templates, **changed})
