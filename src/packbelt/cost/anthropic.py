"""Method `anthropic`: what Anthropic is estimated to bill for tools.

Anthropic publishes no tokenizer and no rendering. The estimate is a dated overhead (`claude_families`) plus,
for each tool, the line in which Claude's own tool search shows one, counted under o200k_base and scaled by
the measured ratio of the two vocabularies. `messages.count_tokens` gives the provider's own estimate.
"""

from packbelt.catalog.tokens import ENCODING, ByContent, count
from packbelt.cost.claude_families import FAMILIES, NEWEST
from packbelt.cost.scheme import Figures, Scheme, section_text
from packbelt.model import PackbeltError, Tool
from packbelt.model.encode import compact

DATE = "2026-11"
"""When the table was last compared with the documentation."""

_BAND = 10
"""Percent of the total, either way: the spread of the ratio between the tools of five real servers."""


def anthropic(family: str = NEWEST, *, forced: bool = False) -> Scheme:
    """The scheme for a family of models.

    Args:
        family: as in `opus-4.7`; see `claude_families.FAMILIES`.
        forced: whether the tool choice makes the model call a tool.

    Raises:
        PackbeltError: no figures are published for that family.
    """
    figures = FAMILIES.get(family)
    if figures is None:
        raise PackbeltError(
            f"no figures are known for the Anthropic models {family!r}",
            mend=f"choose one of {', '.join(FAMILIES)}",
            name=family,
        )
    percent = figures.percent
    overhead = figures.forced if forced else figures.auto
    return Scheme(
        id=f"anthropic:{family}",
        date=DATE,
        about=(
            f"{overhead} tokens of overhead as documented in {figures.as_of}, and {percent} % of the "
            f"{ENCODING} tokens of one <function> line for each tool; the band is -{_BAND} to +{_BAND} %"
        ),
        encoding=ENCODING,
        overhead=overhead,
        line=lambda tool: _scaled(_line(tool), percent),
        text=lambda text: _scaled(count(section_text(text)), percent),
        band=_band,
    )


def function_line(tool: Tool) -> str:
    """A tool as Claude's tool search shows it."""
    head = compact({"name": tool.wire_name, "description": tool.description})[:-1] + ',"input_schema":'
    # The schema is cut from the tool's own line and not written again: it is the same text, and a schema
    # that was nested just within the limit of recursion there may be just beyond it here.
    schema = tool.line.removeprefix(head).removesuffix("}\n")
    description, name = compact(tool.description), compact(tool.wire_name)
    return f'<function>{{"description":{description},"name":{name},"parameters":{schema}}}</function>\n'


_LINES = ByContent()
"""By a tool's own line, which holds all that a model sees of it."""


def _line(tool: Tool) -> int:
    key = _LINES.key(tool.line)
    found = _LINES.get(key)
    return _LINES.put(key, count(function_line(tool))) if found is None else found


def _scaled(tokens: int, percent: int) -> int:
    """Rounded to the nearest token, half up, so that each line is whole and the lines add up."""
    return (tokens * percent + 50) // 100


def _band(figures: Figures) -> tuple[int, int]:
    total = figures.total
    return total * (100 - _BAND) // 100, -(-total * (100 + _BAND) // 100)
