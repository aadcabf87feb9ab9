"""Text that several tools repeat: what a belt would save if it stood there once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packbelt.catalog.tokens import ENCODING, count
from packbelt.model import Tool
from packbelt.model.encode import compact
from packbelt.model.text import cut, one_line

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORTEST = 40
"""Characters; shorter text is not worth sharing."""
_DEEPEST = 6
"""Levels of a schema that are looked into."""
_SAMPLE = 100
"""Bytes of a sample."""


@dataclass(frozen=True, slots=True)
class SharedText:
    """A fragment that stands in more than one place.

    Attributes:
        sample: its beginning, on one line.
        count: how often it stands there.
        tokens: its tokens, under o200k_base.
        saved: tokens of all its repetitions but the first.
        tools: wire names of the tools that have it, each once, in order.
    """

    sample: str
    count: int
    tokens: int
    saved: int
    tools: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    count: int = 0
    tools: dict[str, None] = field(default_factory=dict)


def shared_text(tools: Sequence[Tool], *, least: int = 20) -> list[SharedText]:
    """Descriptions, sentences of them, schemas and parts of schemas that tools repeat, dearest first.

    No token is counted as saved twice: within a repetition of a larger fragment nothing smaller is sought.

    Args:
        tools: the tools, in the order they are sent.
        least: tokens that a fragment must save to be reported.

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    found: dict[str, _Found] = {}
    for tool in tools:
        _look(tool, found)
    shared = []
    for text, where in found.items():
        if where.count > 1:
            tokens = count(text, ENCODING)
            saved = tokens * (where.count - 1)
            if saved >= least:
                shared.append(
                    SharedText(
                        cut(one_line(text[: 4 * _SAMPLE]), _SAMPLE),
                        where.count,
                        tokens,
                        saved,
                        tuple(where.tools),
                    )
                )
    return sorted(shared, key=lambda each: (-each.saved, each.sample))


def _look(tool: Tool, found: dict[str, _Found]) -> None:
    def known(text: str) -> bool:
        """Note a fragment; whether it has been seen before."""
        if len(text) < _SHORTEST:
            return False
        entry = found.setdefault(text, _Found())
        entry.count += 1
        entry.tools[tool.wire_name] = None
        return entry.count > 1

    def walk(node: object, depth: int) -> None:
        if not known(_text(node)) and depth < _DEEPEST:
            for child in _children(node):
                walk(child, depth + 1)

    if not known(tool.description):
        sentences = _SENTENCE.split(tool.description)
        for sentence in sentences if len(sentences) > 1 else ():
            known(sentence)
    walk(tool.input_schema, 0)


def _children(node: object) -> Iterator[object]:
    if isinstance(node, Mapping):
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _text(node: object) -> str:
    if isinstance(node, str):
        return node
    if not isinstance(node, Mapping | list):
        return ""
    try:
        return compact(node)
    except RecursionError:
        return ""
