"""Method `openai`: what OpenAI is estimated to bill for function tools.

Exact on the requests that were measured on the API: those of github.com/hmarr/openai-chat-tokens (MIT,
gpt-3.5-turbo, cl100k_base) and the one of OpenAI's cookbook (gpt-4; gpt-4o under o200k_base). For later
models the rendering is unverified: OpenAI says that tools are hard to count locally and offers
`responses.input_tokens.count` for the true figure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from packbelt.catalog.tokens import ENCODING, ByContent, Encoding, count
from packbelt.cost.openai_form import FOOTER, HEADER, block
from packbelt.cost.scheme import Figures, Scheme, section_text
from packbelt.model import Tool

DATE = "2026-11"
"""When the measurements were last compared with other published ones."""

_REQUEST = 9
"""Tokens that a request with functions costs besides their text."""
_SYSTEM = -4
"""What a system message in a request with functions takes off again."""
_LESS, _MORE = 15, 10
"""Percent: how far the other published method (the cookbook's constants, measured on gpt-4o) lies from
this one on the tools of five real servers, -15 to +8."""

_BEFORE = ";\n\n"
"""What ends the block before; every block begins after this or, the first one, after a like `{`."""


def openai(encoding: Encoding = ENCODING) -> Scheme:
    """The scheme under an encoding: o200k_base from gpt-4o on, cl100k_base before.

    It assumes that the request has a system message, as a belt's prompt is one.
    """

    def band(figures: Figures) -> tuple[int, int]:
        tools = figures.tools
        return (
            tools * (100 - _LESS) // 100 + figures.sections,
            -(-tools * (100 + _MORE) // 100) + figures.sections,
        )

    return Scheme(
        id="openai",
        date=DATE,
        about=(
            "tokens of OpenAI's TypeScript namespace of the tools, as inferred from what the API billed for "
            f"gpt-3.5-turbo; the band is the tools' -{_LESS} to +{_MORE} %"
        ),
        encoding=encoding,
        overhead=_frame(encoding) + _REQUEST + _SYSTEM,
        line=lambda tool: _line(tool, encoding),
        text=lambda text: count(section_text(text), encoding),
        band=band,
    )


def request_tokens(
    messages: Sequence[Mapping[str, Any]],
    functions: Sequence[Mapping[str, Any]] = (),
    function_call: str | Mapping[str, Any] | None = None,
    *,
    encoding: Encoding = "cl100k_base",
) -> int:
    """Prompt tokens of a whole Chat Completions request.

    Args:
        messages: `role`, `content` and, where they have them, `name` and `function_call`.
        functions: `name`, `description` and `parameters` of each.
        function_call: `auto`, `none` or `{"name": ...}`.
        encoding: cl100k_base for the models that were measured.

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    system = next((i for i, message in enumerate(messages) if message["role"] == "system"), None)
    tokens = 3  # what primes the reply
    for position, message in enumerate(messages):
        end = "\n" if functions and position == system else ""
        tokens += _message(message, end, encoding)
    if functions:
        tokens += _frame(encoding) + _REQUEST + (_SYSTEM if system is not None else 0)
        tokens += sum(
            _block(each["name"], each.get("description") or "", each["parameters"], encoding)
            for each in functions
        )
    if isinstance(function_call, Mapping):
        tokens += count(function_call["name"], encoding) + 4
    elif function_call == "none":
        tokens += 1
    return tokens


def _message(message: Mapping[str, Any], end: str, encoding: Encoding) -> int:
    call = message.get("function_call")
    texts = [message["role"], (message.get("content") or "") + end, message.get("name") or ""]
    tokens = 3
    if message.get("name"):
        tokens += 1
    if message["role"] == "function":
        tokens -= 2
    if call:
        texts += [call["name"], call["arguments"]]
        tokens += 3
    return tokens + sum(count(text, encoding) for text in texts)


def _frame(encoding: Encoding) -> int:
    return count(HEADER, encoding) + count(FOOTER, encoding)


_LINES: dict[Encoding, ByContent] = {"o200k_base": ByContent(), "cl100k_base": ByContent()}
"""By a tool's own line, which holds all that a model sees of it."""


def _line(tool: Tool, encoding: Encoding) -> int:
    lines = _LINES[encoding]
    key = lines.key(tool.line)
    found = lines.get(key)
    if found is None:
        found = _block(tool.wire_name, tool.description, tool.input_schema, encoding)
        lines.put(key, found)
    return found


def _block(name: str, description: str, parameters: Mapping[str, Any], encoding: Encoding) -> int:
    """Tokens of a function's block in its place.

    Counted behind the end of another block and not alone: under o200k_base the `//` of a description
    joins the blank line before it into one token.
    """
    return count(_BEFORE + block(name, description, parameters), encoding) - count(_BEFORE, encoding)
