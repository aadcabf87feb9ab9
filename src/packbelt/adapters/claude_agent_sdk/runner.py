"""A `run` for `packbelt.open`."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, ResultMessage, SystemMessage, query

from packbelt.adapters.claude_agent_sdk.belt import Belt
from packbelt.adapters.steps import Approvals
from packbelt.live.agent import LiveAgent
from packbelt.model import PackbeltError
from packbelt.providers.claude_agent_sdk import HandOffs, Way

SESSION = "session_id"
"""What is kept of a run's conversation: Claude Code keeps the conversation itself."""


class ClaudeRunError(PackbeltError):
    """A session of Claude Code ended without an answer."""


def runner(
    options: ClaudeAgentOptions | Callable[[LiveAgent], ClaudeAgentOptions] | None = None,
    *,
    approvals: Approvals = "packbelt",
    way: Way = "gateway",
    handoffs: HandOffs = "run",
) -> Callable[[LiveAgent, str], Awaitable[str]]:
    """A `run` for `packbelt.open`: every agent of the fleet works in a session of Claude Code of its own.

    What Claude Code says it has is compared with the belt at each turn's start; a difference ends the run.

    Args:
        options: the host's own, or what gives them for an agent; see `Belt.options`.
        approvals: who asks a person; see `Belt`.
        way: how Claude Code is given the belt; see `Belt`.
        handoffs: whether hand-offs are sub-agents; see `Belt`.
    """

    async def run(agent: LiveAgent, request: str) -> str:
        belt = Belt(agent, approvals=approvals, way=way, handoffs=handoffs)
        made = await belt.options(options(agent) if callable(options) else options)
        if agent.messages:  # a copy, since a child may start from its parent's conversation
            made = replace(made, resume=agent.messages[-1][SESSION], fork_session=True)
        ended: ResultMessage | None = None
        stream: Any = query(prompt=request, options=made)  # an async generator, typed as an iterator
        try:
            async with aclosing(stream) as messages:
                async for message in messages:
                    if isinstance(message, SystemMessage) and message.subtype == "init":
                        belt.verify(message)
                    elif isinstance(message, ResultMessage):
                        ended = message
        except ClaudeSDKError as error:
            raise ClaudeRunError(f"Claude Code failed: {error}", name=agent.name) from error
        if ended is None or ended.is_error:
            why = (ended.result or ended.subtype) if ended else "no result"
            raise ClaudeRunError(f"Claude Code ended without an answer: {why}", name=agent.name)
        agent.messages[:] = [{SESSION: ended.session_id}]
        return ended.result or ""

    return run
