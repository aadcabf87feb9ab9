"""Claude Agent SDK: Claude Code with a belt, whose calls pass the gate, and hooks that hold it to that.

    async with fleet.agent("orchestrator") as agent:
        belt = Belt(agent)
        async for message in query(prompt=request, options=await belt.options()):
            ...

A whole fleet: `packbelt.open(workspace, run=runner())`.
"""

from packbelt.adapters.needed import need
from packbelt.adapters.steps import AdapterError

try:
    from claude_agent_sdk import HookMatcher as _  # noqa: F401 - only whether it can be imported
except ImportError as error:
    raise need("claude-agent-sdk", extra="claude-agent-sdk", cause=error) from error

from packbelt.adapters.claude_agent_sdk.belt import Belt
from packbelt.adapters.claude_agent_sdk.runner import ClaudeRunError, runner
from packbelt.adapters.claude_agent_sdk.tools import wrap

__all__ = ["AdapterError", "Belt", "ClaudeRunError", "runner", "wrap"]
