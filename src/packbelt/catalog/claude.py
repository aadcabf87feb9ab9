"""`.claude/agents/**/*.md`: agents in Claude Code's format, read in place.

Nothing is ever read as wider than it is written. A key that looks like a restriction and is none breaks the
file; an entry that packbelt cannot express grants nothing, or denies more.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from packbelt.catalog.agents import FOLDER as OWN_FOLDER
from packbelt.catalog.claude_lists import entries_of
from packbelt.catalog.drafts import Draft, agent_servers, key_lines, name_problem, read_front_matter
from packbelt.catalog.names import claude_readings, claude_splits, safe_handoff
from packbelt.catalog.near import nearest
from packbelt.catalog.problems import kind_of
from packbelt.catalog.workspace import Agent, ServerSpec
from packbelt.catalog.yaml import Document
from packbelt.model import Code, Diagnostic, Level, Origin, Selector, WorkspaceError
from packbelt.model.selector import is_glob
from packbelt.model.wire import PREFIX

FOLDER = ".claude/agents"

_EXACT = frozenset({"name", "description", "tools"})
_LOOSE = frozenset({"disallowedtools", "mcpservers"})
"""Read in every spelling: `disallowedTools`, `disallowed_tools`, `disallowed-tools`."""
_KNOWN = frozenset(
    {
        *("model", "color", "permissionmode", "maxturns", "skills", "hooks", "memory", "background"),
        *("effort", "isolation", "initialprompt", "version", "author", "license", "tags", "category"),
        *("metadata", "examples", "emoji", "vibe"),
    }
)
"""Keys that Claude Code or its users' collections write and that decide no belt."""
_RESTRICTIONS = frozenset(
    {
        *(
            "tool",
            "tools",
            "toolset",
            "toolsets",
            "toollist",
            "allow",
            "allowed",
            "allowtools",
            "allowedtools",
        ),
        *("enabledtools", "includetools", "toolsallowed", "permissions"),
        *("deny", "denied", "denytools", "deniedtools", "disallow", "disallowed", "disallowtools"),
        *(
            "blockedtools",
            "excludetools",
            "disabledtools",
            "forbiddentools",
            "toolsdenied",
            "toolsdisallowed",
        ),
    }
)
"""Keys that somebody wrote to restrict an agent, and that no reader of the format knows."""
_OWN = frozenset({"ceiling", "delegates", "inheritmcpservers", "permission"})
"""Keys of packbelt's own format that restrict an agent."""
_DENIES = re.compile("den[iy]|disallow|block|exclude|disable|forbid")
_CLOSE = 85.0


def parse_claude_agent(text: str, file: str, origin: Origin) -> Draft:
    """One agent's file; its selectors stay in Claude's spelling until the servers are known.

    Raises:
        WorkspaceError: it is not as the format says, or it cannot be read without widening it.
    """
    document, parts = read_front_matter(text, file)
    diagnostics: list[Diagnostic] = []
    keys = _keys(document, diagnostics)
    name = _text(document, keys, "name")
    if problem := name_problem(name):
        where = document.where("name")
        raise WorkspaceError(f"the name {name!r} {problem}", where=where, mend="rename the agent", name=name)
    disallowed: tuple[Selector, ...] = ()
    for key in keys.get("disallowedtools", ()):
        disallowed += entries_of(document.data[key], key, document)
    servers: tuple[str, ...] = ()
    inline: dict[str, ServerSpec] = {}
    unusable: dict[str, str] = {}
    for key in keys.get("mcpservers", ()):  # both spellings in one file add up
        more, own, broken = agent_servers(document.data[key], key, document, name, diagnostics, strict=False)
        servers = tuple(dict.fromkeys((*servers, *more)))
        inline |= own
        unusable |= broken
    _plan_mode(document, name, diagnostics)
    agent = Agent(
        name=name,
        description=_text(document, keys, "description"),
        handoff=safe_handoff(name),
        tools=entries_of(document.data["tools"], "tools", document) if "tools" in keys else None,
        disallowed_tools=disallowed,
        mcp_servers=servers,
        inline=tuple(inline),
        body=parts.body,
        is_template=False,
        origin=origin,
        file=file,
        lines=_canonical_lines(key_lines(document, parts.body_line)),
    )
    return Draft(agent, inline, imported=True, diagnostics=tuple(diagnostics), unusable=unusable)


