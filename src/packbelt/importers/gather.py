"""Everything that was found as the files of one workspace, and the report on it."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packbelt.catalog import claude
from packbelt.catalog.config import FILE as CONFIG
from packbelt.catalog.config import read_config
from packbelt.catalog.servers import FILE as SERVERS
from packbelt.catalog.servers import server_entries
from packbelt.catalog.text import MAX_SNAPSHOT, Tree, read_text
from packbelt.catalog.yaml import Document, parse_yaml
from packbelt.importers import opencode
from packbelt.importers.agents import FoundAgent, claude_agents, name_of, read_as, refused, renamed
from packbelt.importers.documents import read_json, read_toml
from packbelt.importers.emit import config_text
from packbelt.importers.files import servers_of
from packbelt.importers.report import Item, Kind, Outcome, Remark, Report, reason_of
from packbelt.importers.rules import Rules, settings, switched_off
from packbelt.importers.servers import Context, Found, accept, done
from packbelt.importers.sources import Client, Format, Source, sources
from packbelt.importers.values import Variables
from packbelt.model import Origin, PackbeltError, Where

_NEAR = {Origin.PROJECT: 0, Origin.USER: 1, Origin.PLUGIN: 2}
_FOLDERS = (Format.CLAUDE_AGENTS, Format.CLAUDE_AGENT, Format.OPENCODE_AGENTS)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import would write.

    Attributes:
        files: the text of each file, by its path in the workspace.
        report: what became of everything.
    """

    files: dict[str, str]
    report: Report


@dataclass(slots=True)
class _Work:
    """One import under way.

    Attributes:
        context: what it goes by.
        items: what became of everything so far.
        servers: by name, the nearest of each.
        entries: those that can be used, as they are written.
        rules: what `packbelt.yaml` will say.
        agents: those that can be written.
        documents: the files that could be read, by path.
        there: the servers that the workspace has already, as its own file says them.
        unread: agents whose nearer file was refused, with its place.
    """

    context: Context
    items: list[Item] = field(default_factory=list)
    servers: dict[str, Found] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    agents: list[FoundAgent] = field(default_factory=list)
    documents: dict[Path, Document] = field(default_factory=dict)
    there: dict[str, Any] = field(default_factory=dict)
    unread: dict[str, Where] = field(default_factory=dict)

    def name(self, path: Path) -> str:
        return name_of(path, self.context.path)


def gather(
    path: Path,
    target: Path,
    *,
    client: Client | None = None,
    scope: Origin | None = None,
    home: Path | None = None,
) -> Imported:
    """Read what a path holds. Nothing is written, nothing is started, no variable is read.

    Args:
        path: a file, a project, a home directory, a plugin or a folder of agents.
        target: the workspace's directory, which need not exist.
        client: only this client's files.
        scope: how a directory is to be understood; None to tell by what lies in it.
        home: the home directory that placeholders mean; None for the path itself where it is one, else this
            person's.

    Raises:
        WorkspaceError: there is no such path, nothing in it that can be imported, or the workspace that is
            there already cannot be read.
    """
    found = sources(path, client, scope)
    found = _with_target(found, target)
    own = next((one.home for one in found if one.scope is Origin.USER), None)
    work = _Work(Context(path, target.resolve(), home or own or _home(path)))
    for source in found:
        if source.format not in _FOLDERS:
            _read(work, source)
    _switch_off(work, found)
    _accept(work)
    for source in found:
        _rules(work, source)
    for source in found:
        _agents(work, source)
    return _finish(work)


def _with_target(found: list[Source], target: Path) -> list[Source]:
    """The servers that the workspace has already come first, and stay as they are."""
    own = target / SERVERS
    if not own.is_file() or any(one.path.resolve() == own.resolve() for one in found):
        return found
    server_entries(read_json(read_text(own, str(own)), str(own)))
    return [Source(own, Format.MCP_JSON, Client.CLAUDE_CODE, Origin.PROJECT, target), *found]


def _home(path: Path) -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return path


