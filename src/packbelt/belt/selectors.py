"""Selectors against a registry: which bits an entry means, or what is wrong with it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from packbelt.catalog.claude_tools import means_builtin
from packbelt.catalog.names import claude_readings
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.registry import Registry
from packbelt.catalog.snapshot import shape
from packbelt.catalog.workspace import Agent
from packbelt.model import NOTHING_TO_DO, Code, Diagnostic, Level, Selector, ServerStatus
from packbelt.model.selector import Kind, glob, is_glob
from packbelt.model.wire import PREFIX

_CORRECT = "correct or remove the entry"
NOT_HERE = "connect what has them (`packbelt connect --save FILE`), or correct or remove the entries"
"""The mend for an imported entry that nothing here answers to; such entries are reported together."""


class Purpose(StrEnum):
    """What a list does with its matches. Denies and approvals bind wide, grants bind narrow."""

    GRANT = "grant"
    DENY = "deny"
    APPROVE = "approve"


@dataclass(frozen=True, slots=True)
class Match:
    """What an entry means.

    Attributes:
        mask: the tools it matches.
        exact: whether it names one tool.
        problem: why its agent cannot start with it, or None.
        note: what a person should know about it, or None.
    """

    mask: int = 0
    exact: bool = False
    problem: Diagnostic | None = None
    note: Diagnostic | None = None


def match(registry: Registry, selector: Selector, purpose: Purpose, agent: Agent | None = None) -> Match:
    """What an entry means to an agent; without one, to the workspace, the snapshot or a spawn."""
    own = agent if agent and agent.inline else None
    key = (selector.text, selector.lenient, purpose, own and own.name)
    found: Match | None = registry.memo.get(key)
    if found is None:
        found = registry.memo[key] = _match(registry, selector, purpose, own)
    if found.problem or found.note:  # the same words may stand in several files
        problem, note = (d and replace(d, where=selector.where) for d in (found.problem, found.note))
        return replace(found, problem=problem, note=note)
    return found


def _match(registry: Registry, selector: Selector, purpose: Purpose, agent: Agent | None) -> Match:
    grant = purpose is Purpose.GRANT
    if selector.lenient and selector.text.startswith(PREFIX):
        return _claude(registry, selector, agent, grant=grant)
    natives = registry.index.all & ~registry.handoffs if grant else registry.index.all
    match selector.kind:
        case Kind.ALL:
            return Match(natives | registry.server_tools)
        case Kind.ALL_SERVERS:
            return Match(registry.server_tools)
        case Kind.PACK:
            return _pack(registry, selector, grant=grant)
        case Kind.NAME:
            return _name(registry, selector, grant=grant)
    return _server(registry, selector, agent, grant=grant)


def match_all(
    registry: Registry, selectors: Iterable[Selector], purpose: Purpose, agent: Agent | None = None
) -> int:
    """The union of what entries match."""
    mask = 0
    for selector in selectors:
        mask |= match(registry, selector, purpose, agent).mask
    return mask


def _pack(registry: Registry, selector: Selector, *, grant: bool) -> Match:
    mask = registry.pack_mask(selector.pack)
    if mask is None:
        known = [f"pack:{pack}" for pack in registry.workspace.packs]
        return _wrong(selector, f"no pack is called {selector.pack!r}", known)
    return Match(mask & ~registry.handoffs if grant else mask)


def _name(registry: Registry, selector: Selector, *, grant: bool) -> Match:
    name = selector.text
    i = registry.index.find(name)
    if i is None:
        i = registry.index.builtin.get(name)
    if i is not None:
        return Match(1 << i, exact=True)
    if any(name in pack.members for pack in registry.workspace.packs.values()):
        return Match()  # a member that only the host's own process registers
    if name in registry.masks:
        return _wrong(selector, f"{name!r} is a server", mend=f'write "{name}/*" for all its tools')
    if grant and selector.lenient and "(" in name:
        return Match()  # Claude Code's rule about arguments: said when its file was read
    if is_glob(name):
        if grant:
            return _wrong(selector, "globs are for deny and approve lists", mend="name the tools, or pack:id")
        found = glob(name)
        mask = sum(1 << i for i, tool in enumerate(registry.index.tools) if found.match(tool.name))
        if mask:
            return Match(mask)
    if means_builtin(name):
        said = f"{name} is run by Claude Code itself"
        return Match(note=Diagnostic(Level.NOTE, Code.AGENT_BUILTIN, said, mend=NOTHING_TO_DO, name=name))
    known = {*registry.index.native, *registry.index.handoff}
    return _wrong(selector, f"no native tool or hand-off is called {name!r}", known)


def _claude(registry: Registry, selector: Selector, agent: Agent | None, *, grant: bool) -> Match:
    """Claude's spelling of a server's tools, where only the snapshot knows the server."""
    names = _server_names(registry, agent, grant=grant)
    short = {server: name for name, servers in names.items() for server in servers}
    readings = claude_readings(selector.text, short)
    if not readings:
        return _wrong(selector, "no known server's tool is spelled so")
    if not grant:
        return _bind(registry, selector, readings)
    if len(readings) > 1:
        both = " and ".join(f"tool {part!r} of server {server!r}" for server, part in readings)
        return _wrong(selector, f"it means {both}", mend="rename one of the servers")
    server, part = readings[0]
    i = registry.find(server, part)
    return Match(1 << i, exact=True) if i is not None else _grant(registry, selector, server, part)


def _server(registry: Registry, selector: Selector, agent: Agent | None, *, grant: bool) -> Match:
    tail = selector.any_server
    if tail is not None and not grant:
        return Match(_everywhere(registry, tail))
    if tail is not None and "*" not in registry.masks:
        return _wrong(selector, "a grant names its server", mend=f'write "<server>/{tail}"')
    names = _server_names(registry, agent, grant=grant)
    readings = selector.readings(names)
    if not readings:
        server = selector.text.rpartition("/")[0]
        return _wrong(selector, f"no server is called {server!r}", names)
    targets = [(server, part) for name, part in readings for server in names[name]]
    if not grant:
        return _bind(registry, selector, targets)
    if len(targets) > 1:
        both = " and ".join(f"tool {part!r} of server {server!r}" for server, part in targets)
        return _wrong(selector, f"{selector.text!r} means {both}", mend="rename one of the servers")
    return _grant(registry, selector, *targets[0])


def _server_names(registry: Registry, agent: Agent | None, *, grant: bool) -> dict[str, list[str]]:
    """The servers that each known name means.

    A grant may use the short names of the agent's own inline servers; a deny or an approval of a short name
    binds every inline server of that name, whoever declares it.
    """
    names = {name: [name] for name in registry.masks}
    own = agent.inline if agent else ()
    for spec in registry.workspace.inline.values():
        if not grant or spec.name in own:
            names.setdefault(spec.short_name, []).append(spec.name)
    return names


def _everywhere(registry: Registry, part: str) -> int:
    """Mask of the tools of every server that fit a glob or have a name."""
    mask, starts, wanted = 0, registry.starts, shape(part)
    for name, state in registry.snapshot.servers.items():
        local = state.matching(wanted)
        if "[" in part and (position := state.by_name.get(part)) is not None:  # a name like a glob
            local |= 1 << position
        if local:
            mask |= local << starts[name]
    return mask


def _grant(registry: Registry, selector: Selector, server: str, part: str) -> Match:
    state = registry.state(server)
    if part == "*":
        note = None
        if state.status is ServerStatus.CONNECTED and not state.tools:
            note = Diagnostic(
                Level.WARNING,
                Code.SERVER_EMPTY,
                f"{selector.text!r} grants nothing: server {server!r} lists no tools",
                selector.where,
                "look at the server",
                server,
            )
        return Match(registry.masks[server], note=note)
    i = registry.find(server, part)
    if state.status is ServerStatus.FAILED:
        wrong = _wrong(
            selector,
            f"server {server!r} failed{': ' + state.error if state.error else ''}, and an entry names its "
            f"tool {part!r}",
            mend=f'mend the server, or write "{server}/*" to start without it',
        )
        # For an agent that has started the entry goes on to mean the tool, which is not available now.
        return wrong if i is None else replace(wrong, mask=1 << i, exact=True)
    if i is not None:
        return Match(1 << i, exact=True)
    if is_glob(part):
        return _wrong(
            selector, "globs are for deny and approve lists", mend=f'name the tools, or "{server}/*"'
        )
    if state.status is ServerStatus.CONNECTED:
        return _wrong(selector, f"server {server!r} has no tool {part!r}", state.by_name)
    return Match(exact=True)


def _bind(registry: Registry, selector: Selector, targets: list[tuple[str, str]]) -> Match:
    mask = 0
    for server, part in targets:
        # A server may call a tool `*` or `delete_*`; that must not narrow the entry to this one tool.
        i = registry.find(server, part)
        if i is not None:
            mask |= 1 << i
        if part == "*":
            mask |= registry.masks[server]
        elif is_glob(part):
            mask |= registry.state(server).matching(shape(part)) << registry.starts[server]
    wild = all(part == "*" for _, part in targets)
    live = [server for server, _ in targets if registry.state(server).status is ServerStatus.CONNECTED]
    if mask or wild or len(live) < len(targets):
        return Match(mask)
    # A typo in a deny would leave a door open, so an exact one that meets nothing refuses the start.
    exact = not selector.lenient and not all(is_glob(part) for _, part in targets)
    found = Diagnostic(
        Level.ERROR if exact else Level.WARNING,
        Code.DENY_UNMATCHED,
        f"{selector.text!r} matches no tool of server {targets[0][0]!r}",
        selector.where,
        suggestion(targets[0][1], _names_of(registry, live), otherwise=_CORRECT),
        selector.text,
    )
    return Match(problem=found) if exact else Match(note=found)


def _names_of(registry: Registry, servers: Iterable[str]) -> list[str]:
    return [name for server in servers for name in registry.state(server).by_name]


def _wrong(selector: Selector, problem: str, known: Iterable[str] = (), mend: str = "") -> Match:
    """An entry that means nothing: a refusal in packbelt's own files, a diagnostic in imported ones."""
    names = sorted(known)
    if not mend:
        last = selector.text.rpartition("/")[2]
        others = f"there are: {listed(names)}" if names else _CORRECT
        mend = suggestion(last, names, otherwise=NOT_HERE if selector.lenient else others)
    text = f"entry {selector.text!r}: {problem}"
    if selector.lenient:
        note = Diagnostic(Level.WARNING, Code.AGENT_TOOL_UNKNOWN, text, selector.where, mend, selector.text)
        return Match(note=note)
    problem_found = Diagnostic(Level.ERROR, Code.AGENT_REFUSED, text, selector.where, mend, selector.text)
    return Match(problem=problem_found)
