"""OpenAI's Chat Completions API, and the many servers that speak it."""

from collections.abc import Sequence
from typing import Any

from packbelt.belt import Belt
from packbelt.model import ToolCall, ToolResult
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.openai import said
from packbelt.providers.plan import Plan, plan
from packbelt.providers.reading import get, items
from packbelt.providers.target import Target


def build(target: Target, belt: Belt, *, strict: bool) -> Form:
    """The request form; the API refuses an empty `tools`, so that without a tool the key is absent.

    The system text is not a part of `kwargs`: it is the first message, which is the host's (`form.system`).
    """
    made = plan(belt, target, strict=strict)
    tools = functions(made)
    return Form(
        target.name,
        {"tools": tools} if tools else {},
        made.names,
        Enforcement(target, target.enforcement, made.shown),
        made.system,
        made.diagnostics,
        Codec(calls, text, results),
    )


def functions(made: Plan) -> list[dict[str, Any]]:
    """The sent tools in the form of Chat Completions, which others took over."""
    return [
        {
            "type": "function",
            "function": {
                "name": made.names.spell(tool.wire_name),
                "description": tool.description,
                "parameters": dict(tool.input_schema),
            },
        }
        for tool in made.tools
    ]


def calls(reply: Any) -> list[ToolCall]:
    """The function calls of the first choice; custom tools are the host's own."""
    found = ((call, get(call, "function")) for call in items(_message(reply), "tool_calls"))
    return [
        ToolCall(get(call, "id"), get(function, "name"), get(function, "arguments", "{}"))
        for call, function in found
        if function is not None
    ]


def text(reply: Any) -> str:
    """The content of the first choice."""
    said_ = get(_message(reply), "content", "")
    return said_ if isinstance(said_, str) else ""


def results(found: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """One `tool` message for each call, text alone: the API takes nothing else there."""
    return [{"role": "tool", "tool_call_id": one.id, "content": said(one)} for one in found]


def _message(reply: Any) -> Any:
    """The message of a completion; a message is taken as it is."""
    choices = list(items(reply, "choices"))
    return get(choices[0], "message") if choices else reply
