"""A fleet in the GitHub Copilot SDK: every agent runs in a session of its own, and hand-offs return.

uv pip install "packbelt[copilot]"
python docs/examples/copilot/fleet.py "Generate a UUID"
"""

import os
import sys

import anyio
from copilot import CopilotClient

import packbelt
from packbelt.adapters.copilot import runner


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with CopilotClient() as client:  # the first time, the SDK loads its runtime
        run_agent = runner(client, model=os.environ.get("MODEL", "gpt-5.5"))
        async with packbelt.open(workspace, run=run_agent) as fleet:
            async with fleet.agent(workspace.config.orchestrator) as agent:
                return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
