"""Selectors: which tools an entry of a list means.

Six forms: `name` (native tools and hand-offs), `server/tool`, `server/*`, `*/*` (every server's tools),
`pack:id` and `*`. Matching is on identities, never on a joined name and never by prefix. Deny and approve
lists also take globs in the tool part (`github/delete_*`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache

from packbelt.model.where import Where

WILDCARD = re.compile(r"[*?\[]")
"""What makes a tool part a glob."""


class Kind(StrEnum):
    """The forms of a selector."""

    ALL = "all"
    ALL_SERVERS = "all_servers"
    PACK = "pack"
    NAME = "name"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Selector:
    """One entry of a list, as written.

    Attributes:
        text: the entry.
        where: the file and line of the entry.
        lenient: whether it comes from another tool's format, where an entry that nothing answers to
            is a diagnostic and not a refusal.
    """

    text: str
    where: Where | None = None
    lenient: bool = False

    @property
    def kind(self) -> Kind:
        """The form, as far as the text alone tells it."""
        if self.text == "*":
            return Kind.ALL
        if self.text == "*/*":
            return Kind.ALL_SERVERS
        if self.text.startswith("pack:"):
            return Kind.PACK
        return Kind.SERVER if "/" in self.text else Kind.NAME

    @property
    def pack(self) -> str:
        """The pack's id of a `pack:` selector."""
        return self.text.removeprefix("pack:")

    def readings(self, servers: Collection[str]) -> list[tuple[str, str]]:
        """Every way to read it as (server, tool part), given the known servers, shortest server first.

        Servers' names may themselves hold a `/`, so an entry can have none, one or several readings.
        The server `*` is not among them.
        """
        cuts = (i for i, letter in enumerate(self.text) if letter == "/")
        return [(self.text[:i], self.text[i + 1 :]) for i in cuts if self.text[:i] in servers]

    @property
    def any_server(self) -> str | None:
        """The tool part of `*/tool`, or None."""
        return self.text[2:] if self.text.startswith("*/") else None

    def __str__(self) -> str:
        return self.text


def is_glob(part: str) -> bool:
    """Whether a tool part holds a glob's characters."""
    return bool(WILDCARD.search(part))


@lru_cache(maxsize=256)
def glob(part: str) -> re.Pattern[str]:
    """A compiled, case-sensitive glob over whole names."""
    return re.compile(translate(part))
