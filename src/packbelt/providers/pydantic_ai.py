"""Pydantic AI: what a toolset gives its agent, as data; its adapter makes the objects."""

from packbelt.belt import Belt
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.plan import plan
from packbelt.providers.target import Target


def build(target: Target, belt: Belt, *, strict: bool) -> Form:
    """The tools as keyword arguments of `ToolDefinition`, and the instructions.

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
            "parameters_json_schema": dict(tool.input_schema),
            "strict": False,  # it takes a part of JSON Schema; the gate validates the whole
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
