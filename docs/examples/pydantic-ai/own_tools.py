"""Your own agent of Pydantic AI, with the tools you have: decided anew at each model step.

uv pip install "packbelt[pydantic-ai]" "pydantic-ai-slim[openai]"
OPENAI_API_KEY=... python docs/examples/pydantic-ai/own_tools.py "Generate a UUID"
"""

import os
import sys
import uuid

import anyio
from pydantic_ai import Agent, RunContext

import packbelt
from packbelt.adapters.pydantic_ai import Belt, runner, wrap

MODEL = os.environ.get("MODEL", "openai-responses:gpt-5.5")


def make_uuid(ctx: RunContext[str]) -> str:
    """Generates a UUID."""
    return f"{ctx.deps}{uuid.uuid4()}"


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load(tools=wrap([make_uuid]))  # its own name, description and schema
    async with packbelt.open(workspace, run=runner(model=MODEL, deps="id-")) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            mine = Agent(MODEL, deps_type=str, instructions="Be brief.", capabilities=[Belt(agent)])
            result = await mine.run(request, deps="id-")
            return result.output


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