def _refuse_file(work: _Work, source: Source, problem: PackbeltError) -> None:
    name = work.name(source.path)
    where = problem.where if problem.where and problem.where.file == name else Where(name)
    work.items.append(
        Item(Kind.FILE, name, Outcome.REFUSED, where, source.client, source.scope, "", (reason_of(problem),))
    )


def _read(work: _Work, source: Source) -> None:
    """A file's servers; a file that cannot be read costs only itself."""
    file = work.name(source.path)
    try:
        tree = Tree(source.home)
        if problem := tree.refusal(source.path.absolute()):
            raise problem
        if source.format is Format.CLAUDE_JSON:  # keeps a person's history, and grows
            text = read_text(source.path, file, limit=MAX_SNAPSHOT)
        else:
            text = read_text(source.path, file)
        document = read_toml(text, file) if source.format is Format.CODEX else read_json(text, file)
        work.documents[source.path] = document
        for found in servers_of(document, source, work.context):
            _meet(work, found) if isinstance(found, Found) else work.items.append(found)
    except PackbeltError as problem:
        _refuse_file(work, source, problem)


def _meet(work: _Work, found: Found) -> None:
    """Keep the first server of a name; sources come nearest first."""
    first = work.servers.get(found.name)
    if first is None:
        work.servers[found.name] = found
        return
    message = f"{first.where()} has a server of this name, and is nearer"
    mend = "rename one of them, and import again, to have both"
    if first.raw == found.raw:
        message, mend = f"{first.where()} has the same server", ""
    remark = Remark(Outcome.LEFT_OUT, message, found.where(), mend)
    work.items.append(found.item(Outcome.LEFT_OUT, more=(remark,)))


def _switch_off(work: _Work, found: list[Source]) -> None:
    for source in found:
        document = work.documents.get(source.path)
        if source.format is not Format.CLAUDE_SETTINGS or document is None:
            continue
        for name in switched_off(document.data):
            server = work.servers.get(name)
            if server and server.source.client is Client.CLAUDE_CODE and isinstance(server.raw, dict):
                server.raw = {**server.raw, "disabled": True}


def _accept(work: _Work) -> None:
    for found in work.servers.values():
        work.context.variables.reserve(json.dumps(found.raw))
        work.context.variables.named.update(
            name for some in found.references.values() for name in some.values()
        )
    for name, found in work.servers.items():
        in_place = found.source.path.resolve() == work.context.target / SERVERS
        if in_place:
            work.there[name] = found.document.data
            for key in found.path:
                work.there[name] = work.there[name][key]
        # What is there already needs no variable: its values stay in it.
        context = replace(work.context, variables=Variables()) if in_place else work.context
        given = accept(found, context)
        if isinstance(given, Item):
            work.items.append(given)
            continue
        work.entries[name] = given.entry
        if in_place:  # its file stays, and says what it says
            found.remarks.clear()
            work.items.append(done(found, f"{SERVERS}: {name} (read in place)"))
            continue
        work.rules.of_server(found)
        off = " (switched off)" if given.entry.get("disabled") is True else ""
        work.items.append(done(found, f"{SERVERS}: {name}{off}"))


def _rules(work: _Work, source: Source) -> None:
    document = work.documents.get(source.path)
    if document is None:
        return
    try:
        if source.format is Format.CLAUDE_SETTINGS:
            work.items += settings(document, source, work.entries, work.rules)
        if source.format is Format.OPENCODE:
            work.items += opencode.top(document, source, tuple(work.entries), work.rules)
    except PackbeltError as problem:
        _refuse_file(work, source, problem)


