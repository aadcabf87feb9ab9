"""`.mcp.json`, and the server definitions inside agents' files."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Never

from packbelt.catalog.itself import left_out, serves_itself
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.problems import kind_of
from packbelt.catalog.text import OutsideError, Tree
from packbelt.catalog.workspace import ServerSpec
from packbelt.catalog.yaml import Document, Path, parse_json
from packbelt.model import Code, Diagnostic, Level, PackbeltError, WorkspaceError
from packbelt.model.encode import digest

FILE = ".mcp.json"

_KEYS = frozenset({"type", "command", "args", "env", "cwd", "url", "headers", "required", "shell"})
_QUIET = frozenset({"name", "description", "link", "enabled", "disabled"})
"""Keys of other readers that change nothing here, or that are read before the rest."""
_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})
_PLACEHOLDER = re.compile(r"(?<!\$)\$\{[^}]*\}")
_URL = re.compile(r"https?://|\$\{")
_OBJECT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)(\s*:\s*\{)?')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Servers:
    """What `.mcp.json` says.

    Attributes:
        specs: usable servers by name, in the order of the file.
        unusable: why each other one that it names cannot be used; empty for one that is left out on purpose.
        whole: whether the file could be read; if not, nobody knows what it names.
    """

    specs: Mapping[str, ServerSpec] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """Every name that is known, those of unusable servers included."""
        return frozenset({*self.specs, *self.unusable})


def read_servers(tree: Tree) -> Servers:
    """The shared servers of a workspace. A file that cannot be used is a diagnostic and leaves none.

    Raises:
        OutsideError: `.mcp.json` leads out of the workspace.
    """
    path = tree.root / FILE
    if not os.path.lexists(path):
        return Servers()
    try:
        document = parse_json(tree.read(path), FILE)
        entries, at, diagnostics = server_entries(document)
    except OutsideError:
        raise
    except PackbeltError as problem:
        reason = f"{FILE} {problem.problem.removeprefix('the file ')}"
        lost = dict.fromkeys(_readable_names(tree.peek(path)), reason)
        return Servers(unusable=lost, whole=False, diagnostics=(broken_server(problem),))
    specs: dict[str, ServerSpec] = {}
    unusable: dict[str, str] = {}
    for name, raw in entries.items():
        try:
            spec = parse_entry(name, raw, document, (*at, name), diagnostics)
        except PackbeltError as problem:
            diagnostics.append(broken_server(problem, name))
            unusable[name] = problem.problem
        else:
            if spec is not None and serves_itself(spec, tree.root):
                diagnostics.append(left_out(spec))
                spec = None
            if spec is not None:
                specs[name] = spec
            else:
                unusable[name] = ""
    return Servers(specs, unusable, diagnostics=tuple(diagnostics))


def _readable_names(text: str) -> list[str]:
    """What may be names of servers in a file that cannot be read: keys whose value is an object."""
    names = []
    for found in _OBJECT.finditer(text):
        if found.group(2) is None:
            continue
        try:
            name = str(json.loads(found.group(1)))
        except ValueError:
            continue
        if name.strip() and name not in _KEYS | {"mcpServers", "servers"}:
            names.append(name)
    return names


def broken_server(problem: PackbeltError, name: str = "") -> Diagnostic:
    """The diagnostic of an entry, or of a whole file, that cannot be used."""
    return Diagnostic(Level.ERROR, Code.SERVER_BROKEN, problem.problem, problem.where, problem.mend, name)


def server_entries(document: Document) -> tuple[Mapping[str, Any], Path, list[Diagnostic]]:
    """The map of servers, its path in the file, and what stands beside it.

    Raises:
        WorkspaceError: the file holds no such map.
    """
    data = document.data
    if not isinstance(data, dict):
        problem = f"the file is {kind_of(data)}, not an object"
        raise WorkspaceError(problem, where=document.where(), mend='write {"mcpServers": {}}')
    if "mcpServers" in data:
        servers = data["mcpServers"]
        if not isinstance(servers, dict):
            problem = f"`mcpServers` is {kind_of(servers)}, not an object"
            raise WorkspaceError(problem, where=document.where("mcpServers"), mend='write {"name": {...}}')
        beside = [key for key in data if key != "mcpServers" and not key.startswith(("$", "_"))]
        return (
            servers,
            ("mcpServers",),
            [_unread(key, document, (key,), "", ("mcpServers",)) for key in beside],
        )
    # Plugins ship the map without its wrapper; it is taken if nothing else can be meant.
    if all(isinstance(raw, dict) and ("command" in raw or "url" in raw) for raw in data.values()):
        return data, (), []
    if isinstance(data.get("servers"), dict):
        raise WorkspaceError(
            "`servers` is the wrapper of VS Code's mcp.json",
            where=document.where("servers"),
            mend="call it `mcpServers`",
        )
    raise WorkspaceError(
        "has no `mcpServers`",
        where=document.where(),
        mend=suggestion_for_wrapper(tuple(data)),
        name="mcpServers",
    )


def suggestion_for_wrapper(keys: tuple[str, ...]) -> str:
    """The mend of a file whose wrapper is missing or misspelt."""
    close = [key for key in keys if key.lower().replace("_", "").replace("-", "") == "mcpservers"]
    return (
        f"call `{close[0]}` `mcpServers`" if close else 'write {"mcpServers": {"name": {"command": "..."}}}'
    )


def _unread(key: str, document: Document, path: Path, owner: str, known: tuple[str, ...]) -> Diagnostic:
    subject = f"server {owner!r} has a key" if owner else "there is a key"
    mend = suggestion(key, known, otherwise=f"remove it; keys that are read: {listed(known)}")
    message = f"{subject} `{key}` that is not read"
    return Diagnostic(Level.WARNING, Code.SERVER_KEY, message, document.where(*path), mend, key)


def parse_entry(
    name: str,
    raw: object,
    document: Document,
    path: Path,
    diagnostics: list[Diagnostic],
    *,
    owner: str | None = None,
    strict: bool = False,
) -> ServerSpec | None:
    """One server's definition.

    Args:
        name: its name as the file spells it.
        raw: the definition.
        document: the file.
        path: the definition's path in it.
        diagnostics: remarks are added here.
        owner: the agent that declares it, for an inline one.
        strict: whether the file is packbelt's own, where an unknown key is an error.

    Returns:
        The server, or None if its entry switches it off.

    Raises:
        WorkspaceError: the entry cannot be used.
    """
    entry = _Entry(name, document, path)
    where = document.where(*path)
    if not name.strip() or name == "*" or _CONTROL.search(name):
        raise WorkspaceError(f"{name!r} is no name for a server", where=where, mend="give it a plain name")
    if not isinstance(raw, Mapping):
        entry.refuse(f"is {kind_of(raw)}, not an object", "write its command or its url")
    if not strict and (raw.get("disabled") is True or raw.get("enabled") is False):
        message = f"server {name!r} is switched off in its entry"
        diagnostics.append(Diagnostic(Level.NOTE, Code.SERVER_IGNORED, message, where, name=name))
        return None
    for key in raw:
        if key in _KEYS or (key in _QUIET and not strict):
            continue
        remark = _unread(key, document, (*path, key), name, tuple(_KEYS - {"shell"}))
        if strict:
            raise WorkspaceError(
                f"server {name!r} has the unknown key `{key}`", where=remark.where, mend=remark.mend, name=key
            )
        diagnostics.append(remark)
    if raw.get("shell") not in (None, False):
        entry.refuse("wants a shell", "write the program as `command` and its arguments as `args`", "shell")
    transport = _transport(entry, raw)
    args = tuple(entry.items(raw, "args")) if transport == "stdio" else ()
    if any(_PLACEHOLDER.search(arg) for arg in args):
        message = f"server {name!r} has a placeholder in `args`, which every user of the machine can read"
        place = document.where(*path, "args")
        diagnostics.append(
            Diagnostic(Level.WARNING, Code.SECRET_IN_ARGS, message, place, "pass it in `env`", name)
        )
    required = raw.get("required", False)
    if not isinstance(required, bool):
        entry.refuse(f"has a `required` that is {kind_of(required)}", "write true or false", "required")
    return ServerSpec(
        name=f"{owner}.{name}" if owner is not None else name,
        transport=transport,
        command=entry.text(raw, "command") if transport == "stdio" else "",
        args=args,
        env=entry.pairs(raw, "env") if transport == "stdio" else {},
        cwd=entry.text(raw, "cwd") or None if transport == "stdio" else None,
        url=entry.text(raw, "url") if transport == "http" else "",
        headers=entry.pairs(raw, "headers") if transport == "http" else {},
        required=required,
        owner=owner,
        digest=digest(raw),
        where=where,
    )


def _transport(entry: "_Entry", raw: Mapping[str, Any]) -> Literal["stdio", "http"]:
    """`type`, or what `command` or `url` imply."""
    has_command, has_url = bool(raw.get("command")), bool(raw.get("url"))
    kind = raw.get("type")
    if kind is None:
        if has_command == has_url:
            problem = "has both `command` and `url`" if has_command else "has neither `command` nor `url`"
            entry.refuse(problem, "write one of them")
        kind = "stdio" if has_command else "http"
    if not isinstance(kind, str):
        entry.refuse(f"has a `type` that is {kind_of(kind)}", "write stdio or http", "type")
    if kind.lower() == "sse":
        entry.refuse("has the type 'sse', which is not taken", "use the server's http address", "type")
    if kind.lower() not in {"stdio", *_HTTP}:
        mend = suggestion(kind, ("stdio", "http"), otherwise="write stdio or http")
        entry.refuse(f"has the unknown type {kind!r}", mend, "type")
    if kind.lower() == "stdio":
        if not has_command:
            entry.refuse("has the type 'stdio' and no `command`", "add `command`")
        return "stdio"
    if not has_url:
        entry.refuse(f"has the type {kind!r} and no `url`", "add `url`")
    if not _URL.match(entry.text(raw, "url")):
        entry.refuse("has a `url` that is not http", "write https://...", "url")
    return "http"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One definition, for messages and for the values in it."""

    name: str
    document: Document
    path: Path

    def refuse(self, problem: str, mend: str, *keys: str | int) -> Never:
        where = self.document.where(*self.path, *keys)
        raise WorkspaceError(f"server {self.name!r} {problem}", where=where, mend=mend, name=self.name)

    def text(self, raw: Mapping[str, Any], key: str) -> str:
        value = raw.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.refuse(f"has a `{key}` that is {kind_of(value)}", "write text", key)
        return self.clean(value, key)

    def items(self, raw: Mapping[str, Any], key: str) -> list[str]:
        value = raw.get(key, [])
        if not isinstance(value, list):
            self.refuse(f"has an `{key}` that is {kind_of(value)}", "write a list", key)
        return [self.scalar(part, key, i) for i, part in enumerate(value)]

    def pairs(self, raw: Mapping[str, Any], key: str) -> dict[str, str]:
        value = raw.get(key, {})
        if not isinstance(value, Mapping):
            self.refuse(f"has `{key}` that is {kind_of(value)}", "write names with their values", key)
        return {name: self.scalar(part, key, name) for name, part in value.items()}

    def scalar(self, value: object, *keys: str | int) -> str:
        """Text; numbers and booleans are taken as they are spelt in JSON."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if not isinstance(value, str):
            self.refuse(f"has an `{keys[0]}` with {kind_of(value)} in it", "write text", *keys)
        return self.clean(value, *keys)

    def clean(self, value: str, *keys: str | int) -> str:
        if "\0" in value:
            self.refuse(f"has a NUL in `{keys[0]}`", "remove it", *keys)
        return value
