"""Questions that a server asks a person during a call, in both protocol eras."""

import logging
import math
from collections.abc import Awaitable, Callable, Iterable

import anyio
import mcp_types

from packbelt.live.servers.exchange import CURRENT, Exchange

Elicit = Callable[[mcp_types.ElicitRequestParams], Awaitable[mcp_types.ElicitResult]]
"""Answers a server's question; what it raises counts as a cancelled question."""

_log = logging.getLogger(__name__)


class NotOfferedError(Exception):
    """A server asked for something that is not offered; the message names the method."""


class Asker:
    """Who answers the questions of one call, and the call's clock, which stands still meanwhile.

    Args:
        elicit: answers; without it every question is declined.
        seconds: what the call may take besides.

    Attributes:
        scope: the call runs inside it; it is cancelled when the time is up.
        exchange: the call's request.
    """

    def __init__(self, elicit: Elicit | None, seconds: float) -> None:
        self._elicit = elicit
        self._left = seconds
        self._questions: set[anyio.CancelScope] = set()
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self.exchange = Exchange()

    async def ask(self, params: mcp_types.ElicitRequestParams) -> mcp_types.ElicitResult:
        """The answer to one question."""
        if self._elicit is None:
            return mcp_types.ElicitResult(action="decline")
        if not self._questions:
            self._left = self.scope.deadline - anyio.current_time()
            self.scope.deadline = math.inf
        question = anyio.CancelScope()
        self._questions.add(question)
        try:
            with question:
                return await self._elicit(params)
        except Exception as error:  # noqa: BLE001 - the host's own; the server is told that nobody answered
            _log.warning("a question of a server was cancelled: elicit raised %s", type(error).__name__)
        finally:
            self._questions.discard(question)
            if not self._questions:
                self.scope.deadline = anyio.current_time() + self._left
        return mcp_types.ElicitResult(action="cancel")

    async def respond(self, asked: mcp_types.InputRequiredResult) -> mcp_types.InputResponses | None:
        """The answers that a call is sent again with; None where the server only wants to be asked again.

        Raises:
            NotOfferedError: it asked for something else than a person's answer.
        """
        requests = asked.input_requests or {}
        for request in requests.values():
            if not isinstance(request, mcp_types.ElicitRequest):
                raise NotOfferedError(request.method)
        answers: mcp_types.InputResponses = {}
        for key, request in requests.items():
            if isinstance(request, mcp_types.ElicitRequest):
                answers[key] = await self.ask(request.params)
        return answers or None

    def close(self) -> None:
        """The call is over: nobody needs the answers any more."""
        for question in self._questions:
            question.cancel()


def asker_now(active: Iterable[Asker]) -> Asker | None:
    """Whose call a question belongs to that came as a message of its own.

    Over HTTP it comes in the context of the request it belongs to. Over a pipe nothing tells, so that it is
    the one call under way, or nobody's.
    """
    current = CURRENT.get()
    under_way = list(active)
    if current is not None:
        return next((asker for asker in under_way if asker.exchange is current), None)
    return under_way[0] if len(under_way) == 1 else None
