"""GitHub Copilot SDK: a session whose tools are a belt, their calls through the gate.

    async with fleet.agent("orchestrator") as agent:
        session = await client.create_session(**await Belt(agent).options(model=MODEL))

A whole fleet: `packbelt.open(workspace, run=runner(client, model=MODEL))`.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from packbelt.adapters.needed import need
from packbelt.adapters.steps import AdapterError, Steps, refuse_given
from packbelt.catalog.natives import defined
from packbelt.live.agent import LiveAgent
from packbelt.model import Answer, Outcome, Permission
from packbelt.providers.reading import parts

try:
    from copilot import CopilotClient
    from copilot.session_events import AssistantMessageData
    from copilot.tools import Tool, ToolBinaryResult, ToolInvocation, ToolResult
except ImportError as error:
    raise need("github-copilot-sdk", extra="copilot", cause=error) from error

TARGET = "copilot"
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What goes back as an image."""
HOURS = 12 * 3600.0
"""Seconds that a session's answer is waited for: a hand-off takes as long as it takes."""

SESSION, RUN = "session_id", "run_id"
"""What is kept of a run's conversation: Copilot keeps the conversation itself."""

_BESIDE = "would bring tools beside the belt; "
REFUSED = {
    "tools": "would be sent beside the belt and pass no gate; give them to `packbelt.load(tools=wrap(...))`",
    "available_tools": "would say otherwise what the belt says; leave it out",
    "excluded_tools": "would take from the belt, whose prompt would go on to name it; deny them to the agent",
    "enable_config_discovery": f"{_BESIDE}leave it out",
    "mcp_servers": f"{_BESIDE}configure them in the workspace",
    "plugin_directories": f"{_BESIDE}leave it out",
    "custom_agents": f"{_BESIDE}make them agents of the workspace",
    "agent_directories": f"{_BESIDE}make them agents of the workspace",
    "agent": f"{_BESIDE}leave it out",
    "default_agent": f"{_BESIDE}leave it out",
    "tool_search": "would put off what the belt shows; packs put tools away",
}
"""Options of `create_session` that cannot go with a belt."""


_RESUMED = inspect.signature(CopilotClient.resume_session).parameters.keys() - {"self", SESSION}
"""What a session is given when it is resumed."""


class Belt:
    """A belt inside a session of Copilot.

    Args:
        agent: an agent at work.
    """

    def __init__(self, agent: LiveAgent) -> None:
        self._steps = Steps(agent, TARGET)

    async def options(self, **given: Any) -> dict[str, Any]:
        """Keyword arguments of `create_session`, as the belt is now.

        Args:
            given: the host's own: `model`, `provider`, `hooks`. `system_message` is put after the agent's.

        Raises:
            AdapterError: an option cannot go with the belt; names both sides.
        """
        _refuse(given)
        form = await self._steps.decide()
        fields = dict(form.kwargs)
        fields["tools"] = [Tool(**data, handler=self._call) for data in fields["tools"]]
        fields["system_message"] = _message(form.system, given.get("system_message"))
        return {**given, **fields}

    async def _call(self, call: ToolInvocation) -> ToolResult:
        result = await self._steps.run(call.tool_call_id, call.tool_name, call.arguments)
        said = parts(result, IMAGES)
        text = "\n".join(part for part in said if isinstance(part, str))
        images = [
            ToolBinaryResult(part.get("data", ""), part["mimeType"], "image")
            for part in said
            if isinstance(part, Mapping)
        ]
        failed = {"result_type": "failure", "error": text} if result.is_error else {}
        return ToolResult(text, **failed, binary_results_for_llm=images or None)  # type: ignore[arg-type]  # a literal


def _refuse(given: Mapping[str, Any]) -> None:
    """Refuse options of the host that cannot go with a belt.

    Raises:
        AdapterError: one of them is set; of the tools that are allowed, none at all is a choice too.
    """
    none = {"available_tools": given.get("available_tools") is not None}
    refuse_given({**given, **none}, REFUSED, where="create_session")


