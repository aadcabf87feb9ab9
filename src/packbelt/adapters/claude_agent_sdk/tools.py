"""The host's own tools of the SDK as native tools."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

# There is no public way to the schema that the SDK sends for a tool that was declared by Python types.
from claude_agent_sdk import SdkMcpTool, _build_input_schema

from packbelt.catalog.natives import defined
from packbelt.model import Answer, Outcome, Permission


def wrap(
    tools: Iterable[SdkMcpTool[Any]], *, permission: Permission | str | None = None
) -> list[Callable[..., Awaitable[Answer]]]:
    """The host's `SdkMcpTool`s for `packbelt.load(tools=...)`, called as they were once the gate admits it.

    Their names, descriptions and schemas stay. Annotations are not trusted: what a call needs is said here.

    Args:
        tools: made by the SDK's `@tool`.
        permission: what a call needs; default `read`.
    """
    return [_wrapped(tool, permission) for tool in tools]


def _wrapped(tool: SdkMcpTool[Any], permission: Permission | str | None) -> Callable[..., Awaitable[Answer]]:
    async def call(**arguments: Any) -> Answer:
        return _answer(await tool.handler(arguments))

    return defined(
        call,
        name=tool.name,
        description=tool.description,
        input_schema=_build_input_schema(tool),
        permission=permission,
    )


def _answer(given: Mapping[str, Any]) -> Answer:
    """What a handler gave, as the SDK would read it."""
    failed = given.get("is_error") or given.get("isError")
    outcome = Outcome.TOOL_ERROR if failed else Outcome.OK
    return Answer(outcome, tuple(given.get("content") or ()))
