"""OpenAI Agents SDK: what its `Agent` is given, as data; its adapter makes the objects."""

from typing import Any

from packbelt.belt import Belt
from packbelt.model import Tool
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.openai import namespaces
from packbelt.providers.plan import Plan, plan
from packbelt.providers.target import Target


def build(target: Target, belt: Belt, *, strict: bool, search: bool = False) -> Form:
    """The tools as keyword arguments of `FunctionTool`, and the instructions.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
        search: put what is packed into namespaces that the API's tool search opens (Responses API, gpt-5.4
            and later), not behind the opener: arguments of `tool_namespace`.
    """
    made = plan(belt, target, strict=strict, search=search)
    kwargs: dict[str, Any] = {
        "instructions": made.system,
        "tools": [_function(made, tool) for tool in made.tools],
    }
    if made.deferred:
        kwargs["namespaces"] = namespaces(made, _function)
    planned = (*made.shown, *(made.names.spell(tool.wire_name) for tool in made.deferred))
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, planned),
        made.system,
        made.diagnostics,
        search=search,
    )


def _function(made: Plan, tool: Tool, **more: Any) -> dict[str, Any]:
    return {
        "name": made.names.spell(tool.wire_name),
        "description": tool.description,
        "params_json_schema": dict(tool.input_schema),
        "strict_json_schema": False,  # it takes a part of JSON Schema; the gate validates the whole
        **more,
    }
