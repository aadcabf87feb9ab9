"""The forms in which Claude Code's users write lists of tools."""

import json
from collections.abc import Iterator

from packbelt.catalog.problems import kind_of, null_list
from packbelt.catalog.yaml import Document
from packbelt.model import Selector, WorkspaceError

_QUOTES = "\"'"


def entries_of(raw: object, key: str, document: Document) -> tuple[Selector, ...]:
    """A list of tools: a YAML list, a text with commas or blanks, or a text that looks like a list.

    Only a text as a whole is cut at blanks. In an entry of a list a blank belongs to a server's name.

    Raises:
        WorkspaceError: it is none of these.
    """
    if raw is None:
        raise null_list(key, document, key)
    if isinstance(raw, str):
        where = document.where(key)
        listed = _unwrap(raw)
        texts = [raw] if listed is None else listed
        names = [name for text in texts for name in _split(text, key, document, blanks=listed is None)]
        if listed is not None:
            names = [name.strip(_QUOTES) for name in names]
        return tuple(Selector(name, where, lenient=True) for name in names)
    if not isinstance(raw, list):
        problem = f"`{key}` is {kind_of(raw)}, not a list of names"
        raise WorkspaceError(problem, where=document.where(key), mend="write [Read, Grep]", name=key)
    found: list[Selector] = []
    for i, entry in enumerate(raw):
        where = document.where(key, i)
        if not isinstance(entry, str) or not entry.strip():
            problem = f"`{key}[{i + 1}]` is {kind_of(entry)}, not a name"
            raise WorkspaceError(problem, where=where, mend="write names only", name=key)
        found.extend(
            Selector(name, where, lenient=True) for name in _split(entry, key, document, blanks=False)
        )
    return tuple(found)


def _unwrap(text: str) -> list[str] | None:
    """The entries of a quoted flow list; None where the text is none."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        names = json.loads(text)
    except ValueError:
        return [text[1:-1]]
    return [str(name) for name in names]


def _split(text: str, key: str, document: Document, *, blanks: bool) -> Iterator[str]:
    """Names between commas, or blanks; what stands in parentheses belongs to the name before it."""
    depth, word = 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            break
        if depth == 0 and (letter == "," or (blanks and letter.isspace())):
            if word.strip():
                yield word.strip()
            word = ""
        else:
            word += letter
    if depth:
        where = document.where(key)
        raise WorkspaceError(
            f"`{key}` has a parenthesis without its other half", where=where, mend="close it"
        )
    if word.strip():
        yield word.strip()
