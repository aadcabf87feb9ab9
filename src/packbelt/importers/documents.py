"""Other people's configuration files as documents with the line of each key: JSON with comments, and TOML."""

import re
import tomllib
from datetime import date, datetime, time
from typing import Any

from packbelt.catalog.text import MAX_FILE
from packbelt.catalog.yaml import MAX_DEPTH, Document, Path, parse_json
from packbelt.model import Where, WorkspaceError

_TEXT = r'"(?:[^"\\\n]|\\.)*"?'
"""A string; one that is not closed ends with its line, so that no letter is looked at twice."""
_JSON = re.compile(_TEXT + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_TEXT + r"|,(?=\s*[}\]])", re.DOTALL)
_HEADER = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(
    r"\s*((?:\"[^\"]*\"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:\"[^\"]*\"|'[^']*'|[A-Za-z0-9_-]+))*)\s*="
)
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_DOTS = 2000
"""Most dots in one line: reading a dotted key takes the square of them."""
_TOML_LINE = re.compile(r"\(at line (\d+)")


def read_json(text: str, file: str) -> Document:
    """JSON as editors take it: comments and a comma before a closing bracket are passed over.

    The lines of keys are left out of a file of over 1 MiB, whose parsing they would double.

    Raises:
        WorkspaceError: it is no such JSON, or one key stands twice in one object.
    """
    plain = _JSON.sub(_kept, text) if "//" in text or "/*" in text else text
    return parse_json(_COMMA.sub(_kept, plain), file, lines=len(text) <= MAX_FILE)


def _kept(found: re.Match[str]) -> str:
    """A string as it is; of anything else only the line ends, so that lines stay where they are."""
    text = found.group()
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)


def read_toml(text: str, file: str) -> Document:
    """TOML; dates become text.

    Raises:
        WorkspaceError: it is not TOML, or nested too deeply.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _DOTS:
            raise WorkspaceError(
                "has a line with too many dots", where=Where(file, number), mend="shorten it"
            )
    try:
        data = _plain(tomllib.loads(text), 0)
    except tomllib.TOMLDecodeError as problem:
        spot = _TOML_LINE.search(str(problem))
        where = Where(file, int(spot.group(1)) if spot else 0)
        said = str(problem).split(" (at ", 1)[0]
        raise WorkspaceError(f"is not valid TOML: {said}", where=where, mend="mend this line") from None
    except (RecursionError, ValueError):
        raise WorkspaceError("is nested too deeply", where=Where(file), mend="flatten it") from None
    return Document(data, file, _toml_lines(text))


def _plain(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError
    if isinstance(value, dict):
        return {key: _plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part, depth + 1) for part in value]
    return value.isoformat() if isinstance(value, date | datetime | time) else value


def _toml_lines(text: str) -> dict[Path, int]:
    """The line of each table and of each key that begins a line."""
    lines: dict[Path, int] = {(): 1}
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _parts(header.group(1))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key.group(1))), number)
    return lines


def _parts(dotted: str) -> Path:
    return tuple("".join(found.groups("")) for found in _PART.finditer(dotted))
