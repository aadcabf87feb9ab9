"""A `run` for `packbelt.open`."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agents import Model, RunConfig, RunHooks, Runner
from agents.run_config import DEFAULT_MAX_TURNS

from packbelt.adapters.openai_agents.belt import AGENT_REFUSED, Belt
from packbelt.adapters.steps import refuse_given
from packbelt.live.agent import LiveAgent


def runner(
    *,
    model: str | Model | Callable[[LiveAgent], str | Model] | None = None,
    run_config: RunConfig | Mapping[str, Any] | None = None,
    max_turns: int | None = DEFAULT_MAX_TURNS,
    context: Any = None,
    hooks: RunHooks[Any] | None = None,
    search: bool = False,
    **options: Any,
) -> Callable[[LiveAgent, str], Awaitable[str]]:
    """A `run` for `packbelt.open`: every agent of the fleet works in the OpenAI Agents SDK.

    Args:
        model: a model, its name, or what gives one for an agent.
        run_config: the host's own configuration of a run.
        max_turns: model steps of one run.
        context: the host's own object that its tools are given.
        hooks: the host's own hooks of a run.
        search: see `Belt`.
        options: the host's own for each `Agent`; see `Belt.agent`.

    Raises:
        AdapterError: an option cannot go with a belt.
    """
    refuse_given(options, AGENT_REFUSED, where="Agent")

    async def run(agent: LiveAgent, request: str) -> str:
        belt = Belt(agent, search=search)
        chosen = model(agent) if callable(model) else model
        result = await Runner.run(
            belt.agent(model=chosen, **options),
            [*agent.messages, {"role": "user", "content": request}],
            run_config=belt.run_config(run_config),
            max_turns=max_turns,
            context=context,
            hooks=hooks,
        )
        agent.messages[:] = result.to_input_list()
        output = result.final_output
        return output if isinstance(output, str) else json.dumps(output, default=_plain, ensure_ascii=False)

    return run


def _plain(value: Any) -> Any:
    """An output of the host's own type as JSON."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)
