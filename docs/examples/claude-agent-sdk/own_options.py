"""Your own session of Claude Code, with the options and tools you have, and nothing but the belt to call.

uv pip install "packbelt[claude-agent-sdk]"
ANTHROPIC_API_KEY=... python docs/examples/claude-agent-sdk/own_options.py "Generate a UUID"
"""

import sys
import uuid
from typing import Any

import anyio
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, SystemMessage, tool

import packbelt
from packbelt.adapters.claude_agent_sdk import Belt, runner, wrap


@tool("make_uuid", "Generates a UUID.", {})
async def make_uuid(_: dict[str, Any]) -> dict[str, Any]:
    """A tool of yours, as the SDK has it."""
    return {"content": [{"type": "text", "text": str(uuid.uuid4())}]}


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load(tools=wrap([make_uuid]))  # its own name, description and schema
    async with packbelt.open(workspace, run=runner()) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            belt, answer = Belt(agent), ""
            options = await belt.options(ClaudeAgentOptions(max_turns=20, system_prompt="Be short."))
            async with ClaudeSDKClient(options) as client:
                await client.query(request)
                async for message in client.receive_response():
                    if isinstance(message, SystemMessage) and message.subtype == "init":
                        belt.verify(message)  # what Claude Code has is what was planned
                    elif isinstance(message, ResultMessage):
                        answer = message.result or ""
            return answer


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
