"""Skills by name or purpose."""

import re
from collections.abc import Iterable

from rapidfuzz import fuzz

from packbelt.toolkits.found import Found

_WORD = re.compile(r"[^\W_]+")
_NEAR = 80  # of 100: a name misspelt
_SHORT = 3  # letters of a word that may be part of another


def matches(query: str, rows: Iterable[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """The skills that a query may mean, likeliest first.

    A word counts most in the name, then as part of it, then in the description. A query near a name finds it
    too.

    Args:
        query: words.
        rows: sources' names and their skills; the order decides between equals.
    """
    asked = _words(query)
    scored = []
    for source, found in rows:
        name, said = _words(found.name), _words(found.description)
        joined = "-".join(name)
        score = sum(_worth(word, name, joined, said) for word in asked)
        near = fuzz.ratio("-".join(asked), joined)
        if score or near >= _NEAR:
            scored.append((-score - (10 if near == 100 else near / 100), source, found))  # noqa: PLR2004 - percent
    return [(source, found) for _, source, found in sorted(scored, key=_order)]


def _order(row: tuple[float, str, Found]) -> tuple[float, int]:
    score, _, found = row
    return score, found.path.count("/")


def _worth(word: str, name: list[str], joined: str, said: list[str]) -> float:
    if word in name:
        return 3
    if len(word) >= _SHORT and word in joined:
        return 2
    return 1 if word in said else 0


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(text.casefold())))
