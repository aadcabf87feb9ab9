"""Pydantic AI: a capability, and a toolset, that are a belt, decided anew at each model step.

    async with fleet.agent("orchestrator") as agent:
        result = await Agent(MODEL, capabilities=[Belt(agent)]).run(request)

A whole fleet: `packbelt.open(workspace, run=runner(model=MODEL))`.
"""

from packbelt.adapters.needed import need
from packbelt.adapters.steps import AdapterError

try:
    from pydantic_ai import ToolFailed as _  # noqa: F401 - an SDK without it is too old
except ImportError as error:
    raise need("pydantic-ai-slim", extra="pydantic-ai", cause=error) from error

from packbelt.adapters.pydantic_ai.belt import Belt
from packbelt.adapters.pydantic_ai.runner import runner
from packbelt.adapters.pydantic_ai.tools import wrap
from packbelt.adapters.pydantic_ai.toolset import BeltToolset

__all__ = ["AdapterError", "Belt", "BeltToolset", "runner", "wrap"]
