"""The host's own tools of the SDK as native tools."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from agents import FunctionTool, RunContextWrapper, Tool, ToolOutputImage, ToolOutputText
from agents.tool import invoke_function_tool
from agents.tool_context import ToolContext

from packbelt.adapters.steps import AdapterError, refuse_given
from packbelt.catalog.natives import defined
from packbelt.model import Answer, Outcome, Permission

current: ContextVar[RunContextWrapper[Any] | None] = ContextVar("packbelt_openai_agents", default=None)
"""The SDK's context of the call that is under way."""


def wrap(
    tools: Iterable[Tool], *, permission: Permission | str | None = None
) -> list[Callable[..., Awaitable[Answer]]]:
    """The host's `FunctionTool`s for `packbelt.load(tools=...)`, called as they were once the gate admits it.

    Their names, descriptions and schemas stay. Inside a run they get its context; outside, an empty one.

    Args:
        tools: the tools.
        permission: what a call needs; default `read`.

    Raises:
        AdapterError: one runs elsewhere, or has what only the SDK's own loop would see to.
    """
    return [_wrapped(tool, permission) for tool in tools]


def _wrapped(tool: Tool, permission: Permission | str | None) -> Callable[..., Awaitable[Answer]]:
    if not isinstance(tool, FunctionTool):
        raise AdapterError(
            f"{tool.name!r} is a {type(tool).__name__}, which its provider runs; a native tool is run here",
            mend="leave it out",
            name=tool.name,
        )
    given = {
        "is_enabled": tool.is_enabled is not True,
        "tool_input_guardrails": tool.tool_input_guardrails,
        "tool_output_guardrails": tool.tool_output_guardrails,
    }
    seen_to = "is seen to by the SDK's own loop alone, and packbelt calls the tool itself; "
    reasons = dict.fromkeys(given, f"{seen_to}say it by `deny`, `approve` or a ceiling, or check in the tool")
    refuse_given(given, reasons, where=f"tool {tool.name!r}")

    async def call(**arguments: Any) -> Answer:
        said_ = json.dumps(arguments, ensure_ascii=False)
        around = current.get() or RunContextWrapper(context=None)
        id_ = around.tool_call_id if isinstance(around, ToolContext) else tool.name
        context: ToolContext[Any] = ToolContext.from_agent_context(
            around, id_, tool_name=tool.name, tool_arguments=said_
        )
        return _answer(await invoke_function_tool(function_tool=tool, context=context, arguments=said_))

    return defined(
        call,
        name=tool.name,
        description=tool.description,
        input_schema=tool.params_json_schema,
        permission=permission,
        approve=tool.needs_approval is not False,
    )


def _answer(output: Any) -> Answer:
    """What a `FunctionTool` gave: its text and images, all else as the SDK would write it."""
    blocks = output if isinstance(output, list) else [output]
    return Answer(Outcome.OK, tuple(map(_block, blocks)))


def _block(output: Any) -> Mapping[str, Any]:
    url = output.image_url if isinstance(output, ToolOutputImage) else None
    if url and url.startswith("data:") and ";base64," in url:
        kind, _, data = url.removeprefix("data:").partition(";base64,")
        return {"type": "image", "mimeType": kind, "data": data}
    return {"type": "text", "text": output.text if isinstance(output, ToolOutputText) else str(output)}
