"""A `run` for `packbelt.open`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, message_to_dict, messages_from_dict
from langchain_core.runnables import RunnableConfig
from pydantic_core import to_json, to_jsonable_python

from packbelt.adapters.langchain.belt import Belt
from packbelt.adapters.steps import AdapterError, refuse_given
from packbelt.live.agent import LiveAgent

AGENT_REFUSED = {
    "tools": "would be sent beside the belt and pass no gate; give them to `packbelt.load(tools=wrap(...))`",
    "checkpointer": "would keep the conversation that packbelt's run keeps; leave it out, or make your own "
    "agent with `Belt(agent)`",
}
"""Options of `create_agent` that cannot go with a belt."""


def runner(
    *,
    model: str | BaseChatModel | Callable[[LiveAgent], str | BaseChatModel],
    middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
    config: RunnableConfig | None = None,
    context: Any = None,
    **options: Any,
) -> Callable[[LiveAgent, str], Awaitable[str]]:
    """A `run` for `packbelt.open`: every agent of the fleet works in LangChain's `create_agent`.

    Args:
        model: a chat model, its name, or what gives one for an agent.
        middleware: the host's own, before the belt.
        config: the host's own configuration of a run.
        context: the host's own object that its tools and middleware are given.
        options: the host's own for `create_agent`: `system_prompt` (after the belt's), `response_format`,
            `state_schema`, `context_schema`, `store`.

    Raises:
        AdapterError: an option cannot go with a belt.
    """
    refuse_given(options, AGENT_REFUSED, where="create_agent")

    async def run(agent: LiveAgent, request: str) -> str:
        chosen = model if isinstance(model, str | BaseChatModel) else model(agent)
        graph: Any = create_agent(chosen, middleware=[*middleware, Belt(agent)], **options)
        messages = [*messages_from_dict(agent.messages), HumanMessage(content=request)]
        state = await graph.ainvoke({"messages": messages}, config, context=context)
        agent.messages[:] = map(_kept, state["messages"])
        if state.get("__interrupt__"):
            raise AdapterError(
                f"the run of {agent.name!r} was interrupted, and nobody can resume it here",
                mend="use the fleet's `approve`, or make your own agent with `Belt(agent)`",
                name=agent.name,
            )
        output = state.get("structured_response")
        if output is not None:
            return to_json(output, fallback=str).decode()
        return str(state["messages"][-1].text)

    return run


def _kept(message: BaseMessage) -> Any:
    """A message as JSON."""
    return to_jsonable_python(message_to_dict(message), fallback=str)
