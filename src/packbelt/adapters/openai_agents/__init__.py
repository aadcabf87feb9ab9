"""OpenAI Agents SDK: an `Agent` whose tools and instructions are a belt, decided anew at each model step.

    async with fleet.agent("orchestrator") as agent:
        belt = Belt(agent)
        result = await Runner.run(belt.agent(model=MODEL), request, run_config=belt.run_config())

A whole fleet: `packbelt.open(workspace, run=runner(model=MODEL))`.
"""

from packbelt.adapters.needed import need
from packbelt.adapters.steps import AdapterError

try:
    from agents import ToolErrorFormatterArgs as _  # noqa: F401 - an SDK without it is too old
except ImportError as error:
    raise need("openai-agents", extra="openai-agents", cause=error) from error

from packbelt.adapters.openai_agents.belt import Belt, BeltAgent
from packbelt.adapters.openai_agents.runner import runner
from packbelt.adapters.openai_agents.tools import wrap

__all__ = ["AdapterError", "Belt", "BeltAgent", "runner", "wrap"]