def _agents(work: _Work, source: Source) -> None:
    found: Iterator[FoundAgent | Item]
    document = work.documents.get(source.path)
    names = tuple(work.entries)
    if source.format in (Format.CLAUDE_AGENTS, Format.CLAUDE_AGENT):
        found = claude_agents(source, work.context)
    elif source.format is Format.OPENCODE_AGENTS:
        found = opencode.folder(source, work.context.path, names, work.rules)
    elif source.format is Format.OPENCODE and document is not None:
        found = opencode.agents(document, source, names, work.rules)
    else:
        return
    unread: dict[str, Where] = {}
    try:
        for one in found:
            if isinstance(one, Item):
                work.items.append(one)
                if one.outcome is Outcome.REFUSED:
                    unread[one.name] = one.where
            elif one.name in work.unread and source.scope is not Origin.PLUGIN:
                # What a refused file restricts must not come back from a farther one that restricts less.
                message = f"{work.unread[one.name]} defines it too, is nearer, and was refused"
                mend = "mend or remove the nearer file, and import again"
                reason = Remark(Outcome.REFUSED, message, one.where, mend)
                work.items.append(refused(one.name, source, one.where, reason))
            else:
                work.agents.append(one)
    except PackbeltError as problem:
        _refuse_file(work, source, problem)
    work.unread = {**unread, **work.unread}


def _finish(work: _Work) -> Imported:
    files: dict[str, str] = {}
    taken: dict[str, str] = {}
    for found in _apart(work):
        first = taken.setdefault(found.name, str(found.where))
        if first != str(found.where):
            remark = Remark(Outcome.LEFT_OUT, f"{first} defines it too, and is nearer", found.where)
            item = replace(found.item("", remark), outcome=Outcome.LEFT_OUT)
            work.items.append(replace(item, remarks=(remark,)))
            continue
        try:
            remarks = read_as(found, work.entries)
        except PackbeltError as problem:
            work.items.append(
                refused(found.name, found.source, problem.where or found.where, reason_of(problem))
            )
            continue
        file = _free(found.file, files)
        in_place = (
            found.source.path.is_dir() and found.source.path.resolve() == work.context.target / claude.FOLDER
        )
        if not in_place:
            files[file] = found.text
        work.items.append(
            found.item(f"{file}" if not in_place else f"{found.where.file} (read in place)", *remarks)
        )
    for name in work.rules.wanted:
        work.entries.setdefault(name, {"disabled": True})
    if work.entries.keys() - work.there.keys():
        entries = {**work.entries, **work.there}
        files[SERVERS] = json.dumps({"mcpServers": entries}, indent=2) + "\n"
    if (text := _config(work)) is not None:
        files[CONFIG] = text
    refused_servers = {
        item.name for item in work.items if item.kind is Kind.SERVER and item.outcome is Outcome.REFUSED
    }
    variables = {
        name: tuple(one for one in users if one not in refused_servers)
        for name, users in sorted(work.context.variables.servers.items())
    }
    order = {Kind.FILE: 0, Kind.SERVER: 1, Kind.AGENT: 2, Kind.RULE: 3}
    items = sorted(work.items, key=lambda item: order[item.kind])
    return Imported(files, Report(tuple(items), {name: users for name, users in variables.items() if users}))


def _config(work: _Work) -> str | None:
    """The text of `packbelt.yaml`, with what is there already; None where that says it all.

    Raises:
        WorkspaceError: the one that is there cannot be read.
    """
    path = work.context.target / CONFIG
    if not path.is_file():
        return config_text(work.rules, {})
    read_config(Tree(work.context.target))
    base = parse_yaml(read_text(path, CONFIG), CONFIG).data or {}
    return config_text(work.rules, base) if work.rules.add_to(base) else None


def _apart(work: _Work) -> Iterator[FoundAgent]:
    """Agents, nearest first; a plugin's that shares its name has its plugin's in front."""
    counts = Counter(found.name for found in work.agents)
    for found in sorted(work.agents, key=lambda one: _NEAR[one.source.scope]):
        if found.source.scope is not Origin.PLUGIN or counts[found.name] == 1:
            yield found
            continue
        try:
            yield renamed(found, f"{found.source.plugin}-{found.name}")
        except PackbeltError as problem:
            work.items.append(refused(found.name, found.source, found.where, reason_of(problem)))


def _free(file: str, files: dict[str, str]) -> str:
    """A file name that no other agent has, whatever the file system thinks of upper case."""
    taken = {name.lower() for name in files}
    stem, number = file.removesuffix(".md"), 2
    while file.lower() in taken:
        file, number = f"{stem}-{number}.md", number + 1
    return file
