"""LangChain: tools as `bind_tools` of any chat model takes them, and the system text."""

from collections.abc import Mapping, Sequence
from typing import Any

from packbelt.belt import Belt
from packbelt.model import ToolCall, ToolResult
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.openai import said
from packbelt.providers.openai_chat import functions
from packbelt.providers.plan import plan
from packbelt.providers.reading import get, items, parts
from packbelt.providers.target import Target

IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What goes back as an image: what every provider behind it takes."""


def build(target: Target, belt: Belt, *, strict: bool) -> Form:
    """`tools` for `model.bind_tools`, and `system_prompt`.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
    """
    made = plan(belt, target, strict=strict)
    tools = functions(made)
    return Form(
        target.name,
        {"system_prompt": made.system, "tools": tools},
        made.names,
        Enforcement(target, target.enforcement, made.shown),
        made.system,
        made.diagnostics,
        Codec(calls, text, results),
    )


def calls(reply: Any) -> list[ToolCall]:
    """The calls of an `AIMessage`, those included whose arguments are no JSON: the gate answers them."""
    broken = get(reply, "invalid_tool_calls", ())
    return [
        ToolCall(get(call, "id", ""), get(call, "name", ""), get(call, "args", {}))
        for call in (*get(reply, "tool_calls", ()), *broken)
    ]


def text(reply: Any) -> str:
    """The text of an `AIMessage`."""
    content = get(reply, "content", "")
    if isinstance(content, str):
        return content
    return "".join(
        part if isinstance(part, str) else get(part, "text", "") for part in items(reply, "content")
    )


def results(found: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """One tool message for each call, as any chat model takes messages."""
    return [
        {
            "role": "tool",
            "tool_call_id": one.id,
            "name": one.call.name,
            "content": content(one),
            "status": "error" if one.is_error else "success",
        }
        for one in found
    ]


def content(result: ToolResult) -> str | list[dict[str, Any]]:
    """A result as the content of a tool message: text, or text and images.

    Not every provider behind LangChain has a mark for an error, so the text says so too.
    """
    found = parts(result, IMAGES)
    if all(isinstance(part, str) for part in found):
        return said(result)
    return [{"type": "text", "text": part} if isinstance(part, str) else _image(part) for part in found]


def _image(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "image", "base64": block.get("data", ""), "mime_type": block["mimeType"]}