def resolve(
    draft: Draft, shared: Iterable[str], *, complete: bool = True
) -> tuple[Agent, tuple[Diagnostic, ...]]:
    """The agent with its entries as selectors, resolved against the configured servers and its own.

    Args:
        draft: the agent as its file has it.
        shared: names of the configured servers, unusable ones included.
        complete: whether these are all; they are not while `.mcp.json` cannot be read.

    Raises:
        WorkspaceError: an entry of `tools` has two readings, or may have.
    """
    agent = draft.agent
    servers = {name: name for name in shared} | {full: spec.short_name for full, spec in draft.inline.items()}
    servers |= {full: full.removeprefix(f"{agent.name}.") for full in draft.unusable}
    diagnostics: list[Diagnostic] = []
    tools = agent.tools
    if tools is not None:
        if not complete:
            _refuse_doubtful(tools)
        tools = tuple(_grant(entry, servers, agent.name, diagnostics) for entry in tools)
    denied = (_denials(entry, servers, agent.name, diagnostics) for entry in agent.disallowed_tools)
    flat = tuple(selector for some in denied for selector in some)
    return replace(agent, tools=tools, disallowed_tools=flat), tuple(diagnostics)


def _refuse_doubtful(tools: Iterable[Selector]) -> None:
    for entry in tools:
        cuts = [server for server, tool in claude_splits(entry.text) if tool != "*"]
        if entry.text.startswith(PREFIX) and len(cuts) > 1 and "(" not in entry.text:
            raise WorkspaceError(
                f"{entry.text!r} in `tools` may mean two servers, and .mcp.json cannot be read",
                where=entry.where,
                mend="mend .mcp.json",
                name=entry.text,
            )


def _plan_mode(document: Document, agent: str, diagnostics: list[Diagnostic]) -> None:
    """`permissionMode: plan` lets Claude Code's agent only read, which no belt here does."""
    for key, value in document.data.items():
        if _plain(key) == "permissionmode" and isinstance(value, str) and value.strip().lower() == "plan":
            message = f"agent {agent!r}: `{key}: {value}` is not enforced here"
            mend = "list what it may call in `tools`, or write the agent in prompts/agents with a `ceiling`"
            where = document.where(key)
            diagnostics.append(Diagnostic(Level.WARNING, Code.AGENT_SPECIFIER, message, where, mend, key))


def _keys(document: Document, diagnostics: list[Diagnostic]) -> dict[str, list[str]]:
    """The spellings found of each key that is read."""
    found: dict[str, list[str]] = {}
    for key in document.data:
        plain = _plain(key)
        where = document.where(key)
        if key in _EXACT or plain in _LOOSE:
            found.setdefault(plain, []).append(key)
        elif right := _restriction(key, plain):
            raise WorkspaceError(
                f"`{key}` looks like a restriction, and Claude Code's format has no such key",
                where=where,
                mend=f"{right}, or remove it",
                name=key,
            )
        elif plain not in _KNOWN:
            near = nearest(key, ("name", "description", "mcpServers"), least=_CLOSE)
            mend = f"did you mean {near!r}?" if near else "remove it if it should do something here"
            message = f"the key `{key}` is not read"
            diagnostics.append(Diagnostic(Level.WARNING, Code.AGENT_KEY, message, where, mend, key))
    return found


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _restriction(key: str, plain: str) -> str:
    """The mend of a key that looks like a restriction; empty if it does not."""
    if plain in _OWN:
        return f"such keys are read in {OWN_FOLDER}: move the file there"
    if plain in _RESTRICTIONS:
        return f"call it `{'disallowedTools' if _DENIES.search(plain) else 'tools'}`"
    near = nearest(key, ("tools", "disallowedTools"), least=_CLOSE)
    return f"call it `{near}`" if near else ""


