"""The relay: a call passes the gate of the agent that makes it, is dispatched once, and its outcome is kept.

Every call goes this one way, whatever opener, name or hint it came by: resolved against what is true now,
approved where a person must approve, recorded in its run before it leaves, and sent over the connection that
the agents share. Nothing is ever sent twice.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

import anyio

from packbelt.live.asking import Approval, Asking, arguments_of
from packbelt.live.calling import serving
from packbelt.live.hostcode import is_its_own
from packbelt.live.native import call_native
from packbelt.live.runs.marks import Marks
from packbelt.model import (
    Answer,
    Call,
    HandOff,
    Outcome,
    PackbeltError,
    Refusal,
    Tool,
    ToolCall,
    ToolResult,
)
from packbelt.model.encode import digest

if TYPE_CHECKING:
    import mcp_types

    from packbelt.live.agent import LiveAgent

Dispatching = Callable[[], Awaitable[None]]
"""Awaited when a call is about to leave: what is kept of it must say so first."""
Send = Callable[[Dispatching], Awaitable[Answer]]
"""Sends one call, once, and gives its answer."""

AT_ONCE = 32
"""Calls of one reply that are under way at a time."""

_chain: ContextVar[tuple[str, ...]] = ContextVar("packbelt_chain", default=())
"""The calls that are open above the present one, in this task."""


class NoAnswerError(Exception):
    """A server's question got no answer; the message holds nothing of what was asked."""


async def relay_all(agent: "LiveAgent", calls: Sequence[ToolCall], asking: Asking) -> list[ToolResult]:
    """Run calls side by side; results in the order of the calls."""
    if len(calls) == 1:
        return [await relay(agent, calls[0], asking)]
    results: dict[int, ToolResult] = {}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(position: int, call: ToolCall) -> None:
        async with limiter:
            results[position] = await relay(agent, call, asking)

    async with anyio.create_task_group() as tasks:
        for position, call in enumerate(calls):
            tasks.start_soon(one, position, call)
    return [results[position] for position in range(len(calls))]


async def relay(agent: "LiveAgent", call: ToolCall, asking: Asking) -> ToolResult:
    """One call, from the gate to its answer."""
    with agent.fleet._observer.call(agent, call) as seen:
        resolved = _gate(agent, call)
        if isinstance(resolved, ToolResult):
            return seen.ended(resolved)
        if resolved.approve:
            asked = Approval.of(agent.path, resolved)
            refusal = await asking.refusal(asked)
            seen.asked(refusal)
            if refusal:
                return seen.ended(_not_made(call, resolved, refusal, Outcome.REJECTED))
            # A person takes time, and what was admitted before may not be any more.
            resolved = _gate(agent, call)
            if isinstance(resolved, ToolResult):
                return seen.ended(resolved)
            if (asked.tool.id, asked.arguments) != (resolved.tool.id, arguments_of(resolved)):
                why = f"not started: what {call.name} comes to now is not the one that was approved"
                return seen.ended(_not_made(call, resolved, why, Outcome.NOT_STARTED))
        seen.admitted(resolved)
        answer = await _dispatch(agent, call, resolved, asking, seen.dispatched)
        return seen.ended(ToolResult(call, answer, resolved.tool.id))


def _gate(agent: "LiveAgent", call: ToolCall) -> Call | HandOff | ToolResult:
    """What becomes of a call as things are now; its result where it is not to be made."""
    if agent._over:
        return _not_made(call, None, f"not started: agent {agent.name!r} was left", Outcome.NOT_STARTED)
    try:
        handle, speech = agent.handle(), call.speech
        if speech is None:
            resolved = handle.resolve(call.name, call.arguments)
        else:
            resolved = handle.resolve(call.name, call.arguments, speech.spell, search=speech.search)
        if not isinstance(resolved, Refusal):
            return resolved
        belt = handle.turn(agent.snapshot).belt
    except PackbeltError as error:  # its file is gone, or loads no more
        return _not_made(call, None, f"not started: {error}", Outcome.NOT_STARTED)
    known = belt[call.name].tool.id if call.name in belt else None
    answer = Answer.of_text(resolved.hint.text, Outcome.REJECTED)
    return ToolResult(call, answer, known, resolved.hint)


def _not_made(call: ToolCall, resolved: Call | HandOff | None, why: str, outcome: Outcome) -> ToolResult:
    return ToolResult(call, Answer.of_text(why, outcome), resolved.tool.id if resolved else None)


