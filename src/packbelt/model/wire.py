"""Wire names: what a model sees and says.

A pure function of a tool's identity, so that no newcomer renames another and nothing ever has to split
one. A server tool whose parts fit is `mcp__server__tool`; one that had to be changed in any way always
ends in eight hex digits of SHA-256(server NUL tool), so that it cannot meet one that was not.
"""

import re
from hashlib import sha256

PREFIX = "mcp__"
LIMIT = 64
"""The longest name that every provider takes (OpenAI's limit; Anthropic's is 128)."""

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_LOOKS_HASHED = re.compile(r"_[0-9a-f]{8}\Z")


def server_wire_name(server: str, tool: str) -> tuple[str, bool]:
    """The wire name of a server's tool, and whether it had to be altered.

    An inline server's name (`agent.server`) holds a dot, so its tools' names always carry the hash.
    """
    joined = f"{PREFIX}{server}__{tool}"
    fits = (
        len(joined) <= LIMIT
        and _whole(server)
        and _whole(tool)
        and not _FOREIGN.search(joined)
        and not _LOOKS_HASHED.search(joined)
    )
    if fits:
        return joined, False
    digest = sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_FOREIGN.sub('_', joined)[: LIMIT - 9]}_{digest}", True


def _whole(part: str) -> bool:
    """Whether a part can stand beside `__` without blurring where it ends."""
    return bool(part) and "__" not in part and part[0] != "_" and part[-1] != "_"


def plain_name_problem(name: str) -> str:
    """What is wrong with the name of a native tool or a hand-off; empty if nothing is."""
    if not _PLAIN.match(name):
        return "a tool's name is 1 to 64 of A-Z, a-z, 0-9, _ and -"
    if name.startswith(PREFIX):
        return f"names that start with {PREFIX!r} belong to servers' tools"
    return ""
