"""OpenAI's Responses API: functions, or namespaces with the API's own tool search."""

import re
from collections.abc import Callable, Container, Sequence
from hashlib import sha256
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.opener import packs_of
from packbelt.catalog.registry import pick
from packbelt.model import Tool, ToolCall, ToolResult
from packbelt.model.text import harmless, one_line
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.plan import Plan, plan, spelled
from packbelt.providers.reading import get, items, parts
from packbelt.providers.target import Target

LONGEST = 64
"""Letters of a namespace's name."""
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What the API takes as `input_image`."""
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
            cache, stay as they are. What is visible is then a superset of what is callable. The API alone
            keeps to it; `turn.run` asks the belt.

    Raises:
        CompileError: a tool cannot be said there, or `allowed` names one that is not sent.
    """
    made = plan(belt, target, strict=strict, search=search)
    tools = [_function(made, tool) for tool in made.tools]
    tools += [{"type": "namespace", **one} for one in namespaces(made, _function)]
    if made.deferred:
        tools.append({"type": "tool_search"})
    kwargs: dict[str, Any] = {"tools": tools}
    if made.system:
        kwargs["instructions"] = made.system
    planned = (*made.shown, *(made.names.spell(tool.wire_name) for tool in made.deferred))
    residue: tuple[str, ...] = ()
    if allowed is not None:
        kept = spelled(made, allowed)
        choice = [{"type": "function", "name": name} for name in kept]
        kwargs["tool_choice"] = {"type": "allowed_tools", "mode": "auto", "tools": choice} if kept else "none"
        residue = tuple(name for name in planned if name not in kept)
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, planned, residue),
        made.system,
        made.diagnostics,
        Codec(calls, text, results),
        search=search,
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


def namespaces(made: Plan, write: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """A namespace for each pack of which something is deferred: the model sees its name and description.

    Nothing is looked up by a namespace's name: a call says the function's own, which is alone on the belt.

    Args:
        made: the plan.
        write: writes a tool of it, given what marks a deferred one.
    """
    kept = {tool.wire_name: tool for tool in made.deferred}
    found: dict[str, dict[str, Any]] = {}
    for pack, part in packs_of(made.belt, made.belt.deferred).items():
        members = [tool.wire_name for tool in pick(made.belt.registry.tools, part)]
        functions = [write(made, kept[name], defer_loading=True) for name in members if name in kept]
        if functions:
            name = _namespace(pack, found)
            summary = one_line(made.belt.registry.pack(pack).summary) or f"Tools of {harmless(pack)}."
            found[name] = {"name": name, "description": summary, "tools": functions}
    return list(found.values())


def _namespace(pack: str, taken: Container[str]) -> str:
    """A pack's id in the letters that a name may have; where that is taken, with a part of its digest."""
    name = _FOREIGN.sub("_", pack)
    if len(name) <= LONGEST and name not in taken:
        return name
    return f"{name[: LONGEST - 9]}_{sha256(pack.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def calls(reply: Any) -> list[ToolCall]:
    """The `function_call` items of a response; one of a namespace has the function's name all the same."""
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
    return [{"type": "function_call_output", "call_id": one.id, "output": _output(one)} for one in found]


def _output(result: ToolResult) -> Any:
    made = parts(result, IMAGES)
    if all(isinstance(part, str) for part in made):
        return said(result)
    return [
        {"type": "input_text", "text": part}
        if isinstance(part, str)
        else {"type": "input_image", "image_url": f"data:{part['mimeType']};base64,{part.get('data', '')}"}
        for part in made
    ]


def said(result: ToolResult) -> str:
    """A result as text; OpenAI's form has no mark for an error, so the text says so."""
    return f"Error: {result.text}" if result.is_error else result.text
