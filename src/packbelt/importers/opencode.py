"""OpenCode: `opencode.json`, and the agents beside it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packbelt.catalog.drafts import name_problem, read_front_matter
from packbelt.catalog.front_matter import has_front_matter
from packbelt.catalog.problems import kind_of
from packbelt.catalog.text import Tree
from packbelt.catalog.yaml import Document
from packbelt.importers.agents import FoundAgent, pages, refused, written
from packbelt.importers.clients import usual
from packbelt.importers.opencode_tools import Spelling, said, selectors_of
from packbelt.importers.report import Item, Kind, Outcome, Remark, reason_of
from packbelt.importers.rules import Rules
from packbelt.importers.servers import Found
from packbelt.importers.sources import Source
from packbelt.model import PackbeltError, Where, WorkspaceError

_FILE = re.compile(r"\{file:([^{}]+)\}\Z")


def servers(document: Document, source: Source) -> Iterator[Found]:
    """The servers under `mcp`.

    Raises:
        WorkspaceError: `mcp` is no object.
    """
    entries = document.data.get("mcp", {}) if isinstance(document.data, dict) else None
    if not isinstance(entries, dict):
        raise WorkspaceError(
            f"`mcp` is {kind_of(entries)}, not an object",
            where=document.where("mcp"),
            mend='write {"name": {...}}',
        )
    for name, raw in entries.items():
        found = Found(name, raw, document, ("mcp", name), source, "opencode")
        if isinstance(raw, Mapping):
            entry = dict(raw)
            kind = entry.get("type")
            if kind in ("local", "remote"):
                entry["type"] = "stdio" if kind == "local" else "http"
            command = entry.get("command")
            if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
                entry["command"], entry["args"] = command[0], command[1:]
            if "env" in entry:
                entry.pop("env")
                mend = "call it `environment`, and import again"
                found.note(Outcome.LEFT_OUT, "has a key `env` that OpenCode does not read", "env", mend=mend)
            if "environment" in entry:
                entry["env"] = entry.pop("environment")
            found.raw = entry
        yield usual(found)


def agents(
    document: Document, source: Source, servers: tuple[str, ...], rules: Rules
) -> Iterator[FoundAgent | Item]:
    """The agents under `agent` of `opencode.json`."""
    data = document.data if isinstance(document.data, dict) else {}
    for key in ("agent", "mode"):
        entries = data.get(key, {})
        for name, raw in entries.items() if isinstance(entries, Mapping) else ():
            where = document.where(key, name)
            try:
                if not isinstance(raw, Mapping):
                    raise WorkspaceError(f"agent {name!r} is {kind_of(raw)}, not an object", where=where)
                body = _prompt(raw.get("prompt"), source, where)
                yield _agent(
                    name, raw, body, document, (key, name), source=source, servers=servers, rules=rules
                )
            except PackbeltError as problem:
                yield refused(name, source, where, reason_of(problem))


def folder(
    source: Source, shown: Path, servers: tuple[str, ...], rules: Rules
) -> Iterator[FoundAgent | Item]:
    """The agents of a folder: Markdown, called after its file."""
    for file, text, path in pages(source, shown):
        where = Where(file, 1)
        try:
            if isinstance(text, PackbeltError):
                raise text
            if not has_front_matter(text):
                raise WorkspaceError(
                    "has no front matter", where=where, mend="begin it with a line --- and the keys"
                )
            document, parts = read_front_matter(text, file)
            yield _agent(
                path.stem,
                document.data,
                parts.body,
                document,
                (),
                source=source,
                servers=servers,
                rules=rules,
            )
        except PackbeltError as problem:
            yield refused(path.stem, source, problem.where or where, reason_of(problem))


def _agent(
    name: str,
    raw: Mapping[str, Any],
    body: str,
    document: Document,
    at: tuple[str, ...],
    *,
    source: Source,
    servers: tuple[str, ...],
    rules: Rules,
) -> FoundAgent | Item:
    where = document.where(*at)
    if problem := name_problem(name):
        raise WorkspaceError(f"the name {name!r} {problem}", where=where, mend="rename the agent", name=name)
    if raw.get("disable") is True:
        remark = Remark(Outcome.LEFT_OUT, "is switched off", document.where(*at, "disable"))
        return Item(Kind.AGENT, name, Outcome.LEFT_OUT, where, source.client, source.scope, "", (remark,))
    description = raw.get("description")
    if not isinstance(description, str) or not description.strip():
        mend = "add `description`: when to hand to it"
        raise WorkspaceError("the key `description` is missing", where=where, mend=mend, name="description")
    what = said(raw, document, *at)
    spelling = Spelling(servers)
    remarks = list(what.remarks)
    tools: list[str] | None = None
    if what.closed:
        tools, lost = spelling.grants(what.granted)
        if lost:
            message = f"what it may call has no counterpart here: {', '.join(lost)}"
            remarks.append(Remark(Outcome.APPROXIMATED, message, document.where(*at, "tools")))
    denied = spelling.denies(what.denied)
    if what.asked:
        _ask(what.asked, spelling, rules, where)
        message = f"a person is asked about {', '.join(what.asked)}: here whoever calls it"
        remarks.append(Remark(Outcome.APPROXIMATED, message, document.where(*at, "permission")))
    return written(
        name,
        description.strip(),
        body,
        tools=tools,
        denied=denied,
        where=where,
        source=source,
        remarks=remarks,
    )


def top(document: Document, source: Source, servers: tuple[str, ...], rules: Rules) -> list[Item]:
    """`tools` and `permission` of the file as a whole: they bind every agent.

    Raises:
        WorkspaceError: they cannot be understood.
    """
    data = document.data if isinstance(document.data, dict) else {}
    what = said(data, document)
    where = document.where("permission" if "permission" in data else "tools")
    spelling = Spelling(servers)
    items: list[Item] = []

    def add(name: str, outcome: Outcome, became: str, *remarks: Remark) -> None:
        items.append(Item(Kind.RULE, name, outcome, where, source.client, source.scope, became, remarks))

    patterns = ["*"] if what.closed else what.denied
    selectors = _named(patterns, spelling, rules) if not what.closed else ["*"]
    for selector in selectors:
        rules.deny.setdefault(selector, where)
    if selectors:
        more = tuple(what.remarks)
        if what.granted:
            message = (
                f"nothing takes a denial back: {', '.join(what.granted)} stays denied where a denial meets it"
            )
            more = (*more, Remark(Outcome.APPROXIMATED, message, where))
        outcome = Outcome.APPROXIMATED if more else Outcome.MAPPED
        add(f"off: {', '.join(patterns)}", outcome, f"packbelt.yaml: deny {', '.join(selectors)}", *more)
    if what.asked:
        asked = _ask(what.asked, spelling, rules, where)
        add(f"ask: {', '.join(what.asked)}", Outcome.MAPPED, f"packbelt.yaml: approve {', '.join(asked)}")
    return items


def _named(patterns: list[str], spelling: Spelling, rules: Rules) -> list[str]:
    names = spelling.denies(patterns)
    return [*selectors_of(names, spelling.servers), *(rules.handoffs("*") if "Task" in names else ())]


def _ask(patterns: list[str], spelling: Spelling, rules: Rules, where: Where) -> list[str]:
    found = ["*"] if "*" in patterns else _named(patterns, spelling, rules)
    for selector in found:
        rules.approve.setdefault(selector, where)
    return found


def _prompt(raw: object, source: Source, where: Where) -> str:
    """An agent's prompt: text, or the file that it names."""
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise WorkspaceError(f"`prompt` is {kind_of(raw)}, not text", where=where, mend="write text")
    found = _FILE.match(raw.strip())
    if not found:
        return raw
    return Tree(source.home).read(source.path.parent / found.group(1))
