"""A belt as a middleware of `create_agent`, and as tools for a graph of the host's own."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NoReturn

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.types import Command
from pydantic import Field

from packbelt.adapters.langchain.asking import decide, no
from packbelt.adapters.langchain.tools import Running, current
from packbelt.adapters.steps import AdapterError, Approvals, Steps
from packbelt.live.agent import LiveAgent
from packbelt.model import Answer, HandOff, Outcome, ToolCall, ToolResult
from packbelt.providers import Form
from packbelt.providers.langchain import content

TARGET = "langchain"
MEND = "give it to `packbelt.load(tools=wrap(...))`, or leave it out"


class Belt(AgentMiddleware[Any, Any, Any]):
    """A belt inside LangChain. Put it last in `middleware`, so that no other changes what it sends.

    Args:
        agent: an agent at work.
        approvals: who asks a person: `packbelt` is the fleet's `approve`; with `sdk` the graph is interrupted
            for just the calls that need it, in the form of `HumanInTheLoopMiddleware`, and goes on after
            `Command(resume={"decisions": [{"type": "approve"}]})`. That needs a checkpointer.

    Raises:
        AdapterError: there is no such way to approve.
    """

    def __init__(self, agent: LiveAgent, *, approvals: Approvals = "packbelt") -> None:
        self.steps = Steps(agent, TARGET, approvals)
        self._asked: set[str] = set()

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Send the belt as it is now: its direct tools, and the prompt with its sections before the host's.

        Raises:
            AdapterError: the agent has a tool beside the belt, or one of its `response_format` has the name
                of a tool.
        """
        form = await self.steps.decide()
        _refuse_others(request, form)
        system = _system(form.system, request.system_message)
        return await handler(request.override(tools=list(form.kwargs["tools"]), system_message=system))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """One call, through the gate as it stands now, whatever its name; the model reads the hint.

        Raises:
            GraphInterrupt: a person must approve it, and the SDK asks.
        """
        call = request.tool_call
        running = Running(request, handler)
        resolved = (await self.steps.agent.turn()).resolve(call["name"], call["args"])
        # An agent that is handed to has no part in this graph.
        token = current.set(None if isinstance(resolved, HandOff) else running)
        try:
            result, said = await self.call(str(call["id"]), call["name"], call["args"])
        finally:
            current.reset(token)
        made: ToolMessage | Command[Any] = running.outcome(result, said)
        return made

    async def call(self, id_: str, name: str, arguments: Mapping[str, Any]) -> tuple[ToolResult, Any]:
        """One call, and what the model reads."""
        declined = None
        # Who was asked is heard, also where he need not be asked any more.
        if needed := id_ in self._asked or await self.steps.needs_approval(name, arguments):
            self._asked.add(id_)
            declined = decide(name, arguments)
            self._asked.discard(id_)
        if declined is None:
            result = await self.steps.run(id_, name, arguments, approved=needed)
            return result, content(result)
        form = await self.steps.decided()
        call = ToolCall(id_, form.names.unspell(name), arguments, form.speech)
        if await self.steps.needs_approval(name, arguments):
            (result,) = await self.steps.agent.run([call], approve=no)
        else:
            answer = Answer.of_text(f"{name} was not called: a person declined it", Outcome.REJECTED)
            result = ToolResult(call, answer)
        return result, f"{content(result)}{declined}"

    def wrap_model_call(self, request: Any, handler: Any) -> NoReturn:
        """A fleet is asynchronous.

        Raises:
            AdapterError: always.
        """
        del request, handler
        raise _asynchronous()

    def wrap_tool_call(self, request: Any, handler: Any) -> NoReturn:
        """A fleet is asynchronous.

        Raises:
            AdapterError: always.
        """
        del request, handler
        raise _asynchronous()


class BeltTool(BaseTool):
    """A direct tool of a belt; each call passes the gate as it stands then. Made by `tools`."""

    belt: Any = Field(exclude=True, repr=False)
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True

    async def _arun(self, /, **arguments: Any) -> tuple[Any, Any]:
        result, said = await self.belt.call(self.name, self.name, arguments)
        if result.is_error:
            raise ToolException(said)
        return said, result.answer.structured

    def _run(self, /, **arguments: Any) -> NoReturn:
        del arguments
        raise _asynchronous()


async def tools(agent: LiveAgent, *, approvals: Approvals = "packbelt") -> list[BaseTool]:
    """The direct tools as they are now, for a graph of the host's own.

    They are gated, and are no more than tools: the prompt, late tools, and hints for other names are the
    host's to see to (`ToolNode(..., awrap_tool_call=Belt(agent).awrap_tool_call)` does the last).

    Args:
        agent: an agent at work.
        approvals: see `Belt`.

    Raises:
        AdapterError: there is no such way to approve.
    """
    belt = Belt(agent, approvals=approvals)
    form = await belt.steps.decide()
    return [
        BeltTool(
            name=data["function"]["name"],
            description=data["function"]["description"],
            args_schema=data["function"]["parameters"],
            belt=belt,
        )
        for data in form.kwargs["tools"]
    ]


def _asynchronous() -> AdapterError:
    return AdapterError(
        "packbelt's belt cannot be used by `invoke` or `stream`, since a fleet is asynchronous",
        mend="use `ainvoke` or `astream`",
    )


def _refuse_others(request: ModelRequest[Any], form: Form) -> None:
    for tool in request.tools:
        if not isinstance(tool, BeltTool):
            name = _name(tool)
            raise AdapterError(
                f"the agent's tool {name!r} would be sent beside packbelt's belt and pass no gate",
                mend=MEND,
                name=name,
            )
    wanted = request.response_format
    if isinstance(wanted, AutoStrategy):
        wanted = ToolStrategy(wanted.schema)
    for spec in wanted.schema_specs if isinstance(wanted, ToolStrategy) else ():
        if spec.name in form.names.wire:
            raise AdapterError(
                f"the agent's `response_format` is called {spec.name!r}, and so is a tool on packbelt's belt",
                mend="rename one of them",
                name=spec.name,
            )


def _name(tool: Any) -> str:
    if isinstance(tool, Mapping):
        return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type"))
    return str(tool.name)


def _system(ours: str, theirs: SystemMessage | None) -> SystemMessage | None:
    """The belt's text, then the host's own."""
    if not ours or theirs is None:
        return SystemMessage(content=ours) if ours else theirs
    if isinstance(theirs.content, str):
        return theirs.model_copy(update={"content": f"{ours}\n\n{theirs.content}"})
    return theirs.model_copy(update={"content": [{"type": "text", "text": ours}, *theirs.content]})
