"""A `run` for `packbelt.open`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_ai import Agent, ModelMessagesTypeAdapter, UsageLimits
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import Model
from pydantic_core import to_json

from packbelt.adapters.pydantic_ai.belt import Belt
from packbelt.adapters.steps import refuse_given
from packbelt.live.agent import LiveAgent

AGENT_REFUSED = {
    "tools": "would be sent beside the belt and pass no gate; give them to `packbelt.load(tools=wrap(...))`",
    "toolsets": "would be sent beside the belt and pass no gate; give their tools to "
    "`packbelt.load(tools=wrap(...))`, or configure their servers in the workspace",
}
"""Options of an `Agent` that cannot go with a belt."""


def runner(
    *,
    model: str | Model | Callable[[LiveAgent], str | Model] | None = None,
    deps: Any = None,
    usage_limits: UsageLimits | None = None,
    capabilities: Sequence[AbstractCapability[Any]] = (),
    **options: Any,
) -> Callable[[LiveAgent, str], Awaitable[str]]:
    """A `run` for `packbelt.open`: every agent of the fleet works in Pydantic AI.

    Args:
        model: a model, its name, or what gives one for an agent.
        deps: the host's own object that its tools are given.
        usage_limits: limits of one run.
        capabilities: the host's own, beside the belt.
        options: the host's own for each `Agent`: `model_settings`, `instructions`, `output_type`, `retries`.

    Raises:
        AdapterError: an option cannot go with a belt.
    """
    refuse_given(options, AGENT_REFUSED, where="Agent")

    async def run(agent: LiveAgent, request: str) -> str:
        chosen = model(agent) if callable(model) else model
        made: Agent[Any, Any] = Agent(
            chosen,
            capabilities=[Belt(agent), *capabilities],
            **{"name": agent.name, **options},
        )
        result = await made.run(
            request,
            message_history=ModelMessagesTypeAdapter.validate_python(agent.messages),
            deps=deps,
            usage_limits=usage_limits,
        )
        agent.messages[:] = ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json")
        output = result.output
        return output if isinstance(output, str) else to_json(output, fallback=str).decode()

    return run
