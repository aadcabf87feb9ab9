"""Words for prompts: the first sentence of a text, limits of other people's, and lists cut by entry."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from packbelt.model.text import LIMIT, harmless, one_line

NAME = 80
"""Bytes of a third party's name."""
SENTENCE = 200
"""Bytes of a first sentence."""
LINES = 40
"""Entries of a list that get a line of their own."""
LINE_BYTES = 4096
"""Bytes that these lines may take together."""
NAME_BYTES = 2048
"""Bytes of the bare names that follow them."""

T = TypeVar("T")

_END = re.compile(r"[.!?…]+[)\]\"'’”]*(?=\s|$)|[。！？]")  # noqa: RUF001 - full-width marks end sentences too
_INSIDE = frozenset({
    "eg.", "ie.", "cf.", "vs.", "viz.", "ca.", "approx.", "incl.", "excl.", "esp.", "resp.", "no.", "nr.",
    "fig.", "max.", "min.", "dr.", "mr.", "mrs.", "ms.", "st.", "prof.", "vol.", "ver.", "bzw.",
})  # fmt: skip
"""Abbreviations after which a sentence goes on, whatever follows."""
_TRAILING = frozenset({"etc.", "inc.", "ltd.", "co.", "corp.", "jr.", "sr.", "usw."})
"""Abbreviations that may end a sentence: they do if a capital follows."""


def first_sentence(text: str, limit: int = SENTENCE) -> str:
    """The first sentence of a text as harmless words, at most `limit` bytes.

    Abbreviations, initials and numbers do not end it: "Makes notes (e.g. Of calls)." is one sentence.
    """
    plain = harmless(text, 1 << 20)
    for match in _END.finditer(plain):
        if not _goes_on(plain, match.end()):
            plain = plain[: match.end()]
            break
    return harmless(plain, limit)


def _goes_on(text: str, end: int) -> bool:
    """Whether the sentence goes on after a mark that could have ended it."""
    rest = text[end:].lstrip()
    if not rest:
        return False
    *before, last = text[:end].split()
    word = last.lstrip("([\"'").lower()
    if word in _INSIDE or re.fullmatch(r"(?:[a-z]\.)+", word) or (not before and word[:-1].isdecimal()):
        return True
    if word in _TRAILING:
        return not rest[0].isupper()
    # A real end is followed by a capital, a digit, a quote or a script without capitals.
    return rest[0].islower()


def is_long(text: str) -> bool:
    """Whether a third party says more than a prompt shows."""
    return len(one_line(text).encode("utf-8", "replace")) > LIMIT


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list cut by entry, so that nothing is cut in the middle and nothing is left out silently.

    Attributes:
        lines: entries that get a line each.
        names: names of the entries for which there was no room for a line.
        more: how many are left that are not even named.
    """

    lines: tuple[T, ...] = ()
    names: tuple[str, ...] = ()
    more: int = 0


def fitted(
    entries: Iterable[T],
    name: Callable[[T], str],
    size: Callable[[T], int],
    *,
    lines: int = LINES,
    line_bytes: int = LINE_BYTES,
    name_bytes: int = NAME_BYTES,
) -> Listing[T]:
    """As many entries as fit with a line each, then names, then a number.

    Args:
        entries: in order.
        name: an entry's name.
        size: bytes of an entry's line.
        lines: most lines.
        line_bytes: most bytes of all lines.
        name_bytes: most bytes of all names that follow.
    """
    shown: list[T] = []
    names: list[str] = []
    more = 0
    for entry in entries:
        if not names and not more and len(shown) < lines and (cost := size(entry)) <= line_bytes:
            shown.append(entry)
            line_bytes -= cost
            continue
        cost = len(name(entry).encode()) + 2
        if not more and cost <= name_bytes:
            names.append(name(entry))
            name_bytes -= cost
        else:
            more += 1
    return Listing(tuple(shown), tuple(names), more)
