"""Everything that was found as the files of one workspace, and the report on it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packbelt.catalog.config import FILE as CONFIG
from packbelt.catalog.config import read_config
from packbelt.catalog.servers import FILE as SERVERS
from packbelt.catalog.servers import server_entries
from packbelt.catalog.text import MAX_SNAPSHOT, Tree, read_text
from packbelt.catalog.yaml import parse_yaml
from packbelt.importers import opencode
from packbelt.importers.agents import FoundAgent, claude_agents, refused
from packbelt.importers.documents import read_json, read_toml
from packbelt.importers.emit import config_text
from packbelt.importers.files import of_project, servers_of
from packbelt.importers.place import place
from packbelt.importers.report import Item, Kind, Outcome, Remark, Report, reason_of
from packbelt.importers.rules import settings
from packbelt.importers.secrets import REFERENCE
from packbelt.importers.servers import Context, Found, accept, done
from packbelt.importers.sources import Client, Format, Source, sources
from packbelt.importers.switches import switched_off
from packbelt.importers.values import Variables
from packbelt.importers.work import Work
from packbelt.model import Origin, PackbeltError, Permission, Where

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
    work = Work(Context(path, target.resolve(), home or own or _home(path)))
    config = read_config(Tree(target))
    work.rules.held, work.rules.open = config.servers, config.ceiling >= Permission.DANGEROUS
    for source in found:
        if source.format not in _FOLDERS:
            _read(work, source)
    _switch_off(work, found)
    _accept(work)
    for source in found:
        _agents(work, source)
    files = place(work)
    for source in found:
        _rules(work, source)
    return _finish(work, files)


def _with_target(found: list[Source], target: Path) -> list[Source]:
    """The servers that the workspace has already come first, and stay as they are."""
    own = target / SERVERS
    if not own.is_file() or any(one.path.resolve() == own.resolve() for one in found):
        return found
    server_entries(read_json(Tree(target).read(own), str(own)))
    return [Source(own, Format.MCP_JSON, Client.CLAUDE_CODE, Origin.PROJECT, target), *found]


def _home(path: Path) -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return path


def _refuse_file(work: Work, source: Source, problem: PackbeltError) -> None:
    name = work.name(source.path)
    where = problem.where if problem.where and problem.where.file == name else Where(name)
    work.items.append(
        Item(Kind.FILE, name, Outcome.REFUSED, where, source.client, source.scope, "", (reason_of(problem),))
    )


def _read(work: Work, source: Source) -> None:
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


def _meet(work: Work, found: Found) -> None:
    """Keep the first server of a name; sources come nearest first."""
    first = work.servers.get(found.name)
    if first is None:
        work.servers[found.name] = found
        return
    message = f"{first.where()} has a server of this name, and is nearer"
    mend = "rename one of them, and import again, to have both"
    if _core(first, work.context) == _core(found, work.context):
        message, mend = f"{first.where()} has the same server", ""
    elif first.source.client is not found.source.client or first.source.home != found.source.home:
        work.displaced.setdefault(found.source.client, set()).add(found.name)
    remark = Remark(Outcome.LEFT_OUT, message, found.where(), mend)
    work.items.append(found.item(Outcome.LEFT_OUT, more=(remark,)))


def _core(found: Found, context: Context) -> object:
    """What a server starts or calls, as it would be written, whatever its variables are called."""
    given = accept(replace(found, remarks=[]), replace(context, variables=Variables()))
    if isinstance(given, Item):
        return found.raw
    keys = ("command", "args", "env", "cwd", "url", "headers")
    return REFERENCE.sub("${}", json.dumps([given.entry.get(key) or None for key in keys]))


def _switch_off(work: Work, found: list[Source]) -> None:
    """Switch off what Claude Code's own settings leave out of its servers."""
    said: list[Any] = []
    for source in found:
        document = work.documents.get(source.path)
        if document is not None and source.format is Format.CLAUDE_SETTINGS:
            said.append(document.data)
        if document is not None and source.format is Format.CLAUDE_JSON:
            said += of_project(document, work.context)
    for name, server in work.servers.items():
        raw = server.raw
        if server.source.client is not Client.CLAUDE_CODE or not isinstance(raw, dict):
            continue
        if any(switched_off(data, name, raw) for data in said):
            server.raw = {**raw, "disabled": True}


def _accept(work: Work) -> None:
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
        if not in_place and work.rules.clash(found):
            message = "restricts its tools, and packbelt.yaml has a policy of that name already"
            found.refuse(message, mend="rename the server, or write both into that policy by hand")
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


def _rules(work: Work, source: Source) -> None:
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


def _agents(work: Work, source: Source) -> None:
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


def _finish(work: Work, files: dict[str, str]) -> Imported:
    for name in work.rules.wanted:
        work.entries.setdefault(name, {"disabled": True})
    if work.entries.keys() - work.there.keys():
        entries = {**work.entries, **work.there}
        files[SERVERS] = json.dumps({**_beside(work), "mcpServers": entries}, indent=2) + "\n"
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


def _beside(work: Work) -> dict[str, Any]:
    """What stands in the `.mcp.json` that is there, beside its servers."""
    target = work.context.target / SERVERS
    held = [one.data for path, one in work.documents.items() if path.resolve() == target]
    return held[0] if held and "mcpServers" in held[0] else {}


def _config(work: Work) -> str | None:
    """The text of `packbelt.yaml`, with what is there already; None where that says it all."""
    path = work.context.target / CONFIG
    if not path.is_file():
        return config_text(work.rules, {})
    base = parse_yaml(read_text(path, CONFIG), CONFIG).data or {}
    return config_text(work.rules, base) if work.rules.add_to(base) else None
