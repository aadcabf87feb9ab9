"""A belt as a capability."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.toolsets import AbstractToolset

from packbelt.adapters.pydantic_ai.toolset import BeltToolset, said
from packbelt.adapters.steps import AdapterError, Approvals
from packbelt.live.agent import LiveAgent


class Belt(AbstractCapability[Any]):
    """A belt inside Pydantic AI: its toolset, and hints for every name that is not sent.

    Args:
        agent: an agent at work.
        approvals: see `BeltToolset`.

    Raises:
        AdapterError: there is no such way to approve.
    """

    def __init__(self, agent: LiveAgent, *, approvals: Approvals = "packbelt") -> None:
        self.toolset = BeltToolset(agent, approvals=approvals)
        self._strays: set[str] = set()

    def get_toolset(self) -> AbstractToolset[Any]:
        """The belt's direct tools and instructions."""
        return self.toolset

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Look at what is about to be sent.

        Raises:
            AdapterError: the request has a tool beside the belt.
            ResidueError: it lacks one.
        """
        del ctx
        form = await self.toolset.steps.decided()
        parameters = request_context.model_request_parameters
        sent = [tool.name for tool in parameters.function_tools]
        others = [name for name in sent if name not in form.enforcement.plan]
        others += [tool.kind for tool in parameters.native_tools]
        if others:
            raise AdapterError(
                f"the agent's tool {others[0]!r} would be sent beside packbelt's belt and pass no gate",
                mend="give it to `packbelt.load(tools=wrap(...))`, or leave it out",
                name=others[0],
            )
        form.enforcement.verify(sent)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Take the calls of names that were not sent, before the SDK finds that it has no such tool."""
        del request_context
        self._strays = set()
        tools = ctx.tool_manager.tools if ctx.tool_manager else None
        for call in response.tool_calls:
            if tools is not None and call.tool_name not in tools:
                tools[call.tool_name] = self.toolset.tool(ToolDefinition(name=call.tool_name))
                self._strays.add(call.tool_name)
        return response

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        """Run a call of a name that was not sent: a packed tool, or the hint that says what to do."""
        del tool_def
        if call.tool_name not in self._strays:
            return await handler(args)
        return await self.toolset.run(call.tool_name, said(args), ctx)
