"""The name of an agent whose file does not load: read for sure, or guessed.

A broken file must never make room for a wider one, so it matters whether its name is known. Where it is not,
the file may be any agent's.
"""

import re

from packbelt.catalog.drafts import name_problem, read_front_matter
from packbelt.catalog.front_matter import FENCE, has_front_matter
from packbelt.catalog.near import nearest
from packbelt.catalog.schema import AgentFile
from packbelt.catalog.yaml import parse_yaml
from packbelt.model import PackbeltError

_TOP = re.compile(r"""(["']?)name\1[ \t]*:""")
_LOOSE = re.compile(r"""[ \t]*(?:\{.*?[{, \t]|\{)?["']?name["']?[ \t]*:[ \t]*([^,}\n]*)""", re.IGNORECASE)
_WORD = re.compile(r"""([A-Za-z_][\w-]*)["']?[ \t]*:""")
_PAGE = 8
"""Words from which on a text is a page and not the rest of one."""
_KEYS = frozenset(AgentFile.model_fields) - {"name"}


def agent_name(text: str, stem: str, *, imported: bool) -> tuple[str, bool]:
    """The name of an agent whose file is broken, and whether it is sure.

    Args:
        text: what could be read of the file, perhaps with U+FFFD for what could not.
        stem: the file's name, which is the agent's where packbelt's own format gives none.
        imported: whether the file is in another tool's format, where a name must be given.
    """
    if imported and _plain_page(text):
        return stem, True
    try:
        data = read_front_matter(text, "")[0].data
    except PackbeltError:
        return _from_lines(text, stem, imported=imported)
    name = data.get("name")
    if isinstance(name, str) and not name_problem(name.strip() if imported else name):
        return name.strip(), True
    # An unknown key may be a misspelt `name`. Where a name must be given, only one that looks like it.
    if imported:
        return stem, "name" not in data and not any(nearest(str(key), ("name",)) for key in data)
    return stem, "name" not in data and _KEYS.issuperset(data)


def _plain_page(text: str) -> bool:
    """Whether a file beside imported agents is just a page: whole, without front matter, and naming nobody.

    What is left of an agent's file that broke off starts with a fence, or is next to nothing.
    """
    if "\ufffd" in text or text.lstrip("\ufeff \t\n").startswith("-") or len(text.split()) < _PAGE:
        return False
    return not any(_LOOSE.match(line) or _like_name(line) for line in text.split("\n"))


def _like_name(line: str) -> bool:
    word = _WORD.match(line.lstrip("\"' \t"))
    return word is not None and bool(nearest(word.group(1), ("name",)))


def _from_lines(text: str, stem: str, *, imported: bool) -> tuple[str, bool]:
    head, closed = _head(text)
    found = [i for i, line in enumerate(head) if _TOP.match(line)]
    names = {_alone(head, i) for i in found}
    if len(names) == 1 and (name := names.pop()):
        return name, True
    for line in head:
        if loose := _LOOSE.match(line):
            name = loose.group(1).split(" #")[0].strip().strip("\"'").strip()
            return (stem if name_problem(name) else name), False
    return stem, closed and not imported and not any(map(_may_name, head))


def _head(text: str) -> tuple[list[str], bool]:
    """The lines that look like front matter, each whole, and whether they are fenced on both sides.

    The last line of a file that breaks off is no whole one. Without both fences a blank line ends the head.
    """
    lines = text.split("\n")[:-1]
    opened = has_front_matter(text)
    end = next((i for i, line in enumerate(lines) if i and line.rstrip() == FENCE), None)
    if opened and end is not None:
        return lines[1:end], True
    while lines and not lines[0].strip(" \t-"):
        del lines[0]
    stop = next((i for i, line in enumerate(lines) if not line.strip() or line.rstrip() == FENCE), len(lines))
    return lines[:stop], False


def _alone(head: list[str], i: int) -> str:
    """The name that a line gives by itself; empty where it gives none, or goes on in the next."""
    if i + 1 < len(head) and head[i + 1][:1] in (" ", "\t"):
        return ""
    try:
        data = parse_yaml(head[i], "").data
    except PackbeltError:
        return ""
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) and "\ufffd" not in name and not name_problem(name) else ""


def _may_name(line: str) -> bool:
    """Whether a line may hold the name under a key that is not read as it."""
    words = _WORD.findall(line)
    top = line[:1] not in (" ", "\t", "", "#", "]", "}", "-")
    unread = not words or not line.lstrip("\"'").startswith(words[0]) or words[0] not in _KEYS
    return (top and unread) or any(word not in _KEYS and nearest(word, ("name",)) for word in words)
