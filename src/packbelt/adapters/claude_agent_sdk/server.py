"""The one MCP server that Claude is given: in this process, listing the belt, its calls through the gate."""

from dataclasses import replace
from typing import Any

import mcp_types as t
from mcp.server.lowlevel import Server

from packbelt._version import __version__
from packbelt.adapters.claude_agent_sdk.decisions import Decisions
from packbelt.gateway.calls import result_of
from packbelt.gateway.shelf import listed
from packbelt.model import Answer
from packbelt.providers import Form
from packbelt.providers.claude_agent_sdk import SERVER

META = {"anthropic/alwaysLoad": True, "anthropic/maxResultSizeChars": 500_000}
"""Read by Claude Code: never put the tool off for its tool search, and give the model a long result instead
of a file that it may have no tool to read (500,000 characters is the most it takes)."""
CALL_ID = "claudecode/toolUseId"
"""Where Claude Code says the model's id of a call."""


class BeltServer:
    """The server.

    Args:
        decisions: of the agent whose belt it lists.

    Attributes:
        mcp: the SDK's server, for `ClaudeAgentOptions.mcp_servers`.
        form: the form that was listed last, or None before the first list.
    """

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self.form: Form | None = None
        self.mcp: Server[Any] = Server(
            SERVER, version=__version__, on_list_tools=self._list, on_call_tool=self._call
        )

    async def _list(self, ctx: Any, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        del ctx, params
        self.form = await self._decisions.form()
        tools = [one.model_copy(update={"meta": META}) for one in listed(self.form.tools)]
        return t.ListToolsResult(tools=tools)

    async def _call(self, ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
        meta: Any = params.meta or {}
        call_id = str(meta.get(CALL_ID) or ctx.request_id)
        result = await self._decisions.run(call_id, params.name, params.arguments)
        return result_of(shown(result.answer), modern=False)


def shown(answer: Answer) -> Answer:
    """An answer as Claude has to be given it: where there is a structured one, it shows nothing else."""
    return replace(answer, structured=None) if answer.content else answer


__all__ = ["BeltServer", "shown"]
