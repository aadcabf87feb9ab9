"""GitHub Copilot SDK: what `create_session` is given, as data; its adapter adds the handlers.

The belt's tools are the session's custom ones. `available_tools` is an allow list over everything the runtime
knows, its own tools and MCP servers included, in patterns that say where a tool is from (`custom:note`); an
empty one is written out, since to leave it out is to allow all.
"""

from packbelt.belt import Belt
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.plan import plan
from packbelt.providers.target import Target

EXCLUDED = ["builtin:*", "mcp:*"]
"""What is never on a belt here; an exclusion wins over `available_tools` (`toolFilterPrecedence`)."""


def build(target: Target, belt: Belt, *, strict: bool) -> Form:
    """The fields of `create_session` that say which tools there are.

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
            "parameters": dict(tool.input_schema),
            "skip_permission": True,  # the gate asks whom it has to ask
            "defer": "never",  # packs put tools away; what is direct is shown
        }
        for tool in made.tools
    ]
    kwargs = {
        "tools": tools,
        "available_tools": [f"custom:{tool['name']}" for tool in tools],
        "excluded_tools": list(EXCLUDED),
        "enable_config_discovery": False,
        "system_message": {"mode": "append", "content": made.system},
    }
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, made.shown),
        made.system,
        made.diagnostics,
        tools=made.tools,
    )
