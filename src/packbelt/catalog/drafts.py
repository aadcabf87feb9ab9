"""Agents between their files and the workspace: what is known before the rest of the workspace is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packbelt.catalog import front_matter
from packbelt.catalog.problems import kind_of
from packbelt.catalog.servers import broken_server, parse_entry
from packbelt.catalog.workspace import Agent, BrokenAgent, Lines, ServerSpec
from packbelt.catalog.yaml import Document, Path, parse_yaml
from packbelt.model import Code, Diagnostic, Level, PackbeltError, Selector, WorkspaceError


@dataclass(frozen=True, slots=True)
class Draft:
    """An agent whose file parsed; its selectors have not been held against the workspace yet.

    Attributes:
        agent: the agent. An imported one's selectors are still in Claude's spelling.
        inline: the servers it declares, by full name.
        imported: whether it is in another tool's format.
        diagnostics: remarks on its file.
        unusable: the reason of each server that it declares and that cannot be used, by full name.
    """

    agent: Agent
    inline: Mapping[str, ServerSpec] = field(default_factory=dict)
    imported: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """An agent whose file did not parse."""

    agent: BrokenAgent
    imported: bool = False


def read_front_matter(text: str, file: str) -> tuple[Document, front_matter.FrontMatter]:
    """An agent's or a skill's front matter, and its body.

    Raises:
        WorkspaceError: there is none, it has no end, is not valid, or is no mapping.
    """
    parts = front_matter.split(text, file)
    document = parse_yaml(parts.yaml, file, first_line=2)
    if not isinstance(document.data, dict):
        problem = f"front matter is {kind_of(document.data)}, not a mapping"
        raise WorkspaceError(problem, where=document.where(), mend="write `key: value` lines")
    return document, parts


def break_agent(agent: Agent, error: PackbeltError) -> BrokenAgent:
    """A parsed agent that turned out not to be usable."""
    return BrokenAgent(agent.name, agent.handoff, error, agent.file)


def broken_diagnostic(name: str, error: PackbeltError) -> Diagnostic:
    """The diagnostic of a broken agent."""
    return Diagnostic(
        Level.ERROR, Code.AGENT_BROKEN, f"agent {name!r}: {error.problem}", error.where, error.mend, name
    )


def name_problem(name: str) -> str:
    """What is wrong with an agent's name; empty if nothing is."""
    if not name.strip() or name != name.strip():
        return "is empty or has blanks around it"
    if name.startswith("-") or any(letter in name for letter in ":/\\*") or not name.isprintable():
        return "starts with - or holds one of : / \\ * or a control character"
    return ""


def key_lines(document: Document, body_line: int) -> Lines:
    """The lines of an agent's keys: top-level ones by name, `body`, and the empty key for the file."""
    lines = {str(path[0]): line for path, line in document.lines.items() if len(path) == 1}
    return {"": 1, "body": body_line, **lines}


def selectors(
    entries: list[str], document: Document, key: str, *, lenient: bool = False
) -> tuple[Selector, ...]:
    """A list's entries with their places."""
    return tuple(Selector(text, document.where(key, i), lenient) for i, text in enumerate(entries))


def agent_servers(
    raw: object, key: str, document: Document, owner: str, diagnostics: list[Diagnostic], *, strict: bool
) -> tuple[tuple[str, ...], dict[str, ServerSpec], dict[str, str]]:
    """An agent's `mcp_servers`: references, inline definitions by full name, and reasons of unusable ones.

    Args:
        raw: a list of names and one-key maps, or a map of names to definitions (null: a reference).
        key: the key's spelling.
        document: the file.
        owner: the agent.
        diagnostics: remarks are added here; a bad entry of another tool's format among them.
        strict: whether the file is packbelt's own, where a bad entry breaks the file.

    Raises:
        WorkspaceError: it is neither, or one name stands twice.
    """
    names: list[str] = []
    inline: dict[str, ServerSpec] = {}
    unusable: dict[str, str] = {}
    seen: set[str] = set()
    for name, definition, path in server_entries_of(raw, key, document):
        if name in seen:
            problem = f"server {name!r} stands twice in `{key}`"
            raise WorkspaceError(problem, where=document.where(*path), mend="keep one of them", name=name)
        seen.add(name)
        if definition is None:
            names.append(name)
            continue
        try:
            spec = parse_entry(name, definition, document, path, diagnostics, owner=owner, strict=strict)
        except WorkspaceError as problem_found:
            if strict:
                raise
            diagnostics.append(broken_server(problem_found, name))
            unusable[f"{owner}.{name}"] = problem_found.problem
        else:
            if spec is not None:
                inline[spec.name] = spec
            else:
                unusable[f"{owner}.{name}"] = ""
    return tuple(names), inline, unusable


def server_entries_of(raw: object, key: str, document: Document) -> list[tuple[str, object, Path]]:
    """An agent's servers as they are written: name, definition (None for a reference) and path.

    Raises:
        WorkspaceError: it is neither a list of names and one-key maps, nor a map.
    """
    if isinstance(raw, dict):
        return [(name, definition, (key, name)) for name, definition in raw.items()]
    if not isinstance(raw, list):
        mend = f"write [{raw}]" if isinstance(raw, str) else "write a list of names and definitions"
        mend = "write [] or remove the key" if raw is None else mend
        problem = f"`{key}` is {kind_of(raw)}, not a list or a mapping"
        raise WorkspaceError(problem, where=document.where(key), mend=mend, name=key)
    found: list[tuple[str, object, Path]] = []
    for i, entry in enumerate(raw):
        if isinstance(entry, str) and entry.strip():
            found.append((entry, None, (key, i)))
        elif isinstance(entry, dict) and len(entry) == 1:
            name, definition = next(iter(entry.items()))
            found.append((name, definition, (key, i, name)))
        else:
            raise WorkspaceError(
                f"`{key}[{i + 1}]` is neither a server's name nor one name with its definition",
                where=document.where(key, i),
                mend="write `- name` or `- name: {command: ...}`",
            )
    return found
