"""A fleet in LangChain: every agent runs in `create_agent`, and hand-offs return.

uv pip install "packbelt[langchain]" langchain-openai
OPENAI_API_KEY=... python docs/examples/langchain/fleet.py "Generate a UUID"
"""

import os
import sys

import anyio

import packbelt
from packbelt.adapters.langchain import runner

run_agent = runner(model=os.environ.get("MODEL", "openai:gpt-5.5"))


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with packbelt.open(workspace, run=run_agent) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
