"""The client whose call is being served: what it can be asked, and how that is done in its protocol's era.

Before 2026-07-28 the server asks the client in the middle of a call. Since then a server asks nothing: the
call is answered with what is wanted, and made again with the answers (`rounds.py`).
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as t
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from packbelt.live.asking import Approval
from packbelt.model.encode import compact
from packbelt.model.text import cut, inert, quoted

ARGUMENTS_SHOWN = 2000
"""Bytes of a call's arguments that a person is shown."""

Context = ServerRequestContext[Any, Any]
Ask = Callable[[t.ElicitRequestParams], Awaitable[t.ElicitResult]]
"""Puts a question to the client's user."""

UNANSWERED = t.ElicitResult(action="cancel")
"""What a question comes to that nobody can be asked, or that nobody answers."""


async def unanswered(server: str, path: tuple[str, ...], asked: t.ElicitRequestParams) -> t.ElicitResult:
    """Answers the questions of servers that belong to no client's call."""
    del server, path, asked
    return UNANSWERED


@dataclass(frozen=True, slots=True)
class Client:
    """One call's client.

    Attributes:
        context: the SDK's context of the call.
    """

    context: Context

    @property
    def modern(self) -> bool:
        """Whether it speaks 2026-07-28 or later."""
        return self.context.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_be_asked(self) -> bool:
        """Whether it shows its user forms."""
        return self._reachable and self._takes("form")

    def takes(self, asked: t.ElicitRequestParams) -> bool:
        """Whether it can put this question to its user."""
        return self._reachable and self._takes(asked.mode or "form")

    @property
    def _reachable(self) -> bool:
        return self.modern or self.context.session.can_send_request

    def _takes(self, mode: str) -> bool:
        declared = self.context.session.client_capabilities
        elicitation = declared.elicitation if declared else None
        if elicitation is None:
            return False
        if mode == "url":
            return elicitation.url is not None
        # An empty capability is the form mode, which was the only one at first.
        return elicitation.form is not None or elicitation.url is None

    async def ask(self, asked: t.ElicitRequestParams) -> t.ElicitResult:
        """Ask in the middle of the call (before 2026-07-28); a client that fails has not answered."""
        session, request = self.context.session, self.context.request_id
        try:
            if isinstance(asked, t.ElicitRequestURLParams):
                identity = asked.elicitation_id or secrets.token_hex(8)  # optional in the later era only
                return await session.elicit_url(asked.message, asked.url, identity, request)
            return await session.elicit_form(asked.message, asked.requested_schema, request)
        except (MCPError, ValueError):  # pydantic's errors among them
            return UNANSWERED


def question(approval: Approval) -> t.ElicitRequestFormParams:
    """The question whether a call may be made: a form without fields, to be accepted or declined."""
    tool = approval.tool
    source = f" of MCP server {quoted(tool.id.server)}" if tool.id.server else ""
    arguments = cut(inert(compact(approval.arguments)), ARGUMENTS_SHOWN)
    return t.ElicitRequestFormParams(
        message=f"May {' > '.join(approval.path)} call {tool.name}{source}? Arguments: {arguments}",
        requested_schema={"type": "object", "properties": {}},
    )


def from_server(server: str, asked: t.ElicitRequestParams) -> t.ElicitRequestParams:
    """A server's question with the server named: to the client it would come from the gateway."""
    return asked.model_copy(update={"message": f"MCP server {quoted(server)} asks: {asked.message}"})


UNASKABLE = (
    "{tool} was not called: it needs a person's approval, and this client cannot be made to ask for one "
    "({why}). Tell the user."
)


def unaskable(tool: str, client: Client) -> str:
    """Why a call that needs an approval was rejected without a question."""
    declared = client.context.session.client_capabilities
    why = (
        "it shows no elicitation forms"
        if client.modern or (declared and not declared.elicitation)
        else "a stateless connection of its protocol's version has no way back"
        if not client.context.session.can_send_request
        else "it shows no elicitation forms"
    )
    return UNASKABLE.format(tool=tool, why=why)
