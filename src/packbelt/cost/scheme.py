"""What a method of measuring is: how a tool's line and a text are counted, what is fixed, and the band."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packbelt.catalog.tokens import Encoding
from packbelt.model import Tool

Method = Literal["json", "openai", "anthropic"]
"""`json`: exact, of the neutral form; `openai` and `anthropic`: estimates of what they bill."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One method, ready to measure.

    Attributes:
        id: its name and what it was set to, as in `anthropic:opus-4.7`.
        date: when the facts it rests on were gathered, as YYYY-MM.
        about: what is counted, where the constants are from, and what the band means.
        encoding: the vocabulary that it counts with.
        overhead: tokens that a request with at least one tool costs whatever the tools are.
        line: tokens of one tool, whichever others stand beside it.
        text: tokens of one section of the prompt.
        band: from the figures, the lowest and the highest total to expect.
    """

    id: str
    date: str
    about: str
    encoding: Encoding
    overhead: int
    line: Callable[[Tool], int]
    text: Callable[[str], int]
    band: Callable[["Figures"], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Figures:
    """The tokens of one request under one scheme.

    Attributes:
        request: the tools that are sent, in order.
        prompt: the sections.
        lines: tokens of each tool, in order.
        section_lines: tokens of each section, in order.
        overhead: the fixed part; 0 where no tool is sent.
    """

    request: Sequence[Tool]
    prompt: Mapping[str, str]
    lines: tuple[int, ...]
    section_lines: tuple[int, ...]
    overhead: int

    @property
    def tools(self) -> int:
        """Tokens of the tools, overhead included."""
        return sum(self.lines) + self.overhead

    @property
    def sections(self) -> int:
        """Tokens of the sections."""
        return sum(self.section_lines)

    @property
    def total(self) -> int:
        """Tokens of both."""
        return self.tools + self.sections


def tally(scheme: Scheme, tools: Sequence[Tool], sections: Mapping[str, str]) -> Figures:
    """The figures of a request under a scheme.

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    return Figures(
        request=tools,
        prompt=sections,
        lines=tuple(map(scheme.line, tools)),
        section_lines=tuple(map(scheme.text, sections.values())),
        overhead=scheme.overhead if tools else 0,
    )


def section_text(text: str) -> str:
    """A section as it is counted: its text and the newline that parts it from the next."""
    return text + "\n"
