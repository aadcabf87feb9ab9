"""Near names: what a mistyped or invented name may have meant.

Three measures, strongest first: the same letters whatever case, separators and prefixes; shared words, by
stem and by the synonyms that models use for one another; and the letters' edit ratio. An invented
`install_skill` shares no long run of letters with `setup_skills`, but every word.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter

from rapidfuzz import fuzz, process

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PREFIX = re.compile(
    r"^(?:functions?|tools?|default_api|mcp|creating|call|invoke)[.:/]+|^mcp__", re.IGNORECASE
)
_LOOSE = re.compile(r"[\W_]+")

_SYNONYMS = (
    "add install setup configure register enable provision connect attach",
    "find search lookup discover query browse seek",
    "get read fetch show view load retrieve describe inspect open",
    "list all enumerate index ls",
    "create make new generate build draft compose",
    "delete remove uninstall drop erase destroy rm",
    "run execute exec use invoke start launch call trigger perform",
    "edit update change modify set patch revise write save",
    "send post publish push submit",
    "date time now clock today",
    "stop cancel end kill abort close terminate",
    "link authorize login",
    "file document doc",
    "folder directory dir",
    "schedule cron timer remind",
    "picture image photo img",
    "film video clip",
    "memory remember recall",
    "plugin extension integration mcp server connector",
    "info information status details state",
)
_GROUP = {word: group.split()[0] for group in _SYNONYMS for word in group.split()}

SAME = 1000.0
"""Score of a name that differs in case, separators or a known prefix only."""
_COMMON = 100
"""Names from which on a word is common."""
_COVERED = 50.0
"""Added to a name whose every word was said, whatever else was."""
_SHORT = 80
"""Letters of a text whose words are remembered."""
_TELLING = 3
"""Words from which on a name says enough for that."""
_LETTERS = 76.0
"""Edit ratio (0 to 100) below which letters alone mean nothing."""


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - shorter stems say nothing
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def words(text: str) -> frozenset[str]:
    """The words of a name or a text: lower case, by stem, synonyms folded into one."""
    # Names come again and again, descriptions once for each index: only the short are worth remembering.
    return _words(text) if len(text) <= _SHORT else frozenset(map(_folded, _WORDS.findall(text)))


@lru_cache(maxsize=1 << 15)
def _words(text: str) -> frozenset[str]:
    return frozenset(map(_folded, _WORDS.findall(text)))


@lru_cache(maxsize=1 << 14)
def _folded(word: str) -> str:
    plain = word.lower()
    stem = _stem(plain)
    return _GROUP.get(plain, _GROUP.get(stem, stem))


@lru_cache(maxsize=1 << 15)
def loose(name: str) -> str:
    """The letters and digits of a name, without case, separators and the prefixes that models invent."""
    return _LOOSE.sub("", _PREFIX.sub("", name)).lower()


def bare(name: str) -> str:
    """A name without the prefixes that models invent."""
    return _PREFIX.sub("", name)


class Names:
    """An index over names, built once for each belt that has to guess."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: Sequence[str] = sorted(set(names))
        self._loose = [loose(name) for name in self.names]
        self._same: dict[str, list[int]] = {}
        self._words: dict[str, list[int]] = {}
        self._said: list[frozenset[str]] = []
        for i, name in enumerate(self.names):
            self._same.setdefault(self._loose[i], []).append(i)
            said = words(bare(name))
            self._said.append(said)
            for word in said:
                self._words.setdefault(word, []).append(i)

    def rank(self, name: str, limit: int = 10) -> list[tuple[str, float]]:
        """The nearest names with their scores, best first; equal scores by name."""
        wanted = words(bare(name)[:200])
        ranked = {
            i: 100.0 * hits / max(len(wanted), len(self._said[i]), 1)
            + (_COVERED if len(self._said[i]) >= _TELLING and self._said[i] <= wanted else 0.0)
            for i, hits in self._shared(wanted, limit)
        }
        key = loose(name)[:200]
        close = process.extract(
            key, self._loose, scorer=fuzz.ratio, score_cutoff=_LETTERS, limit=max(limit, 10)
        )
        for _, ratio, i in close:
            ranked[i] = ranked.get(i, 0.0) + ratio
        for i in self._same.get(key, ()):
            ranked[i] = SAME
        best = sorted(ranked.items(), key=lambda item: (-item[1], self.names[item[0]]))
        return [(self.names[i], score) for i, score in best[:limit]]

    def _shared(self, wanted: Iterable[str], limit: int) -> list[tuple[int, float]]:
        """The names that share the most words; a word that many names have only adds to rarer ones."""
        scores: dict[int, float] = {}
        for word in sorted(wanted, key=lambda word: (len(self._words.get(word, ())), word)):
            holders = self._words.get(word, [])
            weight = 1.0 / (1 + len(holders)) ** 0.25
            if len(holders) > _COMMON and scores:
                for i in scores:
                    if word in self._said[i]:
                        scores[i] += weight
            else:
                for i in holders[: 5 * _COMMON]:
                    scores[i] = scores.get(i, 0.0) + weight
        return nlargest(4 * limit, scores.items(), key=itemgetter(1))


def near(name: str, known: Sequence[str], limit: int = 3) -> list[str]:
    """Up to `limit` known names near a given one, best first."""
    return [found for found, score in Names(known).rank(name, limit) if score >= 30]  # noqa: PLR2004 - half a word
