"""`Belt`: the options of a session of Claude Code that has a belt and nothing else."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, SystemMessage

from packbelt.adapters.claude_agent_sdk.agents import Helpers
from packbelt.adapters.claude_agent_sdk.decisions import Decisions
from packbelt.adapters.claude_agent_sdk.merge import merged
from packbelt.adapters.claude_agent_sdk.server import BeltServer
from packbelt.adapters.steps import AdapterError, Approvals
from packbelt.live.agent import LiveAgent
from packbelt.model import Code
from packbelt.providers import Enforcement, ResidueError
from packbelt.providers.claude_agent_sdk import SERVER, HandOffs, Way, init_names

_LEFT_OUT = (Code.TARGET_NAME, Code.TARGET_SCHEMA)
_log = logging.getLogger(__name__)


class Belt:
    """A belt inside Claude Code, for one session of one agent.

    Args:
        agent: an agent at work.
        approvals: who asks a person: `packbelt` is the fleet's `approve`; with `sdk` the host's
            `can_use_tool` is asked, for just the calls that need it, whatever the permission mode.
        way: `gateway`: one server in this process lists the belt, and calls go through the relay; `servers`:
            the servers are Claude's own (`mcp_servers` of the host's options), and packbelt says which of
            their tools it may call.
        handoffs: `run`: a hand-off is a tool, and the fleet's `run` runs the other agent; `agents`: the other
            agent is a sub-agent of this session, held to its own belt. That needs Claude's tool `Agent`, and
            that the other agent has no tool which this session has not.
    """

    def __init__(
        self,
        agent: LiveAgent,
        *,
        approvals: Approvals = "packbelt",
        way: Way = "gateway",
        handoffs: HandOffs = "run",
    ) -> None:
        self._agent = agent
        self._approvals: Approvals = approvals
        self._way: Way = way
        self._handoffs: HandOffs = handoffs
        self._server: BeltServer | None = None
        self._planned: Enforcement | None = None

    async def options(self, given: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """The options of the session, as the belt is now. What cannot be said there is left out, and logged.

        Args:
            given: the host's own: model, working directory, limits, hooks. `system_prompt` is put after the
                agent's; what would say otherwise what the belt says is refused.

        Raises:
            AdapterError: an option cannot go with the belt; names both sides.
            CompileError: the permission mode would run what a person must approve, or sub-agents are wanted
                and `Agent` is not on the belt.
        """
        mode = given.permission_mode if given else None
        decisions = Decisions(self._agent, self._approvals, self._way, mode, self._handoffs)
        form = await decisions.form()
        for one in form.diagnostics:
            if one.code in _LEFT_OUT:
                _log.warning("%s", one.message)
        self._planned = form.enforcement
        self._server = BeltServer(decisions) if self._way == "gateway" else None
        made = merged(form, given, decisions, self._server and self._server.mcp)
        return replace(made, agents=await Helpers(decisions).definitions(made.agents))

    def verify(self, message: SystemMessage | Mapping[str, Any]) -> None:
        """Compare what Claude Code says it has with the plan.

        Args:
            message: the message `init`, which comes at the start of each turn, or its data.

        Raises:
            ResidueError: it has more tools, or fewer, than were listed to it.
            AdapterError: the options were not made here, or the server of the belt is not connected.
        """
        if self._planned is None:
            raise AdapterError(
                "this belt made no options", mend="make them by `await belt.options()`", name=""
            )
        data = message.data if isinstance(message, SystemMessage) else message
        for server in data["mcp_servers"]:
            if server["status"] != "connected" or (self._way == "gateway" and server["name"] != SERVER):
                raise AdapterError(
                    f"Claude Code's server {server['name']!r} is {server['status']}",
                    mend="look at its log" if self._way == "servers" else "leave it to packbelt",
                    name=server["name"],
                )
        listed = self._server.form if self._server else None
        plan = self._planned.plan
        if listed is not None:  # its own tools as at the start, the server's as they were listed
            own = [name for name in plan if not name.startswith("mcp__")]
            plan = (*own, *(listed.names.spell(tool.wire_name) for tool in listed.tools))
        replace(self._planned, plan=tuple(plan)).verify(init_names(data))


__all__ = ["Belt", "ResidueError"]
