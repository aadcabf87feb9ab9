"""One call of a tool: sent once, and its outcome told from what the transport saw."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp import ClientSession, MCPError
from mcp.client.auth import OAuthFlowError
from pydantic import ValidationError

from packbelt.live.environment import Resolved
from packbelt.live.servers.elicit import Asker, NotOfferedError
from packbelt.live.servers.exchange import Exchange, exchange
from packbelt.live.servers.failure import (
    ANSWER,
    RedirectRefusedError,
    Witness,
    clean,
    ended,
    explain,
    status_line,
)
from packbelt.model.outcome import Outcome
from packbelt.model.result import Answer
from packbelt.model.text import cut

MAX_RESULT = 1 << 20
"""Bytes of a result, as JSON in UTF-8."""
MAX_ERROR = 16 << 10
"""Bytes kept of the words of a server's error."""
MAX_ROUNDS = 10
"""Times that one call is sent again because its server asked a question; the SDK's own limit."""

_ASK_AGAIN = 0.1  # seconds before a server that only wants to be asked again is asked again
_REDIRECT, _REFUSED, _BROKEN = 300, 400, 500
_NO_CONTENT = 202
_REFUSALS = (RedirectRefusedError, OAuthFlowError, httpx2.ConnectError, httpx2.ConnectTimeout)


@dataclass(frozen=True, slots=True)
class Sender:
    """What sends calls over one connection, from its start to its end.

    Attributes:
        session: the SDK's session.
        resolved: the server's definition, whose values are masked in what is said of it.
        witness: what is seen of the server.
    """

    session: ClientSession
    resolved: Resolved
    witness: Witness

    async def send(self, tool: str, arguments: Mapping[str, Any], asker: Asker, seconds: float) -> Answer:
        """Send a call, and send it again with answers where the server asks for them; never raises for it."""
        answers: mcp_types.InputResponses | None = None
        state: str | None = None
        rounds = 0
        with asker.scope:
            while True:
                await self._round(tool, arguments, asker, answers, state)
                asked = _asked(asker.exchange.result)
                if asked is None:
                    break
                if isinstance(asked, Answer):
                    return self._named(asked)
                rounds += 1
                if rounds > MAX_ROUNDS:
                    return self._named(_failed(f"asked more than {MAX_ROUNDS} times and gave no result"))
                try:
                    answers, state = await asker.respond(asked), asked.request_state
                except NotOfferedError as error:
                    return self._named(_failed(f"asked for {clean(str(error))}, which is not offered"))
                if answers is None:
                    await anyio.sleep(_ASK_AGAIN)
        late = asker.scope.cancelled_caught
        answer = self._judge(asker.exchange, seconds if late else None)
        if rounds and answer.outcome is Outcome.NOT_STARTED:
            # An earlier round reached it, and who knows what it did before it asked.
            answer = Answer(Outcome.AMBIGUOUS, detail=answer.detail)
        return self._named(answer)

    async def _round(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        asker: Asker,
        answers: mcp_types.InputResponses | None,
        state: str | None,
    ) -> None:
        params = mcp_types.CallToolRequestParams(
            name=tool, arguments=dict(arguments), input_responses=answers, request_state=state
        )
        # Not by `Client.call_tool`: that lists tools on its own account, and throws away a result that does
        # not fit its tool's output schema.
        with exchange() as seen, suppress(MCPError, ValidationError):
            asker.exchange = seen
            await self.session.send_request(mcp_types.CallToolRequest(params=params), mcp_types.Result)

    def _judge(self, seen: Exchange, late: float | None) -> Answer:
        if seen.result is not None and not _wants_input(seen.result):
            return answer_of(seen.result)
        if isinstance(seen.answer, mcp_types.JSONRPCError) and self._itself(seen):
            error = seen.answer.error
            if seen.status is None or seen.status < _REDIRECT:
                words = cut(self.resolved.mask(error.message), MAX_ERROR)
                return Answer.of_text(
                    words, Outcome.TOOL_ERROR, detail=f"answered with error {error.code}: {clean(words)}"
                )
            return _by_status(seen.status, f": {clean(self.resolved.mask(error.message))}")
        if seen.lost is not None:
            if isinstance(seen.lost, _REFUSALS) or not seen.sent:
                return _unanswered(explain(seen.lost, Witness(mask=self.resolved.mask), ANSWER), sent=False)
            words = clean(str(seen.lost)) or type(seen.lost).__name__
            return _unanswered(f"took the call and broke off: {words}", sent=True)
        if seen.status is not None and seen.status >= _REDIRECT:
            return _by_status(seen.status, f": {self.witness.refusal}" if self.witness.refusal else "")
        if seen.status == _NO_CONTENT:
            return _unanswered("took the call and will give no answer to it", sent=True)
        if late is not None:
            return _unanswered(f"did not answer within {late:g} s", sent=seen.sent)
        return _unanswered(ended(self.witness) or "the connection was lost", sent=seen.sent)

    def _itself(self, seen: Exchange) -> bool:
        """Whether an error is the server's own, not one that the SDK made up in its place.

        Over a pipe nobody else writes on the stream. Over HTTP the SDK does: for what it could not read, and
        for a response that ended early.
        """
        if self.resolved.spec.transport != "http":
            return True
        made_up = (mcp_types.CONNECTION_CLOSED, "SSE stream "), (mcp_types.PARSE_ERROR, "Failed to parse ")
        error = seen.answer.error if isinstance(seen.answer, mcp_types.JSONRPCError) else None
        return (
            error is not None
            and seen.spoke
            and seen.lost is None
            and not any(error.code == code and error.message.startswith(words) for code, words in made_up)
        )

    def _named(self, answer: Answer) -> Answer:
        if not answer.detail:
            return answer
        words = f"server {self.resolved.spec.name!r} {self.resolved.mask(answer.detail)}"
        if answer.outcome is Outcome.AMBIGUOUS:
            words += "; whether the call ran is not known"
        return Answer(answer.outcome, answer.content, answer.structured, detail=words)


