"""OpenAI's Responses API: functions, or namespaces with the API's own tool search."""

import re
from collections.abc import Sequence
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.opener import packs_of
from packbelt.catalog.registry import pick
from packbelt.model import Tool, ToolCall, ToolResult
from packbelt.model.text import one_line
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.names import CompileError
from packbelt.providers.plan import Plan, plan
from packbelt.providers.reading import get, items
from packbelt.providers.target import Target

LONGEST = 64
"""Letters of a namespace's name."""
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def build(
    target: Target, belt: Belt, *, strict: bool, search: bool = False, allowed: Sequence[str] | None = None
) -> Form:
    """The request form.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
        search: put what is packed into namespaces that the API's tool search opens (gpt-5.4 and later), not
            behind the opener.
        allowed: wire names that may be called in this request; the tools themselves, and so the prompt
            cache, stay as they are. What is visible is then a superset of what is callable.
    """
    made = plan(belt, target, strict=strict, search=search)
    tools = [_function(made, tool) for tool in made.tools] + _namespaces(made)
    if made.deferred:
        tools.append({"type": "tool_search"})
    kwargs: dict[str, Any] = {"tools": tools}
    if made.system:
        kwargs["instructions"] = made.system
    residue: tuple[str, ...] = ()
    if allowed is not None:
        kept = [made.names.spell(name) for name in allowed]
        choice = [{"type": "function", "name": name} for name in kept]
        kwargs["tool_choice"] = {"type": "allowed_tools", "mode": "auto", "tools": choice}
        residue = tuple(name for name in made.shown if name not in kept)
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, made.shown, residue),
        made.system,
        made.diagnostics,
        Codec(calls, text, results),
    )


def _function(made: Plan, tool: Tool, **more: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": made.names.spell(tool.wire_name),
        "description": tool.description,
        "parameters": dict(tool.input_schema),
        "strict": False,  # strict mode takes a part of JSON Schema only; the gate validates the whole
        **more,
    }


def _namespaces(made: Plan) -> list[dict[str, Any]]:
    """A namespace for each pack of which something is deferred: the model sees its name and description."""
    wanted = {tool.wire_name for tool in made.deferred}
    found: dict[str, dict[str, Any]] = {}
    for pack, part in packs_of(made.belt, made.belt.deferred).items():
        tools = [tool for tool in pick(made.belt.registry.tools, part) if tool.wire_name in wanted]
        name = _FOREIGN.sub("_", pack)[:LONGEST]
        if not tools:
            continue
        if name in found:
            raise CompileError(
                f"pack {pack!r} and another would both be the namespace {name!r}",
                mend="rename one",
                name=pack,
            )
        summary = one_line(made.belt.registry.pack(pack).summary) or f"Tools of {pack}."
        functions = [_function(made, tool, defer_loading=True) for tool in tools]
        found[name] = {"type": "namespace", "name": name, "description": summary, "tools": functions}
    return list(found.values())


def calls(reply: Any) -> list[ToolCall]:
    """The `function_call` items of a response."""
    return [
        ToolCall(get(item, "call_id"), get(item, "name"), get(item, "arguments", "{}"))
        for item in items(reply, "output")
        if get(item, "type") == "function_call"
    ]


def text(reply: Any) -> str:
    """The text of a response's messages."""
    return "".join(
        get(part, "text", "")
        for item in items(reply, "output")
        if get(item, "type") == "message"
        for part in items(item, "content")
        if get(part, "type") == "output_text"
    )


def results(found: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """One `function_call_output` item for each call."""
    return [{"type": "function_call_output", "call_id": one.id, "output": said(one)} for one in found]


def said(result: ToolResult) -> str:
    """A result as text; OpenAI's form has no mark for an error, so the text says so."""
    return f"Error: {result.text}" if result.is_error else result.text
