"""Your own agent of LangChain, with the tools you have: decided anew at each model call.

uv pip install "packbelt[langchain]" langchain-openai
OPENAI_API_KEY=... python docs/examples/langchain/own_tools.py "Generate a UUID"
"""

import os
import sys
import uuid

import anyio
from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain.tools import tool

import packbelt
from packbelt.adapters.langchain import Belt, runner, wrap

MODEL = os.environ.get("MODEL", "openai:gpt-5.5")


@tool
def make_uuid() -> str:
    """Generates a UUID."""
    return str(uuid.uuid4())


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load(tools=wrap([make_uuid]))  # its own name, description and schema
    async with packbelt.open(workspace, run=runner(model=MODEL)) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            limit = ModelCallLimitMiddleware(run_limit=20)  # your own middleware; the belt comes last
            mine = create_agent(MODEL, middleware=[limit, Belt(agent)], system_prompt="Be brief.")
            state = await mine.ainvoke({"messages": [{"role": "user", "content": request}]})
            return state["messages"][-1].text


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
