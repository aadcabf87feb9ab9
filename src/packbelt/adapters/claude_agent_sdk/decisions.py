"""What the belt says of a call that Claude is about to make, or has made in vain, as it stands now."""

from collections.abc import Mapping
from typing import Any

from packbelt.adapters.steps import Approvals, Steps
from packbelt.belt.spell import unspelled
from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Approval
from packbelt.model import Refusal, Speech, ToolCall, ToolResult
from packbelt.providers import Form, target, with_builtins
from packbelt.providers.claude_agent_sdk import SERVER, HandOffs, Way
from packbelt.turn import Turn

TARGET = "claude-agent-sdk"
PREFIX = f"mcp__{SERVER}__"
OWN = frozenset(one.name for one in target(TARGET).builtins)
"""The tools that Claude Code runs itself."""
ALIASES = {"Task": "Agent"}
"""Older names of its tools, by which hooks may still tell of them."""


class Decisions:
    """The decisions of one agent, in Claude's spelling.

    Args:
        agent: an agent at work.
        approvals: who asks a person.
        way: how Claude is given the belt.
        permission_mode: Claude's, where the host has chosen one.
        handoffs: whether hand-offs are tools, or Claude's own sub-agents.

    Attributes:
        steps: the agent's turns in the form of the SDK.
        way: how Claude is given the belt.
        handoffs: whether hand-offs are tools, or Claude's own sub-agents.
    """

    def __init__(
        self,
        agent: LiveAgent,
        approvals: Approvals,
        way: Way,
        permission_mode: str | None = None,
        handoffs: HandOffs = "run",
    ) -> None:
        self.steps = Steps(
            agent, TARGET, approvals, way=way, permission_mode=permission_mode, handoffs=handoffs
        )
        self.way = way
        self.handoffs = handoffs
        self._approved: set[str] = set()
        self._began: set[str] = set()

    @property
    def asks_sdk(self) -> bool:
        """Whether the host's `can_use_tool` is who asks a person."""
        return self.steps.approvals == "sdk"

    def spell(self, wire_name: str) -> str:
        """A wire name as Claude shows it, or would."""
        plain = wire_name in OWN or self.way == "servers"
        if self.handoffs == "agents" and not plain:
            tools = self.steps.agent.fleet.workspace.tools
            plain = any(tool.target is not None and tool.wire_name == wire_name for tool in tools)
        return wire_name if plain else PREFIX + wire_name

    async def turn(self) -> Turn:
        """The turn as it is now, with Claude's own tools known to it."""
        turn = await self.steps.agent.turn()
        belt, _ = with_builtins(turn.belt, TARGET, strict=False)
        return Turn(belt)

    async def form(self) -> Form:
        """The form as it is now; the very same while nothing has changed."""
        return await self.steps.decide()

    async def wire_name(self, name: str) -> str:
        """The wire name that Claude's name means; what means none stays."""
        form, turn = await self.form(), await self.turn()
        name = ALIASES.get(name, name)
        known = form.names.unspell(name)
        if known == name:
            known = unspelled(turn.belt, name, self.spell)
        # An invented name is looked up without the prefix that every name has, so that near ones are found.
        return known.removeprefix(PREFIX) if known == name and self.way == "gateway" else known

    async def refusal(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Why a call is refused; empty where it is not."""
        turn, form = await self.turn(), await self.form()
        wire_name = await self.wire_name(name)
        entry = turn.belt.get(wire_name)
        spelled = form.names.spell(wire_name)
        if entry is not None and spelled in form.enforcement.plan:
            # Claude's own tool is no tool of the belt that is called like it.
            return "" if spelled == ALIASES.get(name, name) else f"{name} is no tool here; call {spelled}"
        resolved = turn.resolve(
            wire_name, arguments, form.names.spell if self.way == "servers" else self.spell
        )
        if isinstance(resolved, Refusal):
            return resolved.hint.text
        return f"{name} cannot be called in this session"

    async def needs_person(self, name: str) -> bool:
        """Whether a person must approve calls of a tool of the belt."""
        wire_name = await self.wire_name(name)
        return (await self.turn()).belt[wire_name].approve

    async def unapproved(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Ask the fleet's `approve` for a call that Claude makes itself; why it is not approved, or empty."""
        turn, wire_name = await self.turn(), await self.wire_name(name)
        agent = self.steps.agent
        return await agent.asking.refusal(Approval(agent.path, turn.belt[wire_name].tool, dict(arguments)))

    async def asks(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call of packbelt's server is one that a person must approve, packed tools included."""
        turn = await self.turn()
        resolved = turn.resolve(await self.wire_name(name), arguments, self.spell)
        return not isinstance(resolved, Refusal) and resolved.approve

    def began(self, call_id: str) -> None:
        """Claude has a tool for this call, and is about to make it."""
        self._began.add(call_id)

    def in_vain(self, call_id: str) -> bool:
        """Whether Claude had no tool for a call that is over. Whatever a tool says of itself, it had one."""
        known = call_id in self._began
        self._began.discard(call_id)
        return not known

    def approve(self, call_id: str) -> None:
        """A person has approved this very call."""
        self._approved.add(call_id)

    async def run(self, call_id: str, wire_name: str, arguments: object) -> ToolResult:
        """One call through the gate and the relay, as things stand now."""
        approved = call_id in self._approved
        self._approved.discard(call_id)
        call = ToolCall(call_id, wire_name, arguments, Speech(self.spell))
        (result,) = await self.steps.agent.run(
            [call], approve=self.steps.asked if approved and self.asks_sdk else None
        )
        return result


__all__ = ["ALIASES", "OWN", "PREFIX", "TARGET", "Decisions"]
