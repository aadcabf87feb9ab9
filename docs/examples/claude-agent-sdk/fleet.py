"""A fleet in Claude Code: every agent runs in a session of its own, and hand-offs return.

uv pip install "packbelt[claude-agent-sdk]"
ANTHROPIC_API_KEY=... python docs/examples/claude-agent-sdk/fleet.py "Generate a UUID"
"""

import sys

import anyio
from claude_agent_sdk import ClaudeAgentOptions

import packbelt
from packbelt.adapters.claude_agent_sdk import runner

run_agent = runner(ClaudeAgentOptions(max_turns=20))


async def main(request: str) -> str:
    """Ask the orchestrator of the nearest workspace."""
    workspace = packbelt.load()
    async with packbelt.open(workspace, run=run_agent) as fleet:
        async with fleet.agent(workspace.config.orchestrator) as agent:
            return await run_agent(agent, request)


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1]))