def _text(document: Document, keys: Mapping[str, Any], key: str) -> str:
    if key not in keys:
        raise WorkspaceError(
            f"the key `{key}` is missing", where=document.where(), mend=f"add `{key}:`", name=key
        )
    value = document.data[key]
    if not isinstance(value, str) or not value.strip():
        mend = "put it in quotes" if isinstance(value, int | float) else "write text"
        raise WorkspaceError(
            f"`{key}` is {kind_of(value) if value != '' else 'empty'}",
            where=document.where(key),
            mend=mend,
            name=key,
        )
    return value.strip()


def _canonical_lines(lines: Mapping[str, int]) -> dict[str, int]:
    """Lines under packbelt's own names of the keys too, so that reasons find them."""
    own = {"disallowedtools": "disallowed_tools", "mcpservers": "mcp_servers"}
    more = {own.get(_plain(key), key): line for key, line in lines.items()}
    return {**lines, **more}


def _grant(
    entry: Selector, servers: Mapping[str, str], agent: str, diagnostics: list[Diagnostic]
) -> Selector:
    text = entry.text
    if "(" in text:
        message = f"agent {agent!r}: {text!r} is about a tool's arguments; it grants nothing here"
        mend = "name the whole tool to grant it"
        diagnostics.append(Diagnostic(Level.WARNING, Code.AGENT_SPECIFIER, message, entry.where, mend, text))
        return entry
    if not text.startswith(PREFIX):
        return entry
    if text == f"{PREFIX}*":
        return replace(entry, text="*/*")
    found = claude_readings(text, servers)
    if len(found) > 1:
        both = " or ".join(repr(f"{server}/{tool}") for server, tool in found)
        raise WorkspaceError(
            f"{text!r} in `tools` means {both}",
            where=entry.where,
            mend="rename one of the servers, or write the agent in packbelt's own format",
            name=text,
        )
    if not found:
        return entry
    server, tool = found[0]
    # A glob over a server's tools cannot be granted; as Claude's name it matches nothing.
    return entry if tool != "*" and is_glob(tool) else replace(entry, text=f"{server}/{tool}")


def _denials(
    entry: Selector, servers: Mapping[str, str], agent: str, diagnostics: list[Diagnostic]
) -> tuple[Selector, ...]:
    """Every selector that an entry of `disallowedTools` may mean: a deny binds all of them."""
    text = entry.text
    if "(" in text:
        name = text.split("(", 1)[0]
        message = f"agent {agent!r}: {text!r} is about a tool's arguments; all of {name!r} is denied here"
        diagnostics.append(Diagnostic(Level.WARNING, Code.AGENT_SPECIFIER, message, entry.where, name=text))
        return _denials(replace(entry, text=name), servers, agent, diagnostics)
    if not text.startswith(PREFIX):
        return (entry,)
    if text == f"{PREFIX}*":
        return (replace(entry, text="*/*"),)
    found = claude_readings(text, servers)
    if found:
        return tuple(replace(entry, text=f"{server}/{tool}") for server, tool in found)
    splits = tuple(claude_splits(text))
    if any(is_glob(server) for server, tool in splits if tool != "*") or (is_glob(text) and len(splits) == 1):
        message = (
            f"agent {agent!r}: {text!r} is a pattern for servers' names; all servers' tools are denied here"
        )
        diagnostics.append(Diagnostic(Level.WARNING, Code.AGENT_SPECIFIER, message, entry.where, name=text))
        return (replace(entry, text="*/*"),)
    # No configured server: one that turns up later must still be denied.
    return (
        entry,
        *(replace(entry, text=f"{server}/{tool}") for server, tool in splits if not is_glob(server)),
    )
