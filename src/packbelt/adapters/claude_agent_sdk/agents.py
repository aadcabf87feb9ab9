"""Hand-offs as Claude's own sub-agents: the one place where its `tools` is an allow list over all tools.

A sub-agent shares the session's servers, so it can be given no tool that the session has not. Its calls pass
two gates: the hook holds them to its own belt, and the server to that of the agent whose session it is.
"""

from collections.abc import Mapping
from typing import Any

from claude_agent_sdk import AgentDefinition

from packbelt.adapters.claude_agent_sdk.decisions import ALIASES, OWN, TARGET, Decisions
from packbelt.adapters.steps import AdapterError
from packbelt.belt import started
from packbelt.belt.spell import unspelled
from packbelt.model import Refusal
from packbelt.providers import Form, with_builtins
from packbelt.providers.claude_agent_sdk import AGENT
from packbelt.turn import Turn


class Helpers:
    """The agents that an agent hands off to, as sub-agents of its session; none where hand-offs are tools.

    Args:
        decisions: of the agent whose session it is.
    """

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions

    async def _turns(self) -> dict[str, Turn]:
        """Each one's turn as it would be now, by the hand-off's name."""
        if self._decisions.handoffs == "run":
            return {}
        turn, form = await self._decisions.turn(), await self._decisions.form()
        found: dict[str, Turn] = {}
        for name in form.names.shown:
            entry = turn.belt.get(name)
            target = entry.tool.target if entry is not None else None
            if target is not None:
                belt, _ = with_builtins(turn.belt.child(target), TARGET, strict=False)
                found[name] = Turn(belt)
        return found

    async def definitions(
        self, host: Mapping[str, AgentDefinition] | None
    ) -> dict[str, AgentDefinition] | None:
        """Their definitions; the host's own where hand-offs are tools.

        Raises:
            AdapterError: one has a tool that the session has not, or the host has sub-agents of its own.
            AgentRefusedError: one cannot start as its file stands.
        """
        turns = await self._turns()
        if not turns:
            return dict(host) if host else None
        if host:
            raise AdapterError(
                f"ClaudeAgentOptions' `agents` has {min(host)!r}, and `{AGENT}` is to start the belt's alone",
                mend="make it an agent of the workspace, or leave handoffs='agents' out",
                name="agents",
            )
        session = set((await self._decisions.form()).enforcement.plan)
        made: dict[str, AgentDefinition] = {}
        for name, turn in turns.items():
            started(turn.belt)
            form = turn.compile(TARGET, strict=False)
            missing = [tool for tool in form.enforcement.plan if tool not in session]
            if missing:
                raise AdapterError(
                    f"agent {turn.agent!r} has {missing[0]}, which the session of "
                    f"{self._decisions.steps.agent.name!r} has not, so that no sub-agent of it can",
                    mend="let the fleet run it (handoffs='run')",
                    name=turn.agent,
                )
            made[name] = _definition(turn, form)
        return made

    async def refusal(self, given: Mapping[str, Any]) -> str:
        """Why a call is refused for who makes it, or whom it would start; empty where it is not.

        Args:
            given: the PreToolUse hook's input.
        """
        turns = await self._turns()
        if not turns:
            return ""
        name, arguments = given["tool_name"], given.get("tool_input") or {}
        name = ALIASES.get(name, name)
        wanted = arguments.get("subagent_type")
        if name == AGENT and wanted not in turns:
            return f"`{AGENT}` starts one of these here: {', '.join(turns)}"
        turn = turns.get(given.get("agent_type") or "")
        if turn is None:
            return ""
        wire_name = unspelled(turn.belt, name, self._decisions.spell)
        resolved = turn.resolve(wire_name, None if wire_name in OWN else arguments, self._decisions.spell)
        if wire_name in OWN:
            shown = turn.compile(TARGET, strict=False).enforcement.plan
            return "" if wire_name in shown else f"{name} is not on the belt of {turn.agent}"
        return resolved.hint.text if isinstance(resolved, Refusal) else ""


def _definition(turn: Turn, form: Form) -> AgentDefinition:
    return AgentDefinition(
        description=turn.belt.subject.agent.description or turn.agent,
        prompt=form.system,
        tools=list(form.enforcement.plan),
        background=False,
    )
