"""Search over tools by what they do: BM25 over names and descriptions, pure Python postings.

Why not a library: the fast ones need numpy or a compiled index that outlives the catalogue, and the
pure ones are no shorter than these lines.
"""

import math
from collections.abc import Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING

from packbelt.belt.names import loose, words
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import Registry, bits
from packbelt.model import Tool
from packbelt.model.encode import compact
from packbelt.model.text import one_line

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

_K1 = 1.2
_B = 0.75
_NAME_WEIGHT = 3
_TELLING = 0.1
"""Share of the strongest word's weight below which a word is left out of a query."""
_DESCRIPTION = 600
"""Letters of a description that are indexed: what a tool does is said first."""


class Postings:
    """An inverted index over tools.

    Args:
        tools: in bit order.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._postings: dict[str, list[tuple[int, float]]] = {}
        self._names: dict[str, int] = {}
        lengths: list[int] = []
        counted: list[dict[str, int]] = []
        for i, tool in enumerate(tools):
            name = loose(tool.name)
            self._names[name] = self._names.get(name, 0) | 1 << i
            terms = dict.fromkeys(words(tool.description[:_DESCRIPTION]), 1)
            for word in words(tool.id.source.partition(":")[2] + " " + tool.name):
                terms[word] = terms.get(word, 0) + _NAME_WEIGHT
            counted.append(terms)
            lengths.append(sum(terms.values()))
        mean = (sum(lengths) / len(lengths)) if lengths else 1.0
        for i, terms in enumerate(counted):
            norm = _K1 * (1 - _B + _B * lengths[i] / mean)
            entries = {n: (i, n * (_K1 + 1) / (n + norm)) for n in set(terms.values())}
            for word, frequency in terms.items():
                self._postings.setdefault(word, []).append(entries[frequency])
        self._size = len(lengths)

    def search(self, query: str, among: int, limit: int) -> list[int]:
        """Bits of the best tools among those of a mask; an exact name always comes first."""
        exact = list(bits(self._names.get(loose(query.strip()), 0) & among))
        scores: dict[int, float] = {}
        for weight, postings in self._weighted(query):
            for i, score in postings:
                scores[i] = scores.get(i, 0.0) + weight * score
        inside = ((-score, i) for i, score in scores.items() if among >> i & 1)
        found = [i for _, i in nsmallest(limit + len(exact), inside) if i not in exact]
        return (exact + found)[:limit]

    def _weighted(self, query: str) -> list[tuple[float, list[tuple[int, float]]]]:
        """Weight and postings of each word of a query; a word that nearly every tool has says nothing."""
        found = []
        for word in sorted(words(query[:500])):
            postings = self._postings.get(word, [])
            weight = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            found.append((weight, postings))
        strongest = max((weight for weight, _ in found), default=0.0)
        return [(weight, postings) for weight, postings in found if weight >= strongest * _TELLING]


def postings_of(registry: Registry) -> Postings:
    """The index over a registry's tools, built when first asked for."""
    found: Postings | None = registry.memo.get("postings")
    if found is None:
        found = registry.memo["postings"] = Postings(registry.tools)
    return found


def search_in(belt: "Belt", among: int, query: str, limit: int = 5) -> list[Tool]:
    """The tools of a mask that fit a query, best first."""
    found = postings_of(belt.registry).search(query, among, limit)
    return [belt.registry.tools[i] for i in found]


def find_tools(belt: "Belt", query: str, limit: int = 5) -> list[Tool]:
    """The callable tools that are not sent and fit a query, best first."""
    return search_in(belt, belt.deferred | belt.packed, query, limit)


def found_text(tools: Sequence[Tool], spell: Spell = str) -> str:
    """The answer of `find_tools`: names to call, hence in the target's spelling."""
    if not tools:
        return "No tool fits. Try other words for what it should do."
    blocks = [f"{spell(t.wire_name)}: {one_line(t.description)}\n{compact(t.input_schema)}" for t in tools]
    return "\n\n".join(["Call any of these by its name.", *blocks])
