"""OpenAI Agents SDK: what its `Agent` is given, as data; its adapter makes the objects."""

from packbelt.belt import Belt
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.plan import plan
from packbelt.providers.target import Target


def build(target: Target, belt: Belt, *, strict: bool) -> Form:
    """The tools as keyword arguments of `FunctionTool`, and the instructions.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
    """
    made = plan(belt, target, strict=strict)
    tools = [
        {
            "name": made.names.spell(tool.wire_name),
            "description": tool.description,
            "params_json_schema": dict(tool.input_schema),
            "strict_json_schema": False,  # it takes a part of JSON Schema; the gate validates the whole
        }
        for tool in made.tools
    ]
    return Form(
        target.name,
        {"instructions": made.system, "tools": tools},
        made.names,
        Enforcement(target, target.enforcement, made.shown),
        made.system,
        made.diagnostics,
    )
