"""Calls in rounds (2026-07-28): a call that needs an answer ends, and is made again with the answer.

Approvals need nothing kept between the rounds: what is asked depends on the call alone, and the state that
the client carries back says that it was asked. A server's question comes from the middle of its own call,
which must not be made twice: that call is kept waiting, where one process serves the whole connection.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import mcp_types as t
from anyio.abc import TaskGroup

from packbelt.gateway.client import UNANSWERED, Ask

APPROVAL = "approval"
"""The key of the question whether a call may be made, and the state of a call of which it was asked."""
_ANSWER = "answer"
PATIENCE = 600.0
"""Seconds that a waiting call is kept for its answer."""
AT_ONCE = 64
"""Calls that may wait for answers at a time."""

Work = Callable[[Ask], Awaitable[t.CallToolResult]]


def asks_approval(asked: t.ElicitRequestParams) -> t.InputRequiredResult:
    """The end of the first round of a call that must be approved."""
    return t.InputRequiredResult(
        input_requests={APPROVAL: t.ElicitRequest(params=asked)}, request_state=APPROVAL
    )


def approved(params: t.CallToolRequestParams) -> bool | None:
    """What was answered to that question; None in a round in which it was not asked."""
    if params.request_state != APPROVAL:
        return None
    answer = (params.input_responses or {}).get(APPROVAL)
    return isinstance(answer, t.ElicitResult) and answer.action == "accept"


@dataclass(slots=True)
class _Waiting:
    """A call under way in a task of its own, and what passes between it and the rounds."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    turn: anyio.Event = field(default_factory=anyio.Event)
    asked: t.ElicitRequestParams | None = None
    answer: t.ElicitResult | None = None
    answered: anyio.Event = field(default_factory=anyio.Event)
    result: t.CallToolResult | None = None
    failed: Exception | None = None
    one: anyio.Lock = field(default_factory=anyio.Lock)


class Rounds:
    """The calls of one connection that wait for answers.

    Args:
        tasks: where they run; cancelled with the connection.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._waiting: dict[str, tuple[_Waiting, t.ElicitRequestParams]] = {}

    async def begin(self, work: Work) -> t.CallToolResult | t.InputRequiredResult:
        """Make a call: its result, or what it asks first."""
        call = _Waiting()

        async def ask(asked: t.ElicitRequestParams) -> t.ElicitResult:
            async with call.one:
                call.asked, call.answer, call.answered = asked, None, anyio.Event()
                call.turn.set()
                with anyio.move_on_after(PATIENCE):
                    await call.answered.wait()
                if call.answer is None:  # too late: whoever answers now is told how the call ended
                    call.asked, call.turn = None, anyio.Event()
                return call.answer or UNANSWERED

        async def run() -> None:
            try:
                with call.scope:
                    call.result = await work(ask)
            except Exception as error:  # noqa: BLE001 - raised in the round that waits for it
                call.failed = error
            finally:
                call.turn.set()

        self._tasks.start_soon(run)
        return await self._until(call)

    async def resume(
        self, state: str, responses: t.InputResponses | None
    ) -> t.CallToolResult | t.InputRequiredResult | None:
        """The next round of a waiting call; None where no such call waits any more."""
        if state not in self._waiting:
            return None
        call, asked = self._waiting.pop(state)
        if call.asked is asked:  # else its patience ended, and the answer is to no question any more
            answer = (responses or {}).get(_ANSWER)
            call.answer = answer if isinstance(answer, t.ElicitResult) else UNANSWERED
            call.asked, call.turn = None, anyio.Event()
            call.answered.set()
        return await self._until(call)

    async def _until(self, call: _Waiting) -> t.CallToolResult | t.InputRequiredResult:
        """Wait until the call has ended or asks; a round that is cancelled cancels its call."""
        try:
            await call.turn.wait()
        except anyio.get_cancelled_exc_class():
            call.scope.cancel()
            raise
        if call.failed is not None:
            raise call.failed
        if call.result is not None:
            return call.result
        if call.asked is None or not self._room():
            call.scope.cancel()
            text = "The call was ended: too many calls wait for answers."
            return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=True)
        state = secrets.token_urlsafe(16)
        self._waiting[state] = call, call.asked
        return t.InputRequiredResult(
            input_requests={_ANSWER: t.ElicitRequest(params=call.asked)}, request_state=state
        )

    def _room(self) -> bool:
        """Whether one more call may wait; those whose patience ended and that nobody asked for are let go."""
        if len(self._waiting) >= AT_ONCE:
            over = [state for state, (call, asked) in self._waiting.items() if call.asked is not asked]
            for state in over:
                del self._waiting[state]
        return len(self._waiting) < AT_ONCE
