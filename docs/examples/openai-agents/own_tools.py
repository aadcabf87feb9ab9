"""Your own agent of the OpenAI Agents SDK, with the tools you have: decided anew at each model step.

uv pip install "packbelt[openai-agents]"
OPENAI_API_KEY=... python docs/examples/openai-agents/own_tools.py "Generate a UUID"
"""

import os
import sys
import uuid

import anyio
from agents import ModelSettings, RunConfig, Runner, function_tool

import packbelt
from packbelt.adapters.openai_agents import Belt, runner, wrap

MODEL = os.environ.get("MODEL", "gpt-5.5")


@function_tool
def make_uuid() -> str:
    """Generates a UUID."""
    return str(uuid.uuid4())


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load(tools=wrap([make_uuid]))  # its own name, description and schema
    async with packbelt.open(workspace, run=runner(model=MODEL)) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            belt = Belt(agent)
            mine = belt.agent(model=MODEL, model_settings=ModelSettings(parallel_tool_calls=True))
            config = belt.run_config(RunConfig(workflow_name="My workflow"))
            result = await Runner.run(mine, request, run_config=config, max_turns=20)
            return str(result.final_output)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
