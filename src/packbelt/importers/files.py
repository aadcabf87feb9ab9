"""Each format's servers, by the reader that knows the format."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from packbelt.catalog.text import Tree
from packbelt.catalog.yaml import Document
from packbelt.importers import opencode
from packbelt.importers.clients import gemini, mcp_servers, vscode
from packbelt.importers.codex import codex
from packbelt.importers.documents import read_json
from packbelt.importers.report import Item, Outcome, Remark
from packbelt.importers.servers import Context, Found
from packbelt.importers.sources import Client, Format, Source
from packbelt.model import Origin

Reader = Callable[[Document, Source], Iterator[Found]]


def servers_of(document: Document, source: Source, context: Context) -> Iterator[Found | Item]:
    """A file's servers; those that belong elsewhere as items that say so.

    Raises:
        WorkspaceError: the file holds no map of servers where its format has one.
    """
    if source.format is Format.CLAUDE_JSON:
        yield from _claude_json(document, source, context)
    elif reader := _READERS.get(source.format):
        yield from reader(document, source)


def _has(document: Document, key: str) -> bool:
    return isinstance(document.data, dict) and isinstance(document.data.get(key), dict)


def _mcp_json(document: Document, source: Source) -> Iterator[Found]:
    data = document.data
    if _has(document, "mcp") and "mcpServers" not in data:  # OpenCode's, under another name
        return opencode.servers(document, source)
    if source.client is Client.CLAUDE_DESKTOP and isinstance(data, dict) and "mcpServers" not in data:
        return iter(())  # it also holds the application's own settings
    return _of_plugin(mcp_servers(document, source), source)


def _manifest(document: Document, source: Source) -> Iterator[Found]:
    """A manifest holds its servers, or names the files that do."""
    if _has(document, "mcpServers"):
        return _of_plugin(mcp_servers(document, source), source)
    named = document.data.get("mcpServers") if isinstance(document.data, dict) else None
    return _of_plugin(_elsewhere(named if isinstance(named, list) else [named], source), source)


def _elsewhere(named: list[Any], source: Source) -> Iterator[Found]:
    tree = Tree(source.home)
    for name in named:
        if isinstance(name, str) and "\0" not in name:
            yield from mcp_servers(read_json(tree.read(tree.root / name), name), source)


def _editor_settings(document: Document, source: Source) -> Iterator[Found]:
    return vscode(document, source, "mcp") if _has(document, "mcp") else iter(())


_READERS: dict[Format, Reader] = {
    Format.MCP_JSON: _mcp_json,
    Format.CURSOR_MCP: mcp_servers,
    Format.PLUGIN_MANIFEST: _manifest,
    Format.VSCODE_MCP: vscode,
    Format.VSCODE_SETTINGS: _editor_settings,
    Format.OPENCODE: opencode.servers,
    Format.CODEX: codex,
    Format.GEMINI: gemini,
}
"""The formats that hold servers and nothing but the document decides which."""


def _of_plugin(found: Iterator[Found], source: Source) -> Iterator[Found]:
    """A plugin's servers under the name that Claude Code gives them, so that they are no project's."""
    for one in found:
        yield (
            replace(one, name=f"plugin:{source.plugin}:{one.name}") if source.scope is Origin.PLUGIN else one
        )


def _claude_json(document: Document, source: Source, context: Context) -> Iterator[Found | Item]:
    """A person's own servers, and those that he keeps for the project which is written."""
    data = document.data if isinstance(document.data, dict) else {}
    projects = data.get("projects")
    for name, project in projects.items() if isinstance(projects, dict) else ():
        own = project.get("mcpServers") if isinstance(project, dict) else None
        if not isinstance(own, dict) or not own:
            continue
        inner = Document({"mcpServers": own}, document.file, _below(document, ("projects", name)))
        for found in mcp_servers(inner, source):
            if Path(name) in (context.target, context.path):
                yield found
                continue
            remark = Remark(
                Outcome.LEFT_OUT,
                f"belongs to the project {name}",
                found.where(),
                f"import it with --into {name}",
            )
            yield found.item(Outcome.LEFT_OUT, more=(remark,))
    if "mcpServers" in data:
        yield from mcp_servers(document, source)


def of_project(document: Document, context: Context) -> list[Any]:
    """What a person keeps in `.claude.json` for the project that is imported, or written."""
    projects = document.data.get("projects") if isinstance(document.data, dict) else None
    return [
        project
        for name, project in (projects.items() if isinstance(projects, dict) else ())
        if Path(name) in (context.target, context.path)
    ]


def _below(document: Document, at: tuple[str, ...]) -> dict[tuple[str | int, ...], int]:
    depth = len(at)
    return {path[depth:]: line for path, line in document.lines.items() if path[:depth] == at}
