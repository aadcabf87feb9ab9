"""The host's own tools of the SDK as native tools."""

import base64
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from pydantic_ai import (
    ApprovalRequired,
    BinaryContent,
    CallDeferred,
    FunctionToolset,
    ModelRetry,
    RunContext,
    RunUsage,
    Tool,
    ToolFailed,
    ToolReturn,
)
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import AbstractToolset
from pydantic_core import to_json

from packbelt.adapters.steps import AdapterError
from packbelt.catalog.natives import defined
from packbelt.model import Answer, Outcome, Permission

current: ContextVar[RunContext[Any] | None] = ContextVar("packbelt_pydantic_ai", default=None)
"""The SDK's context of the call that is under way."""

Wrapped = Callable[..., Any] | Tool[Any] | FunctionToolset[Any]
"""What a host may have: functions, tools, and sets of them."""


def wrap(
    tools: Iterable[Wrapped], *, permission: Permission | str | None = None
) -> list[Callable[..., Awaitable[Answer]]]:
    """The host's functions, `Tool`s and `FunctionToolset`s for `packbelt.load(tools=...)`.

    Their names, descriptions and schemas stay, and they are called as they were once the gate admits it.
    Inside a run they get its context; outside, one without `deps`.

    Args:
        tools: the tools.
        permission: what a call needs; default `read`.

    Raises:
        AdapterError: one is run elsewhere, or decides at each step whether it is there.
    """
    found: list[Callable[..., Awaitable[Answer]]] = []
    for each in tools:
        if isinstance(each, FunctionToolset):
            found += [_wrapped(tool, each, permission) for tool in each.tools.values()]
        elif isinstance(each, AbstractToolset):
            raise AdapterError(
                f"{each.label} lists its tools at each step; a native tool is known when the workspace loads",
                mend="configure its server in the workspace, or give a FunctionToolset",
                name=each.label,
            )
        else:
            tool = each if isinstance(each, Tool) else Tool(each)
            found.append(_wrapped(tool, FunctionToolset([tool]), permission))
    return found


def _wrapped(
    tool: Tool[Any], toolset: FunctionToolset[Any], permission: Permission | str | None
) -> Callable[..., Awaitable[Answer]]:
    if tool.prepare is not None:
        raise AdapterError(
            f"tool {tool.name!r} decides by `prepare` whether it is there, and so does packbelt",
            mend="say it by `deny`, `tools` or a ceiling, and leave `prepare` out",
            name=tool.name,
        )

    async def call(**arguments: Any) -> Answer:
        context = current.get() or RunContext[Any](deps=None, model=TestModel(), usage=RunUsage())
        made = (await toolset.get_tools(context))[tool.name]
        try:
            valid = made.args_validator.validate_python(arguments, context=context.validation_context)
            if made.args_validator_func is not None:
                checked = made.args_validator_func(context, **valid)
                if isinstance(checked, Awaitable):
                    await checked
            return _answer(await toolset.call_tool(tool.name, valid, context, made))
        except (ModelRetry, ToolFailed) as failed:
            return Answer.of_text(failed.message, Outcome.TOOL_ERROR)
        except (ApprovalRequired, CallDeferred):
            asked = f"tool {tool.name!r} asks for approval or defers its call, which is the SDK's own loop's"
            return Answer.of_text(asked, Outcome.TOOL_ERROR)

    return defined(
        call,
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.function_schema.json_schema,
        permission=permission,
        approve=tool.requires_approval,
    )


def _answer(output: Any) -> Answer:
    """What a tool gave: its text and images, all else as JSON."""
    given = output.return_value if isinstance(output, ToolReturn) else output
    blocks = (
        given if isinstance(given, list) and any(isinstance(one, BinaryContent) for one in given) else [given]
    )
    return Answer(Outcome.OK, tuple(map(_block, blocks)))


def _block(given: Any) -> Mapping[str, Any]:
    if isinstance(given, BinaryContent) and given.is_image:
        data = base64.b64encode(given.data).decode()
        return {"type": "image", "mimeType": given.media_type, "data": data}
    return {
        "type": "text",
        "text": given if isinstance(given, str) else to_json(given, fallback=str).decode(),
    }
