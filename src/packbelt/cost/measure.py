"""What a request costs: the figures of a dump, whose lines add up to its total."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from packbelt.cost.anthropic import anthropic
from packbelt.cost.neutral import neutral
from packbelt.cost.openai import openai
from packbelt.cost.scheme import Method, Scheme, tally
from packbelt.model import PackbeltError, Tool

_SCHEMES: dict[str, Callable[[], Scheme]] = {"json": neutral, "openai": openai, "anthropic": anthropic}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one request, in tokens.

    `tools` is the sum of `lines` and `overhead`; `sections` is the sum of `section_lines`; `total` is the
    sum of both. The messages of the conversation and the rest of the prompt are not part of it.

    Attributes:
        encoding: the vocabulary that was counted with.
        method: what was counted and the date of the facts behind it, as in `json@2026-11`.
        overhead: the fixed part of having tools at all; 0 where none is sent.
        tools: the tools that are sent, overhead included.
        sections: the sections of the prompt, each counted apart and with the newline behind it.
        total: tools and sections.
        if_unpacked: what `tools` would be if every callable tool were sent.
        low: the lowest total to expect on a provider's bill, as the method's band has it.
        high: the highest; budgets are compared with it.
        about: the method in words.
        lines: wire name and tokens of each tool that is sent, in order.
        section_lines: name and tokens of each section, in order.
        verified: whether a provider confirmed the figure; nothing here asks one, so it is False.
    """

    encoding: str
    method: str
    overhead: int
    tools: int
    sections: int
    total: int
    if_unpacked: int
    low: int
    high: int
    about: str
    lines: tuple[tuple[str, int], ...]
    section_lines: tuple[tuple[str, int], ...]
    verified: bool = False

    @property
    def date(self) -> str:
        """When the facts behind the method were gathered, as YYYY-MM."""
        return self.method.rpartition("@")[2]

    def to_json(self) -> dict[str, Any]:
        """The `tokens` of a dump."""
        return {
            "encoding": self.encoding,
            "method": self.method,
            "overhead": self.overhead,
            "tools": self.tools,
            "sections": self.sections,
            "total": self.total,
            "if_unpacked": self.if_unpacked,
            "low": self.low,
            "high": self.high,
            "verified": self.verified,
        }


def measure(
    tools: Sequence[Tool],
    sections: Mapping[str, str],
    callable_tools: Sequence[Tool],
    *,
    method: Method | Scheme = "json",
) -> Cost:
    """The cost of a request.

    Args:
        tools: those whose schema is sent, in order, the opener among them.
        sections: the sections that the prompt carries.
        callable_tools: every tool that could be sent: the direct ones but for openers and searches, which
            would then have nothing to do, and the packed and deferred ones.
        method: a name, or a scheme that was set to an encoding or a family of models.

    Raises:
        PackbeltError: there is no such method.
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    scheme = scheme_of(method)
    figures = tally(scheme, tools, sections)
    low, high = scheme.band(figures)
    return Cost(
        encoding=scheme.encoding,
        method=f"{scheme.id}@{scheme.date}",
        overhead=figures.overhead,
        tools=figures.tools,
        sections=figures.sections,
        total=figures.total,
        if_unpacked=tally(scheme, callable_tools, {}).tools,
        low=low,
        high=high,
        about=scheme.about,
        lines=tuple((tool.wire_name, tokens) for tool, tokens in zip(tools, figures.lines, strict=True)),
        section_lines=tuple(zip(sections, figures.section_lines, strict=True)),
    )


def line_tokens(tool: Tool, method: Method | Scheme = "json") -> int:
    """Tokens of one tool, overhead left out: the same whichever others stand beside it.

    Raises:
        PackbeltError: there is no such method.
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    return scheme_of(method).line(tool)


def scheme_of(method: Method | Scheme) -> Scheme:
    """The scheme that a method's name stands for.

    Raises:
        PackbeltError: there is no such method.
    """
    return method if isinstance(method, Scheme) else _named(method)


@cache
def _named(method: str) -> Scheme:
    if method not in _SCHEMES:
        raise PackbeltError(
            f"no method of measuring is called {method!r}", mend=f"choose one of {', '.join(_SCHEMES)}"
        )
    return _SCHEMES[method]()
