"""Near misses: what a misspelt word was probably meant to be."""

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from packbelt.model.text import few

_CLOSE = 70.0
"""Least likeness, of 100, that is worth a suggestion."""


def nearest(word: str, known: Iterable[str], *, least: float = _CLOSE) -> str:
    """The known word that is most like this one; empty if none is like it. Ties go by the alphabet."""
    choices = sorted(set(known))
    found = process.extractOne(word, choices, scorer=fuzz.ratio, processor=_plain, score_cutoff=least)
    if found:
        return found[0]
    # Two letters in each other's place cost a short word too much of its likeness.
    return next((known for known in choices if sorted(_plain(known)) == sorted(_plain(word))), "")


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


def suggestion(word: str, known: Iterable[str], *, otherwise: str) -> str:
    """A mend for an unknown word: the near miss, or the other sentence."""
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near else otherwise


def listed(words: Iterable[str], *, most: int = 12) -> str:
    """Words for people: sorted, with commas, cut to a number of them."""
    return few(sorted(words), most=most) or "none"