async def _dispatch(
    agent: "LiveAgent", call: ToolCall, resolved: Call | HandOff, asking: Asking, on_sent: Callable[[], None]
) -> Answer:
    if isinstance(resolved, Call) and resolved.answer is not None:
        return Answer.of_text(resolved.answer)
    key, above = _key(resolved), _chain.get()
    if key in above:
        return Answer.of_text(
            f"{resolved.tool.id} is open further up this very chain of calls; calling it again from inside "
            "itself would never end",
            Outcome.REJECTED,
        )
    token = _chain.set((*above, key))
    try:
        if isinstance(resolved, HandOff):
            on_sent()
            return await agent._hand_off(resolved, asking)
        if resolved.tool.id.server is None:
            send = _native(agent, call, resolved, asking)
        else:
            send = _server(agent, resolved, asking)
        if isinstance(send, Answer):
            return send
        return await _recorded(agent._record, resolved.tool, send, on_sent)
    finally:
        _chain.reset(token)


def _key(resolved: Call | HandOff) -> str:
    """What must not be open twice in one chain.

    A server as a whole, since it may take one call at a time; of all else the very same call.
    """
    tool = resolved.tool
    if tool.id.server is not None:
        return tool.id.source
    return f"{tool.id} {digest(arguments_of(resolved))}"


def _native(agent: "LiveAgent", call: ToolCall, resolved: Call, asking: Asking) -> Send | Answer:
    """How a native tool is called, or why it cannot be."""
    function = agent.fleet.workspace.handlers.get(resolved.tool.name)
    if function is None:
        return Answer.of_text(f"nothing handles {resolved.tool.name!r} any more", Outcome.NOT_STARTED)

    async def send(dispatching: Dispatching) -> Answer:
        await dispatching()
        with serving(agent, call, resolved, asking):
            return await call_native(function, resolved.arguments)

    return send


def _server(agent: "LiveAgent", call: Call, asking: Asking) -> Send | Answer:
    """How a server's tool is called over the connection that the agents share, or why it cannot be."""
    server = call.tool.id.server or ""
    connection = agent._connection(server)
    if connection is None:
        return Answer.of_text(f"server {server!r} is not connected", Outcome.NOT_STARTED)
    elicit = _elicit(agent, server, asking)

    async def send(dispatching: Dispatching) -> Answer:
        return await connection.call(call.tool.name, call.arguments, dispatching=dispatching, elicit=elicit)

    return send


def _elicit(
    agent: "LiveAgent", server: str, asking: Asking
) -> "Callable[[mcp_types.ElicitRequestParams], Awaitable[mcp_types.ElicitResult]] | None":
    """How this call's server reaches a person: the chain of calls goes with the question."""
    ask, chain = asking.elicit, _chain.get()
    if ask is None:
        return None
    from mcp_types import ElicitResult  # noqa: PLC0415 - who has no server needs no SDK

    async def elicit(params: "mcp_types.ElicitRequestParams") -> "mcp_types.ElicitResult":
        token = _chain.set(chain)
        try:
            said = await ask(server, agent.path, params)
        except BaseException as error:
            if not is_its_own(error):
                raise
            raise NoAnswerError(f"elicit raised {type(error).__name__}") from None
        finally:
            _chain.reset(token)
        if not isinstance(said, ElicitResult):
            raise NoAnswerError(f"elicit gave {type(said).__name__}, which is no ElicitResult")
        return said

    return elicit


async def _recorded(marks: Marks, tool: Tool, send: Send, on_sent: Callable[[], None]) -> Answer:
    """Send a call with its run's record kept: marked before it leaves, settled when its outcome is known."""
    doing, sent = str(tool.id), False

    async def dispatching() -> None:
        nonlocal sent
        await marks.dispatch(doing)
        sent = True
        on_sent()

    try:
        answer = await send(dispatching)
    except BaseException as error:
        if isinstance(error, PackbeltError) and not sent:
            return Answer.of_text(f"not started: {error}", Outcome.NOT_STARTED)
        if sent:
            with anyio.CancelScope(shield=True), suppress(PackbeltError):
                await marks.unknown(doing, "was cancelled under way")
        raise
    if sent:
        # A record that cannot be settled stays what it was, not resumable; the answer is known all the same.
        with anyio.CancelScope(shield=True), suppress(PackbeltError):
            if answer.outcome is Outcome.AMBIGUOUS:
                await marks.unknown(doing, answer.detail or "has no known outcome")
            else:
                await marks.known(doing)
    return answer
