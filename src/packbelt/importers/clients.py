"""The files that hold servers: which key of each client holds them, and what its further keys mean."""

from collections.abc import Iterator, Mapping
from typing import Any

from packbelt.catalog.problems import kind_of
from packbelt.catalog.servers import server_entries
from packbelt.catalog.yaml import Document, Path
from packbelt.importers.report import Outcome
from packbelt.importers.servers import Found
from packbelt.importers.sources import Source
from packbelt.model import WorkspaceError

_LISTS = {
    **dict.fromkeys(("alwaysAllow", "autoApprove", "alwaysApprove"), "exempt"),
    **dict.fromkeys(("includeTools", "enabledTools", "enabled_tools", "tools"), "allow"),
    **dict.fromkeys(("excludeTools", "disabledTools", "disabled_tools"), "deny"),
}
"""Lists of tools under the names that clients give them."""
_QUIET = frozenset(
    {"timeout", "initTimeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "dev"}
)


def mcp_servers(document: Document, source: Source) -> Iterator[Found]:
    """`mcpServers`: Claude Code, Claude Desktop, Cursor, plugins, and whoever took the form over.

    Raises:
        WorkspaceError: the file holds no map of servers.
    """
    data = document.data
    listed = data.get("mcpServers") if isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(data.get("servers"), dict) and listed is None:
        yield from vscode(document, source)
        return
    if isinstance(listed, list):
        yield from _listed(listed, document, ("mcpServers",), source)
        return
    entries, at, _ = server_entries(document)
    for name, raw in entries.items():
        yield usual(Found(name, raw, document, (*at, name), source))


def vscode(document: Document, source: Source, *at: str) -> Iterator[Found]:
    """VS Code's `servers`; at the path given (`mcp` of its settings) or at the top.

    Raises:
        WorkspaceError: there is no map of servers.
    """
    data = document.data
    for key in at:
        data = data.get(key) if isinstance(data, dict) else None
    entries = data.get("servers") if isinstance(data, dict) else None
    if entries is None and isinstance(data, dict) and "mcpServers" in data:
        yield from mcp_servers(document, source)
        return
    if not isinstance(entries, dict):
        raise WorkspaceError(
            f"`{'.'.join((*at, 'servers'))}` is {kind_of(entries)}, not an object",
            where=document.where(*at, "servers"),
            mend='write {"servers": {"name": {...}}}',
        )
    for name, raw in entries.items():
        yield usual(Found(name, raw, document, (*at, "servers", name), source))


def gemini(document: Document, source: Source) -> Iterator[Found]:
    """Gemini CLI's settings: `httpUrl` is HTTP, a bare `url` is SSE, `trust` leaves the asking out."""
    data = document.data if isinstance(document.data, dict) else {}
    servers = data.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise WorkspaceError(
            f"`mcpServers` is {kind_of(servers)}, not an object",
            where=document.where("mcpServers"),
            mend='write {"name": {...}}',
        )
    held = data.get("mcp")
    rules: Mapping[str, Any] = held if isinstance(held, dict) else {}
    allowed = names_of(rules.get("allowed", data.get("allowMCPServers")))
    excluded = names_of(rules.get("excluded", data.get("excludeMCPServers"))) or []
    for name, raw in servers.items():
        found = Found(name, raw, document, ("mcpServers", name), source, "gemini")
        if isinstance(raw, Mapping):
            entry = dict(raw)
            if "httpUrl" in entry:
                entry["url"], entry["type"] = entry.pop("httpUrl"), "http"
            elif entry.get("url") and not entry.get("command"):
                entry.setdefault("type", "sse")
            trust = entry.pop("trust", None)
            if isinstance(trust, bool):
                found.ask = not trust
            if name in excluded or (allowed is not None and name not in allowed):
                entry["disabled"] = True
            found.raw = entry
        yield usual(found)


def usual(found: Found) -> Found:
    """What several clients write beside an entry: lists of tools, approvals, files of variables."""
    if not isinstance(found.raw, Mapping):
        return found
    entry = dict(found.raw)
    if "serverUrl" in entry and "url" not in entry:  # Windsurf
        entry["url"] = entry.pop("serverUrl")
    if entry.get("type") in ("local", "remote") and found.dialect == "usual":  # Copilot CLI
        entry["type"] = "stdio" if entry["type"] == "local" else "http"
    command = entry.get("command")
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        entry["command"], entry["args"] = command[0], [*command[1:], *_texts(entry.get("args"))]
        found.note(Outcome.APPROXIMATED, "has a list for `command`; its first word is the program", "command")
    for key, role in _LISTS.items():
        if key in entry:
            _tool_list(found, key, role, entry.pop(key))
    if "envFile" in entry:
        entry.pop("envFile")
        mend = 'name the variables in `env`: {"NAME": "${NAME}"}'
        found.note(Outcome.LEFT_OUT, "takes variables from a file, which is not read", "envFile", mend=mend)
    for key in _QUIET & entry.keys():
        entry.pop(key)
        mend = "" if key == "dev" else "`times` of packbelt.yaml holds for all servers"
        found.note(Outcome.LEFT_OUT, f"has its own `{key}`", key, mend=mend)
    found.raw = entry
    return found


def _tool_list(found: Found, key: str, role: str, raw: object) -> None:
    """A list of tools. One that cannot be understood restricts as much as it can."""
    names = names_of(raw)
    if role == "allow" and names is not None and "*" in names:
        return
    if names is None:
        if role == "exempt":
            found.ask = True
            found.note(Outcome.APPROXIMATED, f"has `{key}` that is no list; each call is asked about", key)
            return
        found.refuse(f"has `{key}` that is {kind_of(raw)}", key, mend="write a list of names")
        return
    if role == "exempt":
        found.ask, found.exempt = True, names
        found.note(Outcome.APPROXIMATED, f"has `{key}`: calls of its other tools are asked about", key)
    elif role == "allow":
        found.allow = names
    else:
        found.deny += names


def _listed(entries: list[Any], document: Document, at: Path, source: Source) -> Iterator[Found]:
    """A list where a map should be: taken where each entry says its name."""
    for i, raw in enumerate(entries):
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            raise WorkspaceError(
                f"`mcpServers` is a list, and its entry {i + 1} has no name",
                where=document.where(*at, i),
                mend='write {"mcpServers": {"name": {...}}}',
            )
        found = Found(name, raw, document, (*at, i), source)
        found.note(Outcome.APPROXIMATED, "stands in a list where a map should be")
        yield usual(found)


def names_of(raw: object) -> list[str] | None:
    """A list of names; None where it is none."""
    if not isinstance(raw, list) or not all(isinstance(one, str) and one.strip() for one in raw):
        return None
    return [one.strip() for one in raw]


def _texts(raw: object) -> list[Any]:
    return raw if isinstance(raw, list) else []
