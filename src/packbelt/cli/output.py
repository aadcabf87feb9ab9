"""Lines and tables: colour on a terminal, plain aligned text in a pipe.

The words are the same in both. Whatever a cell holds is put on one line and freed from control characters
first, since names, descriptions and errors come from files and servers that others wrote.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import east_asian_width

import click

from packbelt.model.text import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from packbelt.model import Diagnostic

Span = str | tuple[str, str]
"""A text, or a text and its style."""

STYLES = {
    "title": "bold",
    "head": "dim",
    "dim": "dim",
    "good": "green",
    "away": "cyan",
    "bad": "red",
    "odd": "yellow",
    "sum": "bold",
}
"""What the styles of spans look like."""

STATE_STYLE = {
    "direct": "good",
    "packed": "away",
    "deferred": "away",
    "reserved": "odd",
    "over_ceiling": "odd",
    "unavailable": "odd",
    "off_belt": "dim",
    "denied": "bad",
    "unknown": "bad",
}
"""The style of each state."""

_CODE = re.compile(r"\x1b\[[0-9;]*m")
_TAIL = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")

_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What JSON need not escape, and what a terminal obeys instead of showing it."""

LEVEL_STYLE = {"error": "bad", "warning": "odd", "note": "dim"}
"""The style of each level of diagnostics."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        title: over it; a table whose titles are all empty has no head.
        align: where its cells stand.
        wraps: whether its cells may take several lines on a narrow terminal.
    """

    title: str = ""
    align: Literal["left", "right"] = "left"
    wraps: bool = False


@dataclass(slots=True)
class Table:
    """Rows of cells.

    Attributes:
        columns: its columns.
        rows: a cell for each column; missing ones at the end are empty.
        sums: rows that stand under the others, such as totals.
    """

    columns: Sequence[Column]
    rows: list[Sequence[Span]] = field(default_factory=list)
    sums: list[Sequence[Span]] = field(default_factory=list)

    def add(self, *cells: Span) -> None:
        """One more row."""
        self.rows.append(cells)

    def add_sum(self, *cells: Span) -> None:
        """One more row under the others."""
        self.sums.append(cells)


def number(value: int) -> str:
    """A figure with its thousands apart."""
    return f"{value:,}"


def several(count: int, noun: str, plural: str = "") -> str:
    """`1 tool`, `2 tools`."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def spot_of(one: "Diagnostic") -> str:
    """Where a diagnostic is about, ready to stand before its words; empty where it is nowhere."""
    return f"{one.where}: " if one.where else ""


def words_of(one: "Diagnostic", more: str = "") -> str:
    """What a diagnostic says and the mend, `more` in between."""
    return f"{one.message}{more}; {one.mend}" if one.mend else one.message + more


def line_of(one: "Diagnostic") -> str:
    """A diagnostic as one line: where, what, and the mend."""
    return spot_of(one) + words_of(one)


def say(*spans: Span) -> None:
    """One line on standard output."""
    if _console() is None:
        click.echo("".join(_text(span) for span in spans).rstrip())
    else:
        _print(*spans)


def fits(*spans: Span) -> bool:
    """Whether one line of the terminal holds the spans; elsewhere any line does."""
    console = _console()
    return console is None or sum(_width(_text(span)) for span in spans) <= console.width


def title(*spans: Span, first: bool = False) -> None:
    """A heading, with an empty line before it unless it is the first thing said."""
    if not first:
        say("")
    head, *rest = spans
    say((_text(head), "title"), *rest)


def draw(table: Table, *, indent: int = 2) -> None:
    """A table on standard output; nothing where it has no rows."""
    if not table.rows and not table.sums:
        return
    if _console() is None:
        for line in _aligned(table):
            click.echo((" " * indent + line).rstrip())
    else:
        _draw_rich(table, indent)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def printable(text: str) -> str:
    """A text as it is where a program reads it; on a terminal, with what would control that one escaped."""
    if not sys.stdout.isatty():
        return text
    return re.sub(r"[\x00-\x08\x0b-\x1f]", _escaped, _UNSEEN.sub(_escaped, text))


def json_text(data: Any, encoding: str = "utf-8") -> str:
    """JSON for programs and people; what the encoding cannot carry or would control a terminal is escaped."""
    text = _UNSEEN.sub(_escaped, json.dumps(data, ensure_ascii=False, indent=2))
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(data, indent=2)
    return text


def write_json(data: Any) -> None:
    """JSON on standard output."""
    click.echo(json_text(data, getattr(sys.stdout, "encoding", None) or "utf-8"))


def note(line: str) -> None:
    """One line on standard error."""
    click.echo(f"packbelt: {one_line(line)}", err=True)


def _text(span: Span) -> str:
    """The words of a span on one line; the blanks around them are layout and stay."""
    words = span if isinstance(span, str) else span[0]
    if words.isascii() and words.isprintable():
        return words
    lead = words[: len(words) - len(words.lstrip(" "))]
    tail = words[len(words.rstrip(" ")) :]
    return lead + one_line(words) + tail if words.strip() else words


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _aligned(table: Table) -> Iterable[str]:
    titles = [column.title for column in table.columns]
    head = [titles] if any(titles) else []
    rows: list[list[str]] = [
        [_text(cell) for cell, _ in zip_longest(row, table.columns, fillvalue="")]
        for row in (*head, *table.rows, *table.sums)
    ]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(table.columns))]
    for row in rows:
        cells = []
        for cell, width, column in zip(row, widths, table.columns, strict=True):
            blanks = " " * (width - _width(cell))
            cells.append(blanks + cell if column.align == "right" else cell + blanks)
        yield "  ".join(cells)


# on a terminal: rich is imported here and nowhere else ----------------------------------------------------


@cache
def _console_of(stream: object) -> "Console | None":
    if not getattr(stream, "isatty", lambda: False)():
        return None
    from rich.console import Console
    from rich.theme import Theme

    theme = Theme({name: style for name, style in STYLES.items() if name != style})
    return Console(theme=theme, highlight=False, markup=False, emoji=False)


def _console() -> "Console | None":
    return _console_of(sys.stdout)


def _rich_text(*spans: Span) -> "Text":
    from rich.text import Text

    text = Text()
    for span in spans:
        text.append(_text(span), style="" if isinstance(span, str) else span[1])
    return text


def _print(*spans: Span) -> None:
    """A line; where it is too long, its further lines stand under its first."""
    from rich.padding import Padding

    console = _console()
    if console is None:
        return
    text = _rich_text(*spans)
    indent = len(text.plain) - len(text.plain.lstrip(" "))
    _show(console, Padding(text[indent:], (0, 0, 0, indent), expand=False) if indent else text)


def _draw_rich(table: Table, indent: int) -> None:
    from rich.padding import Padding
    from rich.table import Table as RichTable

    console = _console()
    shown = RichTable(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=any(column.title for column in table.columns),
        header_style="head",
    )
    for column in table.columns:
        shown.add_column(
            column.title, justify=column.align, no_wrap=not column.wraps, overflow="fold", vertical="top"
        )
    for row in (*table.rows, *table.sums):
        shown.add_row(*(_rich_text(cell) for cell, _ in zip_longest(row, table.columns, fillvalue="")))
    if console is not None:
        _show(console, Padding(shown, (0, 0, 0, indent), expand=False))


def _show(console: "Console", shown: "RenderableType") -> None:
    """Print without the blanks that fill lines up: they wrap when a terminal narrows, and copy along."""
    with console.capture() as captured:
        console.print(shown)
    for line in captured.get().splitlines():
        click.echo(_TAIL.sub(lambda tail: "".join(_CODE.findall(tail[0])), line))
