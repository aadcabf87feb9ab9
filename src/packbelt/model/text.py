"""One filter for text that others wrote, before it reaches a model or a terminal."""

import re
import unicodedata
from collections.abc import Sequence

LIMIT = 240
"""Bytes of a third party's text in a prompt."""

_BLANKS = re.compile(r"\s+")
_MARKUP = str.maketrans("<>`{}|[]", "\u2039\u203a'()\u00a6()")
_TAGS = str.maketrans("<>`", "\u2039\u203a'")
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_LEADING = re.compile(r"^[#*>=~_+\-\s]+")


def one_line(text: str) -> str:
    """The text on one line, without control characters and invisible ones."""
    spaced = _BLANKS.sub(" ", text)
    return "".join(c for c in spaced if c == " " or unicodedata.category(c) not in _INVISIBLE).strip()


def inert(text: str) -> str:
    """JSON of a third party on one line, its tags and code marks turned into lookalikes; still readable."""
    return one_line(text).translate(_TAGS)


def harmless(text: str, limit: int = LIMIT) -> str:
    """A third party's text as plain words: one line, no markup, at most `limit` bytes of UTF-8.

    Characters that open tags, headings, code, templates or links become lookalikes that do not; a text that
    was cut ends in an ellipsis.
    """
    plain = _LEADING.sub("", one_line(text).translate(_MARKUP))
    return cut(plain, limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, at a word's end where there is one, with an ellipsis if cut."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    kept = raw[: max(limit - 3, 0)].decode("utf-8", "ignore")
    head, blank, _ = kept.rpartition(" ")
    return (head if blank and len(head) > len(kept) // 2 else kept).rstrip(" ,;:.") + "…"


def few(words: Sequence[str], *, most: int) -> str:
    """Words with commas, in their order, cut to a number of them: `a, b and 3 more`."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def quoted(name: str, limit: int = 80) -> str:
    """A name that somebody made up, to be shown back: cleaned, cut and quoted."""
    plain = one_line(name).translate(_MARKUP)  # what leads a heading or a list does nothing inside quotes
    return '"' + cut(plain, limit).replace('"', "'") + '"'