def not_started(server: str, why: str) -> Answer:
    """The answer to a call that was never sent."""
    return Answer(Outcome.NOT_STARTED, detail=f"server {server!r} was not called: {why}")


def writable(arguments: Mapping[str, Any]) -> bool:
    """Whether arguments can be written as JSON in UTF-8; what cannot would end the whole connection."""
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def answer_of(result: Mapping[str, Any]) -> Answer:
    """The answer that a result of `tools/call` is, with its blocks as the server wrote them."""
    content = result.get("content", [] if "structuredContent" in result else None)
    if not isinstance(content, list) or not all(map(_is_block, content)):
        return _failed("answered with something that is no result of a tool")
    try:
        size = len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
    except (ValueError, RecursionError):
        return _failed("answered with something that is no result of a tool")
    if size > MAX_RESULT:
        return _failed(f"gave a result of {size:,} bytes; the limit is {MAX_RESULT:,} bytes")
    # Absent and null are no errors.
    outcome = Outcome.TOOL_ERROR if result.get("isError") else Outcome.OK
    return Answer(outcome, tuple(content), result.get("structuredContent"))


def _is_block(block: object) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def _asked(result: Mapping[str, Any] | None) -> mcp_types.InputRequiredResult | Answer | None:
    """What a result asks for, where it is none yet."""
    if result is None or not _wants_input(result):
        return None
    try:
        return mcp_types.InputRequiredResult.model_validate(result, by_name=False)
    except ValidationError:
        return _failed("asked for something that cannot be read")


def _wants_input(result: Mapping[str, Any]) -> bool:
    return result.get("resultType") == "input_required"


def _by_status(status: int, words: str = "") -> Answer:
    return _unanswered(f"answered HTTP {status_line(status)}{words}", sent=status >= _BROKEN)


def _unanswered(why: str, *, sent: bool) -> Answer:
    return Answer(Outcome.AMBIGUOUS if sent else Outcome.NOT_STARTED, detail=why)


def _failed(why: str) -> Answer:
    return Answer(Outcome.TOOL_ERROR, detail=why)
