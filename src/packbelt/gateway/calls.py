"""One call of a client: through the gate and the relay, and back in the protocol's form."""

import mcp_types as t
from pydantic import ValidationError

from packbelt.belt.spell import Spell
from packbelt.gateway.client import UNANSWERED, Ask, Client, from_server, question, unaskable
from packbelt.gateway.rounds import Rounds, approved, asks_approval
from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Approval
from packbelt.model import Answer, Outcome, Refusal, ToolCall
from packbelt.turn import Turn

Result = t.CallToolResult | t.InputRequiredResult


class NobodyToAskError(Exception):
    """The client whose call it is cannot put a question to its user."""


class Caller:
    """Makes the calls of one agent's clients.

    Args:
        live: the agent at work.
        spell: how its clients show a wire name.
        rounds: keeps calls that wait for an answer; None where nothing may be kept between requests.
    """

    def __init__(self, live: LiveAgent, spell: Spell, rounds: Rounds | None) -> None:
        self._live = live
        self._spell = spell
        self._rounds = rounds

    async def call(self, turn: Turn, client: Client, params: t.CallToolRequestParams) -> Result:
        """Make a call, or ask what has to be asked first.

        Args:
            turn: the agent's turn as it is now.
            client: whose call it is.
            params: the call, and in a later round what was answered.
        """
        given = approved(params)
        if params.request_state is not None and given is None:
            resumed = self._rounds and await self._rounds.resume(params.request_state, params.input_responses)
            return resumed or _said("This call waits no more for an answer. Make it anew.")
        if not (client.modern and client.can_be_asked):
            return await self._made(params, _Desk(client, client.ask if client.can_be_asked else None))
        if given is None:
            resolved = turn.resolve(params.name, params.arguments, self._spell)
            if not isinstance(resolved, Refusal) and resolved.approve:
                return asks_approval(question(Approval.of(self._live.path, resolved)))
        if self._rounds is None:
            return await self._made(params, _Desk(client, None, given))
        return await self._rounds.begin(lambda ask: self._made(params, _Desk(client, ask, given)))

    async def _made(self, params: t.CallToolRequestParams, desk: "_Desk") -> t.CallToolResult:
        call = ToolCall(str(desk.client.context.request_id), params.name, params.arguments)
        (result,) = await self._live.run([call], approve=desk.approve, elicit=desk.elicit)
        if desk.unasked and result.outcome is Outcome.REJECTED:
            return _said(unaskable(desk.unasked, desk.client))
        return result_of(result.answer, modern=desk.client.modern)


class _Desk:
    """Where one call's questions go.

    Attributes:
        unasked: the tool whose approval nobody could be asked for; empty if there is none.
    """

    def __init__(self, client: Client, ask: Ask | None, given: bool | None = None) -> None:
        self.client = client
        self._ask = ask
        self._given = given
        self.unasked = ""

    async def approve(self, approval: Approval) -> bool:
        """Whether the client's user approves a call.

        Raises:
            NobodyToAskError: he cannot be asked.
        """
        if self._given is not None and len(approval.path) == 1:  # not to what the call leads to further down
            return self._given
        if self._ask is None:
            self.unasked = approval.tool.name
            raise NobodyToAskError
        return (await self._ask(question(approval))).action == "accept"

    async def elicit(
        self, server: str, path: tuple[str, ...], asked: t.ElicitRequestParams
    ) -> t.ElicitResult:
        """What the client's user answers a server."""
        del path
        if self._ask is None or not self.client.takes(asked):
            return UNANSWERED
        return await self._ask(from_server(server, asked))


def result_of(answer: Answer, *, modern: bool) -> t.CallToolResult:
    """An answer as the result of a call: what the tool gave, as it gave it.

    Args:
        answer: how the call ended.
        modern: whether the client's era takes any JSON as a structured result; before, only objects.
    """
    content = list(answer.content)
    if not content and answer.detail:
        content = [{"type": "text", "text": answer.detail}]
    structured = answer.structured if modern or isinstance(answer.structured, dict) else None
    data = {"content": content, "structuredContent": structured, "isError": answer.is_error}
    try:
        return t.CallToolResult.model_validate(data)
    except ValidationError:  # content that this protocol does not know: its words, where it has any
        return _said(answer.text, error=answer.is_error)


def _said(text: str, *, error: bool = True) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=error)
