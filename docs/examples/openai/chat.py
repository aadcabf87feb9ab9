"""A fleet on the Chat Completions API, or a server that speaks it: decide, ask, run, answer.

uv pip install "packbelt[openai]"
OPENAI_API_KEY=... python docs/examples/openai/chat.py "Generate a UUID"
"""

import os
import sys

import anyio
from openai import AsyncOpenAI

import packbelt

client = AsyncOpenAI()  # OPENAI_BASE_URL for another server
MODEL = os.environ.get("MODEL", "gpt-5.5")


async def run_agent(agent: packbelt.LiveAgent, request: str) -> str:
    """One agent's loop. The fleet runs it for every agent that is handed to."""
    messages = [{"role": "user", "content": request}]
    while True:
        turn = await agent.turn()  # decided once, from what is live now
        form = turn.compile("openai-chat")  # tools, system text and names agree
        system = {"role": "system", "content": form.system}
        reply = await client.chat.completions.create(model=MODEL, messages=[system, *messages], **form.kwargs)
        messages.append(reply.choices[0].message)
        if not (calls := form.calls(reply)):
            return form.text(reply)
        messages += form.results(await turn.run(calls))  # gated, side by side, in their order


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with packbelt.open(workspace, run=run_agent) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
