"""The forms in which Claude Code's users write lists of tools."""

import json
from collections.abc import Iterator

from packbelt.catalog.problems import kind_of, null_list
from packbelt.catalog.yaml import Document
from packbelt.model import Selector, WorkspaceError

_QUOTES = "\"'"


def entries_of(raw: object, key: str, document: Document) -> tuple[Selector, ...]:
    """A list of tools: a YAML list, a text with commas or blanks, or a text that looks like a list.

    Raises:
        WorkspaceError: it is none of these.
    """
    if raw is None:
        raise null_list(key, document, key)
    if isinstance(raw, str):
        where = document.where(key)
        return tuple(Selector(name, where, lenient=True) for name in _split(_unwrap(raw), key, document))
    if not isinstance(raw, list):
        problem = f"`{key}` is {kind_of(raw)}, not a list of names"
        raise WorkspaceError(problem, where=document.where(key), mend="write [Read, Grep]", name=key)
    found: list[Selector] = []
    for i, entry in enumerate(raw):
        where = document.where(key, i)
        if not isinstance(entry, str) or not entry.strip():
            problem = f"`{key}[{i + 1}]` is {kind_of(entry)}, not a name"
            raise WorkspaceError(problem, where=where, mend="write names only", name=key)
        found.extend(Selector(name, where, lenient=True) for name in _split(entry, key, document))
    return tuple(found)


def _unwrap(text: str) -> str:
    """A quoted flow list without its brackets and inner quotes."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return text
    try:
        names = json.loads(text)
    except ValueError:
        names = [part.strip().strip(_QUOTES) for part in text[1:-1].split(",")]
    return ", ".join(str(name) for name in names)


def _split(text: str, key: str, document: Document) -> Iterator[str]:
    """Names between commas and blanks; what stands in parentheses belongs to the name before it."""
    depth, word = 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            break
        if depth == 0 and (letter == "," or letter.isspace()):
            if word:
                yield word
            word = ""
        else:
            word += letter
    if depth:
        where = document.where(key)
        raise WorkspaceError(
            f"`{key}` has a parenthesis without its other half", where=where, mend="close it"
        )
    if word:
        yield word
