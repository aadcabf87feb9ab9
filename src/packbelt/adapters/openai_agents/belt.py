"""A belt as the SDK's agent and its run's configuration."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Tool,
    ToolErrorFormatterArgs,
    ToolOutputImage,
    ToolOutputText,
    ToolSearchTool,
    tool_namespace,
)
from agents.tool_context import ToolContext

from packbelt.adapters.openai_agents.hooks import Hooks, Instructions
from packbelt.adapters.openai_agents.tools import current
from packbelt.adapters.steps import AdapterError, Approvals, Steps, refuse_given
from packbelt.live.agent import LiveAgent
from packbelt.model import ToolCall, ToolResult
from packbelt.providers.openai import said
from packbelt.providers.reading import parts

TARGET = "openai-agents"
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What goes back as an image."""

AGENT_REFUSED = {
    "tools": "would be sent beside the belt and pass no gate; give them to `packbelt.load(tools=wrap(...))`",
    "mcp_servers": "would be sent beside the belt and pass no gate; configure them in the workspace",
    "handoffs": "would give the run away, and a packbelt hand-off returns; name the agents in `delegates`",
    "prompt": "may bring tools beside the belt; write the prompt in the agent's file",
}
"""Options of an `Agent` that cannot go with a belt."""


class Belt:
    """A belt inside the OpenAI Agents SDK.

    Args:
        agent: an agent at work.
        approvals: who asks a person: `packbelt` is the fleet's `approve`; with `sdk` the run is interrupted
            for just the calls that need it, and goes on after `state.approve(...)`.
        search: put what is packed into namespaces that the API's own tool search opens (Responses API,
            gpt-5.4 and later), not behind the opener.

    Raises:
        AdapterError: there is no such way to approve.
    """

    def __init__(self, agent: LiveAgent, *, approvals: Approvals = "packbelt", search: bool = False) -> None:
        self.steps = Steps(agent, TARGET, approvals, search=search)
        self._tools: dict[str, tuple[Any, FunctionTool]] = {}
        self._search = ToolSearchTool()
        self._said: dict[str, ToolCall] = {}

    def agent(self, like: Agent[Any] | None = None, **options: Any) -> Agent[Any]:
        """The SDK's agent. Run it with this belt's `run_config()`.

        Args:
            like: an agent that the host has, whose options are taken over.
            options: the host's own for `Agent`: `model`, `model_settings`, `output_type`, guardrails,
                `hooks`. `instructions` are put after the belt's.

        Raises:
            AdapterError: an option cannot go with a belt.
        """
        if like is not None:
            options = {one.name: getattr(like, one.name) for one in fields(Agent)} | options
        refuse_given(options, AGENT_REFUSED, where="Agent")
        more, hooks = options.pop("instructions", None), options.pop("hooks", None)
        options.setdefault("name", self.steps.agent.name)
        return BeltAgent(
            **options, belt=self, instructions=Instructions(self.steps, more), hooks=Hooks(self._saw, hooks)
        )

    def run_config(self, given: RunConfig | Mapping[str, Any] | None = None) -> RunConfig:
        """The run's configuration: the host's own, and hints where the SDK finds no tool.

        Args:
            given: the host's.

        Raises:
            AdapterError: it says that an unknown name ends the run.
        """
        if isinstance(given, Mapping) and given.get("tool_not_found_behavior") == "raise_error":
            raise AdapterError(
                "RunConfig's `tool_not_found_behavior` would end the run at an unknown name, and packbelt "
                "answers it with a hint",
                mend="leave it out",
                name="tool_not_found_behavior",
            )
        config = given if isinstance(given, RunConfig) else RunConfig(**(given or {}))
        host = config.tool_error_formatter

        async def formatted(args: ToolErrorFormatterArgs[Any]) -> str | None:
            stray = self._said.get(args.call_id) if args.kind == "tool_not_found" else None
            if stray is not None:
                return said(await self._run(args.run_context, stray.id, stray.name, stray.arguments))
            own = host(args) if host else None
            return await own if isinstance(own, Awaitable) else own

        return replace(
            config,
            tool_not_found_behavior="return_error_to_model",
            tool_error_formatter=formatted,
            tool_name_collision_policy="error",
        )

    async def tools(self) -> list[Tool]:
        """The tools of the step that begins now; a tool that has not changed stays the same object."""
        form = await self.steps.decide()
        before, self._tools = self._tools, {}
        for data in form.kwargs["tools"]:
            self._keep(before, data, None)
        spaces = form.kwargs.get("namespaces", ())
        for space in spaces:
            for data in space["tools"]:
                self._keep(before, data, space)
        return [*(tool for _, tool in self._tools.values()), *([self._search] if spaces else [])]

    def _keep(
        self,
        before: Mapping[str, tuple[Any, FunctionTool]],
        data: Mapping[str, Any],
        space: Mapping[str, Any] | None,
    ) -> None:
        """One tool of the step, as it was if it has not changed."""
        name, whole = data["name"], (data, space and (space["name"], space["description"]))
        known = before.get(name)
        if known is None or known[0] != whole:
            tool = self._tool(data)
            if space is not None:
                (tool,) = tool_namespace(name=space["name"], description=space["description"], tools=[tool])
            known = whole, tool
        self._tools[name] = known

    def _tool(self, data: Mapping[str, Any]) -> FunctionTool:
        name: str = data["name"]

        async def invoke(context: ToolContext[Any], arguments: str) -> Any:
            asked = context.qualified_tool_name  # a tool of a namespace is approved under both their names
            approved = context.is_tool_approved(asked, context.tool_call_id) is True
            return _output(await self._run(context, context.tool_call_id, name, arguments, approved=approved))

        async def approval(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            del context, call_id
            return await self.steps.needs_approval(name, arguments)

        return FunctionTool(
            **data,
            on_invoke_tool=invoke,
            needs_approval=approval if self.steps.approvals == "sdk" else False,
        )

    async def _run(
        self,
        context: RunContextWrapper[Any],
        id_: str,
        name: str,
        arguments: object,
        *,
        approved: bool = False,
    ) -> ToolResult:
        token = current.set(context)
        try:
            return await self.steps.run(id_, name, arguments, approved=approved)
        finally:
            current.reset(token)

    def _saw(self, response: ModelResponse) -> None:
        """Keep the calls of a reply: of those that the SDK finds no tool for it gives no arguments."""
        calls = [item for item in response.output if item.type == "function_call"]
        self._said = {item.call_id: ToolCall(item.call_id, item.name, item.arguments) for item in calls}


@dataclass
class BeltAgent(Agent[Any]):
    """An agent whose tools are those of a belt; made by `Belt.agent`."""

    belt: Belt | None = field(default=None, kw_only=True, repr=False)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """The belt's direct tools, decided anew.

        Raises:
            AdapterError: something was added to the agent that would be sent besides.
            ResidueError: what would be sent is not the belt.
        """
        if self.belt is None:
            raise AdapterError(
                "this agent has no belt", mend="make it by `Belt(...).agent(...)`", name=self.name
            )
        given = {"mcp_servers": self.mcp_servers, "handoffs": self.handoffs, "prompt": self.prompt}
        refuse_given(given, AGENT_REFUSED, where="Agent")
        self.tools = await self.belt.tools()
        found = await super().get_all_tools(run_context)
        form = await self.belt.steps.decided()
        form.enforcement.verify(tool.name for tool in found if not isinstance(tool, ToolSearchTool))
        return found


def _output(result: ToolResult) -> Any:
    """A result as the SDK takes it: text, or text and images."""
    found = parts(result, IMAGES)
    if all(isinstance(part, str) for part in found):
        return said(result)
    return [ToolOutputText(text=part) if isinstance(part, str) else _image(part) for part in found]


def _image(block: Mapping[str, Any]) -> ToolOutputImage:
    return ToolOutputImage(image_url=f"data:{block['mimeType']};base64,{block.get('data', '')}")
