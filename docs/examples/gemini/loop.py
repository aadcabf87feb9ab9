"""A fleet on the Gemini API: decide, ask, run, answer.

uv pip install "packbelt[gemini]"
GEMINI_API_KEY=... python docs/examples/gemini/loop.py "Generate a UUID"
"""

import os
import sys

import anyio
from google import genai

import packbelt

client = genai.Client().aio
MODEL = os.environ.get("MODEL", "gemini-3.8-flash")


async def run_agent(agent: packbelt.LiveAgent, request: str) -> str:
    """One agent's loop. The fleet runs it for every agent that is handed to."""
    messages = [{"role": "user", "parts": [{"text": request}]}]
    while True:
        turn = await agent.turn()  # decided once, from what is live now
        form = turn.compile("gemini")  # declarations, system text and names agree
        reply = await client.models.generate_content(model=MODEL, contents=messages, **form.kwargs)
        messages.append(reply.candidates[0].content)  # with its thought signatures
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
