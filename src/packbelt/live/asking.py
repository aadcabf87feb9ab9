"""Who is asked: a person's approval of a call, and a server's question to a person."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from packbelt.live.hostcode import is_its_own
from packbelt.model import Call, HandOff, Tool

if TYPE_CHECKING:
    import mcp_types


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that a person must approve before it is made; the gate has admitted it already.

    Attributes:
        path: the agents from the root down to the one that calls.
        tool: what is called.
        arguments: with what.
    """

    path: tuple[str, ...]
    tool: Tool
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, path: tuple[str, ...], resolved: Call | HandOff) -> Self:
        """What is asked about an admitted call.

        Args:
            path: the agents from the root down to the one that calls.
            resolved: what the call came to.
        """
        return cls(path, resolved.tool, arguments_of(resolved))


def arguments_of(resolved: Call | HandOff) -> dict[str, Any]:
    """What a tool is called with; for a hand-off, what of it was given."""
    if isinstance(resolved, Call):
        return dict(resolved.arguments)
    given = {"request": resolved.request, "context": resolved.context, "mcp_servers": resolved.mcp_servers}
    return {key: value for key, value in given.items() if value is not None}


Approve = Callable[[Approval], bool | Awaitable[bool]]
"""Answers an `Approval`. One that raises has not approved."""

Elicit = Callable[
    [str, tuple[str, ...], "mcp_types.ElicitRequestParams"], Awaitable["mcp_types.ElicitResult"]
]
"""Answers a server's question: given the server's name, the path of the agent whose call it serves, and what
is asked, in the MCP SDK's types."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who can be asked; None where nobody can."""

    approve: Approve | None = None
    elicit: Elicit | None = None

    async def refusal(self, approval: Approval) -> str:
        """Why the call is not approved; empty if it is."""
        name = approval.tool.wire_name
        if self.approve is None:
            return f"{name} was not called: it needs a person's approval, and there is nobody to ask"
        try:
            said = self.approve(approval)
            if inspect.isawaitable(said):
                said = await said
        except BaseException as error:
            if not is_its_own(error):
                raise
            # Whoever fails to answer has not approved.
            why = f"asking for a person's approval failed ({type(error).__name__})"
            return f"{name} was not called: {why}"
        return "" if said is True else f"{name} was not called: a person declined it"
