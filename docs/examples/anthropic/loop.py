"""A fleet on the Messages API: decide, ask, run, answer.

uv pip install "packbelt[anthropic]"
ANTHROPIC_API_KEY=... python docs/examples/anthropic/loop.py "Generate a UUID"
"""

import os
import sys

import anyio
from anthropic import AsyncAnthropic

import packbelt

client = AsyncAnthropic()
MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")


async def run_agent(agent: packbelt.LiveAgent, request: str) -> str:
    """One agent's loop. The fleet runs it for every agent that is handed to."""
    messages = [{"role": "user", "content": request}]
    while True:
        turn = await agent.turn()  # decided once, from what is live now
        form = turn.compile("anthropic", cache=True)  # tools, system text and names agree
        reply = await client.messages.create(model=MODEL, max_tokens=4096, messages=messages, **form.kwargs)
        messages.append({"role": "assistant", "content": reply.content})
        if not (calls := form.calls(reply)):
            return form.text(reply)
        messages.append(form.results(await turn.run(calls)))  # gated, side by side, in their order


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with packbelt.open(workspace, run=run_agent) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
