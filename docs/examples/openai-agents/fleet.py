"""A fleet in the OpenAI Agents SDK: every agent runs there, and hand-offs return.

uv pip install "packbelt[openai-agents]"
OPENAI_API_KEY=... python docs/examples/openai-agents/fleet.py "Generate a UUID"
"""

import os
import sys

import anyio

import packbelt
from packbelt.adapters.openai_agents import runner

run_agent = runner(model=os.environ.get("MODEL", "gpt-5.5"))


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with packbelt.open(workspace, run=run_agent) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
