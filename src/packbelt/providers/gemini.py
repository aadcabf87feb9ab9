"""Gemini: `config` with function declarations, and the allowed names where the mode takes them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from packbelt.belt import Belt
from packbelt.model import ToolCall, ToolResult
from packbelt.providers.form import Codec, Enforcement, Form
from packbelt.providers.plan import plan, spelled
from packbelt.providers.reading import get, items, parts
from packbelt.providers.target import Target

_NO_ID = "no id: "
"""What the Gemini API gives for an id is often nothing; the results then go by their order."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})
"""What a function's response takes."""


def build(
    target: Target,
    belt: Belt,
    *,
    strict: bool,
    allowed: Sequence[str] | None = None,
    images: bool = True,
) -> Form:
    """The request form: `config` for `generate_content`, as data.

    Automatic function calling is switched off: the SDK would run what it was given, and not ask the gate.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
        allowed: wire names that may be called in this request (mode VALIDATED); the declarations stay as they
            are. What is visible is then a superset of what is callable. The API alone keeps to it;
            `turn.run` asks the belt.
        images: whether images go back as such (Gemini 3 and later), or in words.

    Raises:
        CompileError: a tool cannot be said there, or `allowed` names one that is not sent.
    """
    made = plan(belt, target, strict=strict)
    declared = [
        {
            "name": made.names.spell(tool.wire_name),
            "description": tool.description,
            "parameters_json_schema": dict(tool.input_schema),
        }
        for tool in made.tools
    ]
    config: dict[str, Any] = {"automatic_function_calling": {"disable": True}}
    if declared:
        config["tools"] = [{"function_declarations": declared}]
    if made.system:
        config["system_instruction"] = made.system
    residue: tuple[str, ...] = ()
    if allowed is not None:
        kept = spelled(made, allowed)
        calling = {"mode": "VALIDATED", "allowed_function_names": kept} if kept else {"mode": "NONE"}
        config["tool_config"] = {"function_calling_config": calling}
        residue = tuple(name for name in made.shown if name not in kept)
    return Form(
        target.name,
        {"config": config},
        made.names,
        Enforcement(target, target.enforcement, made.shown, residue),
        made.system,
        made.diagnostics,
        Codec(calls, text, partial(results, images=images)),
    )


def calls(reply: Any) -> list[ToolCall]:
    """The function calls of the first candidate; one without an id gets its place."""
    found = [part for part in _parts(reply) if get(part, "function_call", get(part, "functionCall"))]
    made = []
    for place, part in enumerate(found):
        call = get(part, "function_call", get(part, "functionCall"))
        name = get(call, "name", "")
        made.append(ToolCall(get(call, "id") or f"{_NO_ID}{place}", name, get(call, "args", {})))
    return made


def text(reply: Any) -> str:
    """The text of the first candidate, thoughts aside."""
    return "".join(get(part, "text", "") for part in _parts(reply) if not get(part, "thought", default=False))


def results(found: Sequence[ToolResult], *, images: bool = True) -> dict[str, Any]:
    """One user content with a function response for each call, in their order."""
    return {"role": "user", "parts": [_part(one, IMAGES if images else frozenset()) for one in found]}


def _part(result: ToolResult, images: frozenset[str]) -> dict[str, Any]:
    made = parts(result, images)
    said = "\n".join(part for part in made if isinstance(part, str))
    key = "error" if result.is_error else "output"
    response: dict[str, Any] = {"name": result.call.name, "response": {key: said}}
    if not result.id.startswith(_NO_ID):
        response["id"] = result.id
    media = [
        {"inline_data": {"mime_type": part["mimeType"], "data": part.get("data", "")}}
        for part in made
        if not isinstance(part, str)
    ]
    return {"function_response": {**response, "parts": media} if media else response}


def _parts(reply: Any) -> list[Any]:
    candidates = list(items(reply, "candidates"))
    return list(items(get(candidates[0], "content"), "parts")) if candidates else []
