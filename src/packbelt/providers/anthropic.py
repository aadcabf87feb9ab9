"""The Messages API: `tools` and `system`, with deferral by the API's own tool search where it is wanted."""

from collections.abc import Mapping, Sequence
from typing import Any

from packbelt.belt import Belt
from packbelt.model import Tool, ToolCall, ToolResult
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.plan import Plan, plan
from packbelt.providers.reading import get, items, parts
from packbelt.providers.target import Target

SEARCH_TYPE = "tool_search_tool_bm25_20251119"
"""The server tool that finds deferred ones, as anthropic 2.14.0 types it."""
CACHE = {"type": "ephemeral"}
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What the API takes in a result (anthropic 2.14.0, `Base64ImageSourceParam`); an error takes text alone."""


def build(target: Target, belt: Belt, *, strict: bool, search: bool = False, cache: bool = False) -> Form:
    """The request form.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
        search: defer what is packed by the API's own tool search (Sonnet 4.5, Opus 4.5 and later) instead of
            the opener.
        cache: mark the end of the tools and of the system text for the prompt cache.
    """
    made = plan(belt, target, strict=strict, search=search)
    kwargs: dict[str, Any] = {"tools": _tools(made, target, cache=cache)}
    if made.system:
        kwargs["system"] = (
            [{"type": "text", "text": made.system, "cache_control": CACHE}] if cache else made.system
        )
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, tuple(entry["name"] for entry in kwargs["tools"])),
        made.system,
        made.diagnostics,
        Codec(calls, text, results),
        search=search,
    )


def _tools(made: Plan, target: Target, *, cache: bool) -> list[dict[str, Any]]:
    entries = [_entry(made, tool) for tool in made.tools]
    if made.deferred:
        entries.insert(0, {"type": SEARCH_TYPE, "name": target.search})
    if cache and entries:  # on the last that is not deferred: the API refuses the mark on one that is
        entries[-1]["cache_control"] = CACHE
    return entries + [{**_entry(made, tool), "defer_loading": True} for tool in made.deferred]


def _entry(made: Plan, tool: Tool) -> dict[str, Any]:
    return {
        "name": made.names.spell(tool.wire_name),
        "description": tool.description,
        "input_schema": dict(tool.input_schema),
    }


def calls(reply: Any) -> list[ToolCall]:
    """The `tool_use` blocks of a message."""
    return [
        ToolCall(get(block, "id"), get(block, "name"), get(block, "input", {}))
        for block in items(reply, "content")
        if get(block, "type") == "tool_use"
    ]


def text(reply: Any) -> str:
    """The text blocks of a message."""
    return "".join(
        get(block, "text", "") for block in items(reply, "content") if get(block, "type") == "text"
    )


def results(found: Sequence[ToolResult]) -> dict[str, Any]:
    """One user message with a `tool_result` block for each call; the API wants all of a reply in one."""
    return {"role": "user", "content": [_result(result) for result in found]}


def _result(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.id, "content": _content(result)}
    return {**block, "is_error": True} if result.is_error else block


def _content(result: ToolResult) -> Any:
    """Text, and images as the API takes them; what else a tool gave is said in words."""
    found = parts(result, IMAGES)
    if all(isinstance(part, str) for part in found):
        return result.text
    return [{"type": "text", "text": part} if isinstance(part, str) else _image(part) for part in found]


def _image(block: Mapping[str, Any]) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block["mimeType"], "data": block.get("data", "")}
    return {"type": "image", "source": source}
