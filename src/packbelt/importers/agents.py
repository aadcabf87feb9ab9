"""Agents' files in Claude Code's format: copied as they are, or with only what must differ.

They stay in that format, which a workspace reads where it lies (`.claude/agents`), so that every entry means
there just what it meant: a tool of Claude's own, one that a server dropped long ago, or one that nothing here
has. The catalogue's own reader decides what is an agent.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from packbelt.catalog import claude
from packbelt.catalog.claude_tools import means_builtin
from packbelt.catalog.drafts import Draft, read_front_matter, server_entries_of
from packbelt.catalog.fleet import passed_over
from packbelt.catalog.guesses import agent_name
from packbelt.catalog.names import claude_readings
from packbelt.catalog.servers import FILE as SERVERS
from packbelt.catalog.text import Tree
from packbelt.catalog.yaml import Document
from packbelt.importers.emit import quoted
from packbelt.importers.report import Item, Kind, Outcome, Remark, outcome_of, reason_of, remark_of
from packbelt.importers.servers import Context, Found, accept
from packbelt.importers.sources import Source
from packbelt.model import Origin, PackbeltError, Where, WorkspaceError

_SKIPPED = frozenset({".git", "node_modules"})
_UNHEEDED = ("mcpServers", "hooks", "permissionMode")
"""Keys that Claude Code passes over in a plugin's agents, so that no plugin grants itself more."""
_LONGEST = 100
"""Letters of an agent's name that its file's takes over."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent that can be written.

    Attributes:
        name: its name.
        text: its file.
        where: where it was found.
        source: the folder or file that it was found in.
        remarks: differences.
        draft: the agent as its own file has it; None for one that was made from another format.
    """

    name: str
    text: str
    where: Where
    source: Source
    remarks: tuple[Remark, ...] = ()
    draft: Draft | None = None

    @property
    def file(self) -> str:
        """The file of the workspace that holds it."""
        return f"{claude.FOLDER}/{_UNSAFE.sub('_', self.name).lstrip('.')[:_LONGEST] or 'agent'}.md"

    def item(self, became: str, *more: Remark) -> Item:
        """What became of it, once it is written."""
        remarks = (*more, *self.remarks)
        outcome, source = outcome_of(remarks), self.source
        return Item(Kind.AGENT, self.name, outcome, self.where, source.client, source.scope, became, remarks)


def refused(name: str, source: Source, where: Where, *reasons: Remark) -> Item:
    """An agent that is not written."""
    return Item(Kind.AGENT, name, Outcome.REFUSED, where, source.client, source.scope, "", reasons)


def pages(source: Source, shown: Path) -> Iterator[tuple[str, str | PackbeltError, Path]]:
    """The Markdown files of a folder, or the one file: name in messages, text or what is wrong, and path.

    Args:
        source: the folder or file.
        shown: the path that names are relative to.

    Raises:
        PackbeltError: the folder cannot be listed.
    """
    tree = Tree(source.home)
    top = source.path.absolute()
    for path in [top] if source.path.is_file() else sorted(_markdown(tree, top.resolve())):
        file = name_of(path, shown)
        try:
            text: str | PackbeltError = tree.read(path)
        except PackbeltError as problem:
            text = problem
        yield file, text, path


def name_of(path: Path, shown: Path) -> str:
    """A path relative to the one that is imported."""
    for one, base in ((path, shown), (path.resolve(), shown.resolve())):
        if one.is_relative_to(base) and one != base:
            return one.relative_to(base).as_posix()
    return path.name if path == shown else path.as_posix()


def _markdown(tree: Tree, folder: Path) -> Iterator[Path]:
    seen: set[Path] = set()
    todo = [folder]
    while todo:
        here = todo.pop()
        if here.resolve() in seen:
            continue
        seen.add(here.resolve())
        for path in tree.entries(here):
            if path.is_dir():
                if path.name not in _SKIPPED and tree.holds(path):
                    todo.append(path)
            elif path.suffix == ".md":
                yield path


