"""Method `json`: the exact tokens of the neutral request form, and a band of what providers bill for it."""

from packbelt.catalog.tokens import ENCODING, Encoding, count
from packbelt.cost.anthropic import anthropic
from packbelt.cost.openai import openai
from packbelt.cost.scheme import Figures, Scheme, section_text, tally


def neutral(encoding: Encoding = ENCODING) -> Scheme:
    """Every tool as one line of JSON with `name`, `description` and `input_schema`; exact, no overhead.

    No provider bills this form. The band says what two of them are estimated to bill for the same tools
    and sections: from OpenAI's own rendering, the leanest known, to Anthropic's newest tokenizer, the
    dearest. It always holds the exact figure itself.
    """
    lean, dear = openai(encoding), anthropic()

    def band(figures: Figures) -> tuple[int, int]:
        return (
            min(figures.total, tally(lean, figures.request, figures.prompt).total),
            max(figures.total, tally(dear, figures.request, figures.prompt).total),
        )

    return Scheme(
        id="json",
        date=max(lean.date, dear.date),
        about=(
            "exact tokens of one JSON line for each tool; "
            f"low is the estimate of {lean.id}, high that of {dear.id}"
        ),
        encoding=encoding,
        overhead=0,
        line=lambda tool: count(tool.line, encoding),
        text=lambda text: count(section_text(text), encoding),
        band=band,
    )
