"""Strict YAML and JSON with the line of each key.

YAML is read from the parser's events, so that anchors, aliases, tags and deep nesting are refused before
anything is built from them. Plain scalars follow the YAML 1.2 core schema: only true, false, null,
integers and floats mean more than their text; `yes`, `off`, dates and 1:30 are strings.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from packbelt.model import PackbeltError, Where, WorkspaceError

Path = tuple[str | int, ...]

MAX_DEPTH = 100
"""Levels of nesting; JSON Schemas in the wild stay far below."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FOREIGN = re.compile("[^\t\n -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_DIGITS = 1000
_QUOTE = "put the value in quotes"


@dataclass(frozen=True, slots=True)
class Document:
    """A file's data and where each part of it stands.

    Attributes:
        data: plain dicts, lists and scalars.
        lines: line of each key and list entry, by its path from the top; the empty path is the top.
        file: the name in messages.
    """

    data: Any
    file: str
    lines: Mapping[Path, int] = field(default_factory=dict)

    def where(self, *path: str | int) -> Where:
        """The place of a path, or of the nearest part above it that has one."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return Where(self.file, line)
        return Where(self.file)


def parse_yaml(
    text: str, file: str, *, first_line: int = 1, error: type[PackbeltError] = WorkspaceError
) -> Document:
    """One YAML document.

    Args:
        text: the document.
        file: its name in messages.
        first_line: the line of the file on which the text begins.
        error: what is raised.

    Raises:
        PackbeltError: syntax, a duplicate key, an anchor, alias, tag or merge key, a tab that indents, too
            deep nesting, or a number that JSON cannot carry.
    """
    return _Builder(text, file, first_line, error).build()


def parse_json(
    text: str, file: str, *, error: type[PackbeltError] = WorkspaceError, lines: bool = True
) -> Document:
    """One JSON document.

    Args:
        text: the document.
        file: its name in messages.
        error: what is raised.
        lines: whether to work out the line of each key, which costs more than the parsing.

    Raises:
        PackbeltError: syntax, a duplicate key, too deep nesting, or a number that JSON does not have.
    """
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as problem:
        mend = "finish the file: it ends too early" if not text[problem.pos :].strip() else ""
        mend = mend or "check commas, quotes and brackets around this place; JSON takes no comments"
        raise error(
            f"is not valid JSON: {problem.msg}", where=Where(file, problem.lineno), mend=mend
        ) from None
    except _DuplicateKeyError as problem:
        raise error(
            f"key {problem.key!r} stands twice in one object",
            where=Where(file, _second(text, problem.key)),
            mend="keep one of them",
            name=problem.key,
        ) from None
    except RecursionError:
        raise error("is nested too deeply", where=Where(file), mend="flatten it") from None
    except ValueError as problem:
        raise error(
            f"is not valid JSON: {problem}", where=Where(file), mend="write a finite number"
        ) from None
    if _SURROGATE.search(text) and not encodable(data):
        raise error("holds half of a surrogate pair", where=Where(file), mend="write the whole character")
    return Document(data, file, _json_lines(text, file) if lines else {})


def encodable(data: object) -> bool:
    """Whether UTF-8 can carry the data: JSON's escapes can spell halves of characters."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _DuplicateKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return data


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _second(text: str, key: str) -> int:
    """The line of the second time that a key is written; 0 where its second spelling is another."""
    places = [
        found.start() for found in re.finditer(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)
    ]
    return text.count("\n", 0, places[1]) + 1 if len(places) > 1 else 0


def _json_lines(text: str, file: str) -> Mapping[Path, int]:
    """JSON is YAML but for rare escapes; where it is not, lines are left out."""
    try:
        return parse_yaml(text, file).lines
    except PackbeltError:
        return {}


class _Frame:
    """A container under construction."""

    __slots__ = ("key", "path", "value")

    def __init__(self, value: "dict[str, Any] | list[Any]", path: Path) -> None:
        self.value = value
        self.path = path
        self.key: str | None = None


class _Builder:
    def __init__(self, text: str, file: str, first_line: int, error: type[PackbeltError]) -> None:
        self.text = text
        self.file = file
        self.first_line = first_line
        self.error = error
        self.lines: dict[Path, int] = {(): first_line}
        self.frames: list[_Frame] = []
        self.data: Any = None
        self.documents = 0

    def build(self) -> Document:
        if found := _FOREIGN.search(self.text):
            line = self.text.count("\n", 0, found.start()) + self.first_line
            problem = f"holds the control character U+{ord(found.group()):04X}"
            raise self.error(problem, where=Where(self.file, line), mend="remove it")
        try:
            for event in yaml.parse(self.text, Loader=_LOADER):
                self.take(event)
        except yaml.MarkedYAMLError as problem:
            raise self.syntax(problem) from None
        except yaml.YAMLError as problem:
            raise self.error(f"is not valid YAML: {problem}", where=Where(self.file)) from None
        return Document(self.data, self.file, self.lines)

    def refuse(self, event: yaml.Event, problem: str, mend: str) -> NoReturn:
        raise self.error(problem, where=Where(self.file, self.line(event)), mend=mend)

    def line(self, event: yaml.Event) -> int:
        return (event.start_mark.line if event.start_mark else 0) + self.first_line

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            self.refuse(
                event, f"`*{event.anchor}` is a YAML alias, which is not taken", f"write it out, or {_QUOTE}"
            )
        if (anchor := getattr(event, "anchor", None)) is not None:
            self.refuse(event, f"`&{anchor}` is a YAML anchor, which is not taken", f"remove it, or {_QUOTE}")
        if (tag := getattr(event, "tag", None)) is not None:
            self.refuse(event, f"`{tag}` is a YAML tag, which is not taken", f"remove it, or {_QUOTE}")
        if isinstance(event, yaml.ScalarEvent):
            self.scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self.open({}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self.open([], event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.frames.pop()
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self.refuse(
                    event,
                    "a second YAML document begins here",
                    "keep one document in a file, and write nothing below a line `...`",
                )

    def scalar(self, event: yaml.ScalarEvent) -> None:
        frame = self.frames[-1] if self.frames else None
        if frame is None or isinstance(frame.value, list) or frame.key is not None:
            self.put(self.plain(event) if event.implicit[0] else event.value, event)
            return
        key = event.value
        if key == "<<" and event.implicit[0]:
            self.refuse(event, "`<<` is a YAML merge key, which is not taken", "write the keys out")
        if key in frame.value:
            first = self.lines[(*frame.path, key)]
            self.refuse(event, f"key {key!r} stands twice, first on line {first}", "keep one of them")
        frame.key = key
        self.lines[(*frame.path, key)] = self.line(event)

    def open(self, value: "dict[str, Any] | list[Any]", event: yaml.Event) -> None:
        frame = self.frames[-1] if self.frames else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None:
            self.refuse(event, "a key is a list or a mapping", f"a key is text; if this is a value, {_QUOTE}")
        if len(self.frames) >= MAX_DEPTH:
            self.refuse(event, f"is nested more than {MAX_DEPTH} levels deep", "flatten it")
        self.frames.append(_Frame(value, self.put(value, event)))

    def put(self, value: Any, event: yaml.Event) -> Path:
        """Store a value where it belongs, and say where that is."""
        if not self.frames:
            self.data = value
            return ()
        frame = self.frames[-1]
        if isinstance(frame.value, list):
            path = (*frame.path, len(frame.value))
            self.lines[path] = self.line(event)
            frame.value.append(value)
            return path
        key = frame.key or ""
        frame.value[key] = value
        frame.key = None
        return (*frame.path, key)

    def plain(self, event: yaml.ScalarEvent) -> str | int | float | bool | None:
        text: str = event.value
        if text in _NULLS:
            return None
        if text in _BOOLS:
            return _BOOLS[text]
        if _INT.match(text) or _BASED.match(text):
            if len(text) > _MAX_DIGITS:
                self.refuse(event, f"a number has more than {_MAX_DIGITS} digits", _QUOTE)
            return int(text, 10 if _INT.match(text) else 0)
        if _NO_NUMBER.match(text) or (_FLOAT.match(text) and math.isinf(float(text))):
            self.refuse(event, f"{text[:40]} is no finite number", f"write a finite number, or {_QUOTE}")
        return float(text) if _FLOAT.match(text) else text

    def syntax(self, problem: yaml.MarkedYAMLError) -> PackbeltError:
        mark = problem.problem_mark or problem.context_mark
        row = mark.line if mark else 0
        rows = self.text.split("\n")
        line = rows[row] if row < len(rows) else ""
        where = Where(self.file, row + self.first_line)
        blank = line[: len(line) - len(line.lstrip())]
        if "\t" in blank or "tab character" in str(problem.problem):
            return self.error(
                "a tab indents this line, and YAML takes only spaces", where=where, mend="use spaces"
            )
        if "nesting depth" in str(problem.problem):
            return self.error(f"is nested more than {MAX_DEPTH} levels deep", where=where, mend="flatten it")
        return self.error(f"is not valid YAML: {_say(problem)}", where=where, mend=_mend(problem))


def _say(problem: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (problem.context, problem.problem) if part]
    return ", ".join(parts) or "syntax error"


def _mend(problem: yaml.MarkedYAMLError) -> str:
    text = _say(problem)
    if "mapping values are not allowed" in text:
        return "put the value in quotes: it holds a colon and a blank"
    if "scanning an alias" in text or "scanning an anchor" in text:
        return "put the value in quotes: it starts with * or &"
    if "cannot start any token" in text:
        return "put the value in quotes: it starts with a character that YAML keeps for itself"
    if "end of stream" in text or "end of the stream" in text:
        return "close the quote or bracket that is open"
    return "check indentation, quotes and brackets here and on the line above"
