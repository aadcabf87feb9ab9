"""The host's own tools of the SDK as native tools."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as make
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command
from pydantic_core import to_json

from packbelt.adapters.steps import AdapterError, refuse_given
from packbelt.catalog.natives import defined
from packbelt.model import NATIVE, Answer, Outcome, Permission, ToolId, ToolResult

Handler = Callable[[ToolCallRequest], Awaitable[Any]]


class Running:
    """A call that the SDK is making, for the host's own tool that it comes to.

    Args:
        request: the SDK's request.
        handler: what executes a tool as the SDK does: with its graph's state, store and runtime.
    """

    def __init__(self, request: ToolCallRequest, handler: Handler) -> None:
        self._request = request
        self._handler = handler
        self._made: tuple[ToolId, Any] | None = None
        self._stopped: GraphBubbleUp | None = None

    async def run(self, tool: BaseTool, arguments: Mapping[str, Any]) -> Answer:
        """Execute one of the host's own tools as the SDK would."""
        request = self._request
        call = {**request.tool_call, "name": tool.name, "args": dict(arguments)}
        try:
            made = await self._handler(
                ToolCallRequest(tool_call=call, tool=tool, state=request.state, runtime=request.runtime)  # type: ignore[arg-type]  # a call is a plain dict
            )
        except GraphBubbleUp as stopped:  # it interrupts its graph, or leaves it: that is no failure
            self._stopped = stopped
            return Answer.of_text(f"{tool.name} interrupted its graph", Outcome.NOT_STARTED)
        self._made = ToolId(NATIVE, tool.name), made
        return _answer(made)

    def outcome(self, result: ToolResult, said: Any) -> Any:
        """What the SDK is given: a tool message, or the command that the host's own tool gave.

        Args:
            result: how the call ended.
            said: what the model reads.

        Raises:
            GraphBubbleUp: the host's own tool interrupts its graph, or leaves it.
        """
        if self._stopped is not None:
            raise self._stopped
        tool, made = self._made or (None, None)
        if tool != result.tool:  # the gate had another answer
            made = None
        if made is not None and not isinstance(made, ToolMessage) and not result.is_error:
            return made
        structured = result.answer.structured
        artifact = {"structured_content": structured} if structured is not None else None
        return ToolMessage(
            content=said,
            tool_call_id=self._request.tool_call["id"],
            name=self._request.tool_call["name"],
            status="error" if result.is_error else "success",
            artifact=made.artifact if isinstance(made, ToolMessage) else artifact,
        )


current: ContextVar[Running | None] = ContextVar("packbelt_langchain", default=None)
"""The call that is under way."""


def wrap(
    tools: Iterable[BaseTool | Callable[..., Any]], *, permission: Permission | str | None = None
) -> list[Callable[..., Awaitable[Answer]]]:
    """The host's `BaseTool`s and functions for `packbelt.load(tools=...)`.

    Their names, descriptions and schemas stay, and once the gate admits a call they are executed as LangChain
    does it: inside a run with its state, store and runtime, and a `Command` that they give is followed.

    Args:
        tools: the tools.
        permission: what a call needs; default `read`.

    Raises:
        AdapterError: one is run elsewhere, or ends its agent's run.
    """
    return [_wrapped(tool, permission) for tool in tools]


def _wrapped(
    given: BaseTool | Callable[..., Any], permission: Permission | str | None
) -> Callable[..., Awaitable[Answer]]:
    if isinstance(given, Mapping):
        name = str(given.get("name") or given.get("type"))
        raise AdapterError(
            f"{name!r} is a description of a tool, which its provider runs; a native tool is run here",
            mend="leave it out",
            name=name,
        )
    tool = given if isinstance(given, BaseTool) else make(given)
    reason = "ends the run with this tool's result, and packbelt gives it to the model; leave it out"
    refuse_given(
        {"return_direct": tool.return_direct}, {"return_direct": reason}, where=f"tool {tool.name!r}"
    )

    async def call(**arguments: Any) -> Answer:
        running = current.get()
        if running is not None:
            return await running.run(tool, arguments)
        said = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": arguments}
        return _answer(await tool.ainvoke(said))

    function = convert_to_openai_tool(tool)["function"]
    return defined(
        call,
        name=tool.name,
        description=function.get("description", ""),
        input_schema=function.get("parameters", {"type": "object", "properties": {}}),
        permission=permission,
    )


def _answer(made: Any) -> Answer:
    """What a tool gave: its text and images, all else as JSON."""
    messages = [made] if isinstance(made, ToolMessage) else list(_messages(made))
    blocks = [block for message in messages for block in _blocks(message)]
    failed = any(message.status == "error" for message in messages)
    return Answer(Outcome.TOOL_ERROR if failed else Outcome.OK, tuple(blocks))


def _messages(made: Any) -> Iterable[ToolMessage]:
    """The tool messages of a command, or of a list of commands and messages."""
    for one in made if isinstance(made, list) else [made]:
        if isinstance(one, ToolMessage):
            yield one
        elif isinstance(one, Command) and isinstance(one.update, Mapping):
            yield from (each for each in one.update.get("messages", ()) if isinstance(each, ToolMessage))


def _blocks(message: ToolMessage) -> Iterable[Mapping[str, Any]]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return map(_block, message.content)


def _block(given: Any) -> Mapping[str, Any]:
    if isinstance(given, str):
        return {"type": "text", "text": given}
    if given.get("type") == "text":
        return {"type": "text", "text": str(given.get("text", ""))}
    if given.get("type") == "image" and given.get("base64") and given.get("mime_type"):
        return {"type": "image", "mimeType": given["mime_type"], "data": given["base64"]}
    return {"type": "text", "text": to_json(given, fallback=str).decode()}
