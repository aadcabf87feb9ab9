"""Names of tools in running text.

A known name counts as named where it stands in backticks, alone or as a call, and, if it holds an
underscore, wherever it stands as a whole word: `list` in a sentence is a verb, file_write is not. Paths,
addresses and file names are no mentions.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

NOT_HERE = "not available here"
"""Said in the same sentence, it marks a name as one that the reader is not promised."""

_WORD = re.compile(r"(?<![\w/.$@-])\w(?:[\w/-]*\w)?(?![\w/@-]|\.\w)", re.ASCII)
_SPAN = re.compile(r"`([^`\n]*)`")
_CALL = re.compile(r"\s*([\w/-]+)\s*(?:\(.*)?", re.ASCII)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A tool's name in a text.

    Attributes:
        name: the name.
        line: on which line of the text, counted from 0.
    """

    name: str
    line: int


def mentions(text: str, known: Collection[str]) -> Iterator[Mention]:
    """Known names that the text names as tools, each once, at its first place, in the order of the text.

    Args:
        text: prose or Markdown; placeholders are passed over.
        known: names worth finding.
    """
    plain = _PLACEHOLDER.sub(lambda found: " " * len(found.group()), text)
    places: dict[int, str] = {}
    for span in _SPAN.finditer(plain):
        inner = _CALL.fullmatch(span.group(1))
        if inner and inner.group(1) in known:
            places[span.start(1) + inner.start(1)] = inner.group(1)
    for found in _WORD.finditer(plain):
        name = found.group()
        if "_" in name and name in known:
            places[found.start()] = name
    ends = [0, *(found.end() for found in _SENTENCE_END.finditer(plain)), len(plain)]
    seen: set[str] = set()
    for place, name in sorted(places.items()):
        start = max(end for end in ends if end <= place)
        sentence = plain[start : next((end for end in ends if end > place), len(plain))]
        if name not in seen and NOT_HERE not in _BLANKS.sub(" ", sentence).lower():
            seen.add(name)
            yield Mention(name, plain.count("\n", 0, place))
