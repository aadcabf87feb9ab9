"""Names: hand-offs, Claude's spelling of a server's tool, and what is taken."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from packbelt.model.wire import LIMIT, PREFIX, plain_name_problem

FIND_TOOLS = "find_tools"
"""The tool that finds deferred tools; no other may have its name."""
HANDOFF_PREFIX = "delegate_to_"

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def default_handoff(agent: str) -> str:
    """The name of the hand-off to an agent that names none: as it is, valid or not."""
    return HANDOFF_PREFIX + agent


def safe_handoff(agent: str) -> str:
    """A valid name for the hand-off to an agent with any name: foreign characters become `_`."""
    name = HANDOFF_PREFIX + _FOREIGN.sub("_", agent)
    return name if not plain_name_problem(name) else hashed_handoff(agent)


def hashed_handoff(agent: str) -> str:
    """A valid name that no other agent's hand-off has."""
    digest = sha256(agent.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{(HANDOFF_PREFIX + _FOREIGN.sub('_', agent))[: LIMIT - 9]}_{digest}"


def claude_server(server: str) -> str:
    """Claude's spelling of a server's name inside `mcp__server__tool`."""
    return _FOREIGN.sub("_", server)


def claude_readings(text: str, servers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Every way to read `mcp__server`, `mcp__server__*` or `mcp__server__tool`.

    A server's name may hold `__`, so a text is never split: it is compared with the servers that are known.

    Args:
        text: the entry.
        servers: identity of each known server, with the name that its file gives it.

    Returns:
        Server and tool part (`*` for the whole server), sorted.
    """
    body = text.removeprefix(PREFIX)
    found: set[tuple[str, str]] = set()
    for server, short in servers.items():
        spelling = claude_server(short)
        if body in (spelling, f"{spelling}__*"):
            found.add((server, "*"))
        elif body.startswith(f"{spelling}__") and len(body) > len(spelling) + 2:
            found.add((server, body[len(spelling) + 2 :]))
    return sorted(found)


def claude_splits(text: str) -> Iterable[tuple[str, str]]:
    """Every server and tool part that a text could mean of servers that are not known yet."""
    body = text.removeprefix(PREFIX)
    if body:
        yield body, "*"
    start = body.find("__", 1)
    while start != -1:
        if tool := body[start + 2 :]:
            yield body[:start], tool
        start = body.find("__", start + 1)