def claude_agents(source: Source, context: Context) -> Iterator[FoundAgent | Item]:
    """The agents of a folder, or of one file."""
    taken: dict[str, str] = {}
    for file, text, path in pages(source, context.path):
        where = Where(file, 1)
        try:
            if isinstance(text, PackbeltError):
                raise text
            if passed_over(path, text):
                continue
            found = _agent(text, file, source, context)
            if (first := taken.setdefault(found.name, file)) != file:
                raise WorkspaceError(f"{first} has the same name", where=where, mend="rename one of them")
            yield found
        except PackbeltError as problem:
            name = path.stem
            if isinstance(text, str):
                name, sure = agent_name(text, path.stem, imported=True)
                if sure:
                    taken.setdefault(name, file)
            placed = problem.where if problem.where and problem.where.file == file else where
            yield refused(name, source, placed, reason_of(problem))


def _agent(text: str, file: str, source: Source, context: Context) -> FoundAgent:
    draft = claude.parse_claude_agent(text, file, source.scope)
    document = read_front_matter(text, file)[0]
    remarks = [remark_of(one) for one in draft.diagnostics if not one.code.startswith("server.")]
    changes: dict[str, str] = {}
    if source.scope is Origin.PLUGIN:
        for key in _present(document, *_UNHEEDED):
            changes[key] = ""
            message = f"`{key}` of a plugin's agent is passed over, as Claude Code does"
            remarks.append(Remark(Outcome.LEFT_OUT, message, document.where(key)))
    elif draft.inline or draft.unusable:
        changes = _own_servers(document, source, remarks, context)
    if not changes:
        return FoundAgent(draft.agent.name, text, Where(file, 1), source, tuple(remarks), draft)
    plain = _edited(text, document, changes)
    _same(draft, plain, file, kept=source.scope is not Origin.PLUGIN)
    return FoundAgent(draft.agent.name, plain, Where(file, 1), source, tuple(remarks), draft)


def _present(document: Document, *keys: str) -> list[str]:
    """The spellings of these keys that a file has."""
    wanted = {key.lower() for key in keys}
    return [key for key in document.data if key.lower().replace("_", "").replace("-", "") in wanted]


def _own_servers(
    document: Document, source: Source, remarks: list[Remark], context: Context
) -> dict[str, str]:
    """The agent's own servers, their secrets replaced: each spelling of the key with its new line."""
    changed: dict[str, str] = {}
    for key in _present(document, "mcpServers"):
        entries: list[object] = []
        for name, raw, path in server_entries_of(document.data[key], key, document):
            if raw is None:
                entries.append(name)
                continue
            found = Found(name, raw, document, path, source)
            given = accept(found, context)
            if isinstance(given, Item):
                remarks += (replace(one, outcome=Outcome.LEFT_OUT) for one in given.remarks)
                # Switched off it stays known, so that entries mean what they meant.
                off = replace(found, raw={"disabled": True}, problem=None)
                entries += [] if isinstance(accept(off, context), Item) else [{name: {"disabled": True}}]
            else:
                remarks += found.remarks
                entries.append({name: given.entry})
        changed[key] = f"{key}: {quoted(entries)}"
    return changed


def _edited(text: str, document: Document, changes: dict[str, str]) -> str:
    """The file with some top-level keys of its front matter replaced, or left out."""
    lines = text.split("\n")
    end = next(i for i, line in enumerate(lines) if i and line.rstrip() == "---")
    places = {str(path[0]): line for path, line in document.lines.items() if len(path) == 1}
    starts = sorted({*places.values(), end + 1})
    for key in sorted(changes, key=lambda one: -places[one]):
        start = places[key]
        stop = next((n for n in starts if n > start), end + 1)
        lines[start - 1 : stop - 1] = [changes[key]] if changes[key] else []
    return "\n".join(lines)


def _same(draft: Draft, text: str, file: str, *, kept: bool) -> None:
    """Hold an edited file against what was read.

    Raises:
        WorkspaceError: it says something else, as it may where several keys share a line.
    """
    again = claude.parse_claude_agent(text, file, draft.agent.origin)
    before, after = draft.agent, again.agent
    same = all(
        [one.text for one in (getattr(before, key) or ())]
        == [one.text for one in (getattr(after, key) or ())]
        and (getattr(before, key) is None) == (getattr(after, key) is None)
        for key in ("tools", "disallowed_tools")
    )
    same = same and (before.name, before.description, before.body) == (
        after.name,
        after.description,
        after.body,
    )
    if not same or (kept and before.mcp_servers != after.mcp_servers):
        mend = "write each key on lines of its own"
        raise WorkspaceError(
            "cannot be rewritten without changing what it says", where=Where(file, 1), mend=mend
        )