def _message(system: str, host: Any) -> dict[str, Any]:
    """The agent's prompt, then the host's own, in the host's mode.

    Raises:
        AdapterError: the host changes single sections of Copilot's own prompt.
    """
    given = dict(host or {"mode": "append"})
    if given.get("mode", "append") not in ("append", "replace"):
        raise AdapterError(
            "create_session's `system_message` changes sections of a prompt, and the belt's is a text",
            mend="write mode 'append' or 'replace'",
            name="system_message",
        )
    content = "\n\n".join(text for text in (system, given.get("content")) if text)
    return {**given, "mode": given.get("mode", "append"), "content": content}


def runner(client: CopilotClient, **options: Any) -> Callable[[LiveAgent, str], Awaitable[str]]:
    """A `run` for `packbelt.open`: every agent of the fleet works in a session of its own.

    Args:
        client: the host's, started.
        options: the host's own for each session; see `Belt.options`.

    Raises:
        AdapterError: an option cannot go with a belt.
    """
    _refuse(options)

    async def run(agent: LiveAgent, request: str) -> str:
        made = await Belt(agent).options(**options)
        if agent.messages:
            # What only a new session takes, this one has been given.
            again = {name: value for name, value in made.items() if name in _RESUMED}
            session = await client.resume_session(_kept(agent), **again)
        else:
            session = await client.create_session(**made)
        agent.messages[:] = [{SESSION: session.session_id, RUN: agent.run_id}]
        try:
            answer = await session.send_and_wait(request, timeout=HOURS)
        finally:
            await session.disconnect()
        data = answer.data if answer is not None else None
        return data.content if isinstance(data, AssistantMessageData) else ""

    return run


def _kept(agent: LiveAgent) -> str:
    """The session that a run is continued in.

    Raises:
        AdapterError: it is another run's, and the SDK cannot start a session from a copy.
    """
    kept = agent.messages[-1]
    if kept[RUN] != agent.run_id:
        raise AdapterError(
            f"agent {agent.name!r} was to start from a copy of another's conversation, which Copilot cannot",
            mend="spawn it without fork_context",
            name=agent.name,
        )
    return str(kept[SESSION])


# the host's own tools -------------------------------------------------------------------------------------


def wrap(
    tools: Iterable[Tool], *, permission: Permission | str | None = None
) -> list[Callable[..., Awaitable[Answer]]]:
    """The host's `Tool`s for `packbelt.load(tools=...)`, called as they were once the gate admits it.

    Their names, descriptions and schemas stay.

    Args:
        tools: the tools.
        permission: what a call needs; default `read`.

    Raises:
        AdapterError: one has no handler, so that there is nothing to call.
    """
    return [_wrapped(tool, permission) for tool in tools]


def _wrapped(tool: Tool, permission: Permission | str | None) -> Callable[..., Awaitable[Answer]]:
    handler = tool.handler
    if handler is None:
        raise AdapterError(f"tool {tool.name!r} has no handler", mend="leave it out", name=tool.name)

    async def call(**arguments: Any) -> Answer:
        made = handler(ToolInvocation(tool_name=tool.name, arguments=arguments))
        return _answer(await made if inspect.isawaitable(made) else made)

    return defined(
        call,
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters or {},
        permission=permission,
    )


def _answer(given: ToolResult | None) -> Answer:
    """What a handler gave: its text and images."""
    if given is None:
        return Answer.of_text("Tool returned no result.", Outcome.TOOL_ERROR)
    images = [
        {"type": "image", "mimeType": one.mime_type, "data": one.data}
        for one in given.binary_results_for_llm or ()
        if one.type == "image"
    ]
    outcome = Outcome.OK if given.result_type == "success" else Outcome.TOOL_ERROR
    text = given.text_result_for_llm or (given.error or "" if outcome is not Outcome.OK else "")
    if not isinstance(text, str):
        text = json.dumps(text)
    return Answer(outcome, ({"type": "text", "text": text}, *images))


__all__ = ["AdapterError", "Belt", "runner", "wrap"]
