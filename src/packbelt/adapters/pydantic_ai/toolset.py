"""A belt as a toolset."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic_ai import ApprovalRequired, BinaryContent, RunContext, ToolDefinition, ToolFailed
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from packbelt.adapters.pydantic_ai.tools import current
from packbelt.adapters.steps import Approvals, Steps
from packbelt.live.agent import LiveAgent
from packbelt.model import ToolResult
from packbelt.providers.reading import parts

TARGET = "pydantic-ai"
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What goes back as an image."""


class BeltToolset(AbstractToolset[Any]):
    """A belt as a toolset: its direct tools at each step, and its prompt with sections as instructions.

    Alone it cannot answer names that are not sent: those get the SDK's own words. `Belt` does both.

    Args:
        agent: an agent at work.
        approvals: who asks a person: `packbelt` is the fleet's `approve`; with `sdk` the run ends with
            `DeferredToolRequests` for just the calls that need it, and goes on with `DeferredToolResults`.

    Raises:
        AdapterError: there is no such way to approve.
    """

    def __init__(self, agent: LiveAgent, *, approvals: Approvals = "packbelt") -> None:
        self.steps = Steps(agent, TARGET, approvals)

    @property
    def id(self) -> str:
        """The SDK's name of the toolset; an agent has one belt."""
        return "packbelt"

    async def for_run_step(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        """A step begins: what is true now is decided."""
        del ctx
        await self.steps.decide()
        return self

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        """The agent's prompt with its sections as they stand at this step."""
        del ctx
        return (await self.steps.decided()).system

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The direct tools of this step, in the belt's order."""
        del ctx
        form = await self.steps.decided()
        return {data["name"]: self.tool(ToolDefinition(**data)) for data in form.kwargs["tools"]}

    def tool(self, definition: ToolDefinition) -> ToolsetTool[Any]:
        """A tool whose arguments are validated by the gate alone, which answers with a hint."""
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=1, args_validator=_AsSaid())

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """One call, through the gate as it stands now.

        Raises:
            ToolFailed: it was refused, or it failed; the message is what the model reads.
            ApprovalRequired: a person must approve it, and the SDK asks.
        """
        del tool
        arguments = said(tool_args)
        if not ctx.tool_call_approved and await self.steps.needs_approval(name, arguments):
            raise ApprovalRequired
        return await self.run(name, arguments, ctx)

    async def run(self, name: str, arguments: object, ctx: RunContext[Any]) -> Any:
        """One call, through the gate as it stands now; a person who must approve it has, or is asked there.

        Raises:
            ToolFailed: it was refused, or it failed; the message is what the model reads.
        """
        token = current.set(ctx)
        try:
            result = await self.steps.run(
                ctx.tool_call_id or name, name, arguments, approved=ctx.tool_call_approved
            )
        finally:
            current.reset(token)
        if result.is_error:
            raise ToolFailed(result.text)
        return _output(result)


def said(arguments: dict[str, Any]) -> object:
    """Arguments as the model said them, for the gate."""
    return arguments.said if isinstance(arguments, _NoObject) else arguments


class _NoObject(dict[str, Any]):
    """Arguments that are no object, on their way to the gate, which says so."""

    def __init__(self, said: object) -> None:
        super().__init__()
        self.said = said


class _AsSaid:
    """Takes arguments as the model said them."""

    def validate_json(
        self,
        input: str | bytes | bytearray,  # noqa: A002 - the protocol's name
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        del allow_partial, kwargs
        try:
            return self.validate_python(json.loads(input))
        except (ValueError, RecursionError):
            return _NoObject(input if isinstance(input, str) else bytes(input).decode("utf-8", "replace"))

    def validate_python(
        self,
        input: Any,  # noqa: A002 - the protocol's name
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        del allow_partial, kwargs
        return input if isinstance(input, dict) else _NoObject(input)


def _output(result: ToolResult) -> Any:
    """A result as the SDK takes it: text, or text and images."""
    found = parts(result, IMAGES)
    if all(isinstance(part, str) for part in found):
        return result.text
    return [part if isinstance(part, str) else _image(part) for part in found]


def _image(block: Mapping[str, Any]) -> BinaryContent | str:
    try:
        return BinaryContent(base64.b64decode(block.get("data", "")), media_type=block["mimeType"])
    except binascii.Error:
        return f"[image {block['mimeType']}]"