def renamed(found: FoundAgent, name: str) -> FoundAgent:
    """The agent under another name.

    Raises:
        WorkspaceError: the file's `name` cannot be changed alone.
    """
    draft = claude.parse_claude_agent(found.text, found.where.file, found.source.scope)
    document = read_front_matter(found.text, found.where.file)[0]
    text = _edited(found.text, document, {"name": f"name: {quoted(name)}"})
    again = claude.parse_claude_agent(text, found.where.file, found.source.scope)
    _same(replace(draft, agent=replace(draft.agent, name=name)), text, found.where.file, kept=True)
    message = f"is called {name!r} here: another is called {found.name!r} too"
    return replace(
        found,
        name=again.agent.name,
        text=text,
        remarks=(*found.remarks, Remark(Outcome.APPROXIMATED, message)),
    )


def written(
    name: str,
    description: str,
    body: str,
    *,
    tools: Iterable[str] | None,
    denied: Iterable[str],
    where: Where,
    source: Source,
    remarks: Iterable[Remark],
) -> FoundAgent:
    """An agent of another client in Claude Code's format.

    Raises:
        WorkspaceError: what is written would not be read as it was meant.
    """
    grants, denies = None if tools is None else list(tools), list(denied)
    lines = [f"name: {quoted(name)}", f"description: {quoted(description)}"]
    lines += [] if grants is None else [f"tools: {quoted(grants)}"]
    lines += [f"disallowedTools: {quoted(denies)}"] if denies else []
    text = "\n".join(("---", *lines, "---", "", body.strip(), ""))
    again = claude.parse_claude_agent(text, where.file, source.scope).agent
    read = None if again.tools is None else [one.text for one in again.tools]
    if read != grants or [one.text for one in again.disallowed_tools] != denies:
        raise WorkspaceError(
            f"agent {name!r} names a tool that no list can hold",
            where=where,
            mend="rename the tool",
            name=name,
        )
    return FoundAgent(name, text, where, source, tuple(remarks))


def read_as(found: FoundAgent, servers: Iterable[str], others: Collection[str] = ()) -> list[Remark]:
    """What the catalogue will say of the agent's entries, and which of them nothing here answers to.

    Args:
        found: the agent.
        servers: those of the workspace.
        others: those of them that its client has under the same name, and otherwise.

    Raises:
        WorkspaceError: an entry of `tools` has two readings, or means another server than in its client.
    """
    draft = found.draft or claude.parse_claude_agent(found.text, found.where.file, found.source.scope)
    agent, diagnostics = claude.resolve(draft, servers)
    for entry in agent.tools or ():
        for server, _ in entry.readings(others):
            raise WorkspaceError(
                f"`tools` names the server {server!r}, and another client's is taken under that name",
                where=found.where,
                mend="rename one of the two servers, and import again",
                name=server,
            )
    remarks = [remark_of(one) for one in diagnostics]
    known = {name: name for name in servers}
    lost: dict[str, str] = {}
    for entry in draft.agent.tools or ():
        text = entry.text
        if (
            text.startswith("mcp__")
            and text != "mcp__*"
            and not claude_readings(text, known)
            and not draft.inline
        ):
            lost.setdefault(
                f"server {text.removeprefix('mcp__').split('__')[0]!r}", f"configure it in {SERVERS}"
            )
        elif not text.startswith("mcp__") and "(" not in text and text != "*" and not means_builtin(text):
            lost.setdefault(repr(text), "connect what has it, or remove the entry")
    for what, mend in lost.items():
        message = f"`tools` names {what}, which nothing here has; the entry stays, and grants nothing"
        remarks.append(Remark(Outcome.LEFT_OUT, message, agent.where("tools"), mend))
    return remarks if found.draft else [replace(one, where=found.where) for one in remarks]
