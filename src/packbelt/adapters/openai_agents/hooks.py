"""What the SDK asks and tells an agent besides its tools: the host's own stays, beside packbelt's."""

from collections.abc import Awaitable, Callable
from typing import Any

from agents import (
    Agent,
    AgentHookContext,
    AgentHooks,
    ModelResponse,
    RunContextWrapper,
    Tool,
    TResponseInputItem,
)

from packbelt.adapters.steps import Steps


class Instructions:
    """The agent's prompt with its sections as they stand at this step, then the host's own."""

    def __init__(self, steps: Steps, more: Any) -> None:
        self._steps = steps
        self._more = more

    async def __call__(self, context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        """What the model is told at this step."""
        form = await self._steps.decided()
        more = self._more(context, agent) if callable(self._more) else self._more
        if isinstance(more, Awaitable):
            more = await more
        return "\n\n".join(text for text in (form.system, more) if text)


class Hooks(AgentHooks[Any]):
    """Sees each reply of the model, and passes everything on to the host's own hooks."""

    def __init__(self, saw: Callable[[ModelResponse], None], host: AgentHooks[Any] | None) -> None:
        self._saw = saw
        self._host: AgentHooks[Any] = host or AgentHooks()

    async def on_start(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        """The host's own."""
        await self._host.on_start(context, agent)

    async def on_end(self, context: AgentHookContext[Any], agent: Agent[Any], output: Any) -> None:
        """The host's own."""
        await self._host.on_end(context, agent, output)

    async def on_handoff(
        self, context: RunContextWrapper[Any], agent: Agent[Any], source: Agent[Any]
    ) -> None:
        """The host's own."""
        await self._host.on_handoff(context, agent, source)

    async def on_tool_start(self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool) -> None:
        """The host's own."""
        await self._host.on_tool_start(context, agent, tool)

    async def on_tool_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool, result: object
    ) -> None:
        """The host's own."""
        await self._host.on_tool_end(context, agent, tool, result)

    async def on_llm_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        """The host's own."""
        await self._host.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        """Look at the reply, then the host's own."""
        self._saw(response)
        await self._host.on_llm_end(context, agent, response)
