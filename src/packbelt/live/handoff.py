"""Hand-offs: another agent runs with the request, and its answer comes back marked as its words."""

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from packbelt.live.asking import Asking
from packbelt.live.hostcode import is_its_own, told
from packbelt.live.native import within_limit
from packbelt.live.runs import RunStatus
from packbelt.model import Answer, HandOff, Outcome, PackbeltError
from packbelt.model.encode import compact

if TYPE_CHECKING:
    from packbelt.live.agent import LiveAgent


async def hand_off(agent: "LiveAgent", resolved: HandOff, asking: Asking) -> Answer:
    """Spawn the target, let the host run it, close it, and give back what it said.

    A hand-off takes as long as it takes: the time limits are those of its own calls.
    """
    request = (
        resolved.request if not resolved.context else f"{resolved.request}\n\nContext:\n{resolved.context}"
    )
    doing = f"{resolved.tool.name} (a hand-off to {resolved.agent})"
    try:
        child = agent.spawn(resolved.agent, request=request, mcp_servers=resolved.mcp_servers, asking=asking)
        await agent._record.dispatch(doing)
    except PackbeltError as error:
        return Answer.of_text(f"not started: {error}", Outcome.NOT_STARTED)
    try:
        return await run_to_answer(child)
    finally:
        # Whatever the child called has an outcome of its own; the hand-off itself leaves nothing unknown.
        with anyio.CancelScope(shield=True), suppress(PackbeltError):
            await agent._record.known(doing)


async def run_to_answer(agent: "LiveAgent") -> Answer:
    """Enter an agent, let the host run it on its request, and leave it.

    Raises:
        RuntimeError: the fleet has no `run`.
    """
    run = agent.fleet.run
    if run is None:
        raise RuntimeError("the fleet was opened without `run`")
    entered = answered = False
    try:
        async with agent:
            entered = True
            said = await run(agent, agent.request)
            agent.output = said if isinstance(said, str) else compact(said)
            answered = True
    except BaseException as error:
        if not is_its_own(error):
            raise
        # Whatever goes wrong below is an answer here.
        if not entered:
            words = str(error) if isinstance(error, PackbeltError) else told(error)
            return Answer.of_text(f"agent {agent.name} did not start: {words}", Outcome.NOT_STARTED)
        if not answered:  # else its record alone could not be written
            return _answer(agent, RunStatus.FAILED, told(error), Outcome.TOOL_ERROR)
    return _answer(agent, RunStatus.COMPLETED, agent.output, Outcome.OK)


def _answer(agent: "LiveAgent", status: RunStatus, output: str, outcome: Outcome) -> Answer:
    found = {"run_id": agent.run_id, "status": str(status), "output": output}
    text = f"What agent {agent.name} says, in its own words:\n{compact(found)}"
    answer = Answer.of_text(text, outcome, structured=found, said_by=agent.name)
    return within_limit(answer, len(output.encode("utf-8", "surrogatepass")))
