"""What is wrong with a selector as it stands, before any server is connected."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packbelt.catalog.claude_tools import means_builtin
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.workspace import MCP
from packbelt.model import Code, Diagnostic, Level, Selector, WorkspaceError
from packbelt.model.selector import Kind, glob, is_glob
from packbelt.model.wire import PREFIX


@dataclass(frozen=True, slots=True)
class Known:
    """What a workspace's files know.

    Attributes:
        packs: ids of packs.
        servers: names of servers, the short names of inline ones included.
        names: native tools, hand-offs and members of packs.
        complete: whether all servers' names are known; they are not while `.mcp.json` is broken.
    """

    packs: frozenset[str]
    servers: frozenset[str]
    names: frozenset[str] = frozenset()
    complete: bool = True


def check_grants(selectors: Iterable[Selector], key: str, known: Known) -> None:
    """Hold the entries of a list that grants against its rules. Whether they resolve is asked later.

    Raises:
        WorkspaceError: an entry is empty, joined, a glob, or names an unknown pack or a bare server.
    """
    for selector in selectors:
        _check_form(selector, key, known)
        if selector.kind in (Kind.ALL, Kind.ALL_SERVERS, Kind.PACK):
            continue
        if selector.kind is Kind.SERVER and not known.complete and selector.text.count("/") > 1:
            raise _error(
                selector,
                f"{selector.text!r} in `{key}` may mean two servers, and .mcp.json cannot be read",
                "mend .mcp.json",
            )
        parts = [tool for _, tool in selector.readings(known.servers)] or [selector.text.partition("/")[2]]
        if selector.kind is Kind.NAME:
            parts = [selector.text]
        # `*/tool` has its glob in the server's place.
        if selector.any_server is not None or all(is_glob(part) and part != "*" for part in parts):
            raise _error(
                selector,
                f"{selector.text!r} in `{key}` is a glob, which only deny lists and `approve` take",
                "name the tools, or write server/* or pack:id",
            )


def check_denials(selectors: Iterable[Selector], key: str, known: Known) -> None:
    """Hold the entries of a list that denies against its rules.

    Raises:
        WorkspaceError: an entry is empty, joined, or names an unknown pack or a bare server.
    """
    for selector in selectors:
        _check_form(selector, key, known)


def check_matched(selectors: Iterable[Selector], key: str, known: Known) -> None:
    """Refuse entries that nothing in the workspace can ever answer to, so that a typo leaves no door open.

    Raises:
        WorkspaceError: an entry matches no native tool, hand-off, pack member, pack or server.
    """
    for selector in selectors:
        _check_form(selector, key, known)
        if selector.kind is Kind.NAME and not (
            any(map(glob(selector.text).match, known.names)) or means_builtin(selector.text)
        ):
            raise _error(
                selector,
                f"{selector.text!r} in `{key}` matches no tool",
                suggestion(selector.text, known.names, otherwise="name a tool, server/tool or pack:id"),
            )
        server = _unknown_server(selector, known)
        if server is not None and known.complete:
            raise _error(
                selector,
                f"{selector.text!r} in `{key}` names the unknown server {server!r}",
                suggestion(server, known.servers, otherwise=f"known servers are {listed(known.servers)}"),
            )


def unheld(selectors: Iterable[Selector], key: str, known: Known, file: str) -> Iterator[Diagnostic]:
    """Entries that pass only because nobody can read which servers there are."""
    for selector in selectors:
        server = None if known.complete else _unknown_server(selector, known)
        if server is not None:
            yield Diagnostic(
                Level.WARNING,
                Code.SERVER_UNKNOWN,
                f"{selector.text!r} in `{key}` names the server {server!r}, which could not be held against "
                f"{file}",
                selector.where,
                f"mend {file}",
                server,
            )


def _unknown_server(selector: Selector, known: Known) -> str | None:
    """The server that a selector names and that is not known; None if there is none."""
    if selector.kind is Kind.PACK and selector.pack.startswith(MCP):
        server = selector.pack.removeprefix(MCP)
        return None if server in known.servers else server
    if (
        selector.kind is not Kind.SERVER
        or selector.any_server is not None
        or selector.readings(known.servers)
    ):
        return None
    return selector.text.partition("/")[0]


def _check_form(selector: Selector, key: str, known: Known) -> None:
    text = selector.text
    if not text.strip() or text != text.strip():
        raise _error(selector, f"{text!r} in `{key}` is empty or has blanks around it", "write a selector")
    if "," in text and text not in known.names:
        parts = ", ".join(part.strip() for part in text.split(","))
        raise _error(selector, f"{text!r} in `{key}` is several entries in one", f"write [{parts}]")
    if selector.kind is Kind.SERVER:
        readings = selector.readings(known.servers)
        if text.startswith("/") and not readings:
            raise _error(selector, f"{text!r} in `{key}` names no server", "write server/tool")
        if text == "*/" or (readings and not any(tool for _, tool in readings)):
            raise _error(selector, f"{text!r} in `{key}` names no tool", f"write {text}*")
    # A server is a pack too; whether it is there is asked where servers are.
    is_pack = selector.kind is Kind.PACK and not selector.pack.startswith(MCP)
    if is_pack and selector.pack not in known.packs:
        packs = [f"pack:{pack}" for pack in known.packs]
        mend = suggestion(text, packs, otherwise=f"known packs are {listed(known.packs)}")
        raise _error(selector, f"{text!r} in `{key}` names no pack", mend)
    if selector.kind is Kind.NAME and text not in known.names:
        if text in known.servers:
            raise _error(selector, f"{text!r} in `{key}` is a server, not a tool", f"write {text}/*")
        if text.startswith(PREFIX):
            raise _error(selector, f"{text!r} in `{key}` is a wire name, not a selector", "write server/tool")


def _error(selector: Selector, problem: str, mend: str) -> WorkspaceError:
    return WorkspaceError(problem, where=selector.where, mend=mend, name=selector.text)
