"""Hooks that hold Claude Code to the belt, and tell its model what it would not.

PreToolUse sees each call that Claude is about to make, of sub-agents too, under every permission mode, and a
denial there is final. What Claude has no tool for never gets so far: it is seen in PostToolBatch, whose words
reach the model after the results of the batch.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from claude_agent_sdk import HookMatcher

from packbelt.adapters.claude_agent_sdk.agents import Helpers
from packbelt.adapters.claude_agent_sdk.decisions import OWN, PREFIX, Decisions
from packbelt.live.hostcode import is_its_own
from packbelt.model import Outcome, ToolResult
from packbelt.model.text import cut

UNKNOWN = "No such tool available"
"""In what Claude's model reads of a call that Claude has no tool for (command line 2.1.332)."""
SAID = 9_000
"""Bytes of a hook's words; of more than 10,000 characters Claude shows the model a preview only."""
A_DAY = 86_400.0
"""Seconds that a person may take to approve."""

Hook = Callable[[Any, str | None, Any], Awaitable[dict[str, Any]]]

_log = logging.getLogger(__name__)


def hooks_of(decisions: Decisions) -> dict[str, list[HookMatcher]]:
    """The hooks by event, for `ClaudeAgentOptions.hooks`."""
    helpers = Helpers(decisions)

    async def before(given: Any, call_id: str | None, context: Any) -> dict[str, Any]:
        del call_id, context
        decisions.began(given["tool_use_id"])
        if refusal := await helpers.refusal(given):
            return _decided("deny", refusal)
        return await _before(decisions, given["tool_name"], given.get("tool_input") or {})

    async def after(given: Any, call_id: str | None, context: Any) -> Any:
        del call_id, context
        return await _after(decisions, helpers, given)

    return {
        "PreToolUse": [HookMatcher(hooks=[_closed(before)], timeout=A_DAY, on_failure="block")],
        "PostToolBatch": [HookMatcher(hooks=[after], timeout=A_DAY)],
    }


def _closed(hook: Hook) -> Any:
    """A hook that denies where it fails: its error is told in one line, not as Claude's own trace."""

    async def closed(given: Any, call_id: str | None, context: Any) -> dict[str, Any]:
        try:
            return await hook(given, call_id, context)
        except BaseException as error:
            if not is_its_own(error):
                raise
            _log.warning("deciding a call failed: %s", type(error).__name__)
            return _decided("deny", f"whether it may be called could not be decided ({type(error).__name__})")

    return closed


async def _before(decisions: Decisions, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes of a call that Claude is about to make."""
    if decisions.way == "gateway" and name.startswith(PREFIX):  # the gate behind it decides
        asked = decisions.asks_sdk and await decisions.asks(name, arguments)
        return _decided("ask" if asked else "allow")
    if refusal := await decisions.refusal(name, arguments):
        return _decided("deny", refusal)
    if not await decisions.needs_person(name):
        return _decided("allow") if decisions.asks_sdk else {}
    if decisions.asks_sdk:
        return _decided("ask")
    refusal = await decisions.unapproved(name, arguments)
    return _decided("deny", refusal) if refusal else _decided("allow")


def _decided(decision: str, reason: str = "") -> dict[str, Any]:
    said = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": {**said, "permissionDecisionReason": reason} if reason else said}


async def _after(decisions: Decisions, helpers: Helpers, given: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to say of the calls that Claude has no tool for."""
    said: list[str] = []
    for call in given.get("tool_calls") or ():
        call_id, name, arguments = call["tool_use_id"], call["tool_name"], call.get("tool_input") or {}
        if not decisions.in_vain(call_id) or UNKNOWN not in str(call.get("tool_response")):
            continue
        refusal = await helpers.refusal({**given, "tool_name": name, "tool_input": arguments})
        text = f"On the call of {name} ({call_id}): {refusal}" if refusal else ""
        if text := text or await _said(decisions, call_id, name, arguments):
            said.append(text)
    if not said:
        return {}
    context = cut("\n\n".join(said), SAID)
    return {"hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": context}}


async def _said(decisions: Decisions, call_id: str, name: str, arguments: Mapping[str, Any]) -> str:
    """The hint for one of them, or the result where it is callable all the same."""
    wire_name = await decisions.wire_name(name)
    if wire_name in OWN or decisions.way == "servers":
        hint = await decisions.refusal(name, arguments)
        return f"On the call of {name} ({call_id}): {hint}" if hint else ""
    result = await decisions.run(call_id, wire_name, arguments)
    if result.hint is not None or result.outcome is Outcome.REJECTED:
        return f"On the call of {name} ({call_id}): {result.text}"
    return f"The call of {name} ({call_id}) was made all the same{_ended(result)}. Its result:\n{result.text}"


def _ended(result: ToolResult) -> str:
    return ", and ended with an error" if result.is_error else ""


__all__ = ["hooks_of"]
