"""inspect-ai's model as a model of packbelt's: Chat Completions into its messages, and its replies back."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from pydantic import Field, model_serializer

from packbelt.evals.bound import Bound
from packbelt.evals.models import Mind, ModelError, Request
from packbelt.model.encode import compact

AS_SENT = GenerateConfig(internal_tools=False)
"""inspect-ai puts a provider's own tool in the place of one of its name; here the belt is what is sent."""


class Exact(ToolParams):
    """A schema that is sent as it is.

    `ToolParams` keeps a part of JSON Schema alone: it drops `$defs`, `$ref`, `oneOf`, `const`, `title` and a
    `default` of null, and says `additionalProperties: false` where nothing was said. A belt of which that was
    sent would not be the belt that is measured.
    """

    schema_: dict[str, Any] = Field(default_factory=dict)

    @model_serializer(mode="plain")
    def _as_it_is(self) -> dict[str, Any]:
        return self.schema_


class Asked:
    """A model of inspect-ai, as packbelt's evals ask one; it plays one case.

    Args:
        model: the model.

    Attributes:
        name: its name with inspect-ai.
        messages: the conversation so far.
        output: the last reply.
        error: what it raised that was no reply: a limit of inspect-ai's among others.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = str(model)
        self.made: list[ChatMessageAssistant] = []
        self.messages: list[ChatMessage] = []
        self.output: ModelOutput | None = None
        self.error: Exception | None = None

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin the case; the repeat is inspect-ai's epoch, which it knows."""
        del case, repeat
        return self

    async def reply(self, request: Request) -> Mapping[str, Any]:
        """The assistant's message.

        Raises:
            ModelError: the provider's filter stopped it, or it cannot read as much.
            Exception: what inspect-ai raised.
        """
        self.messages = messages_of(request.messages, self.made)
        try:
            output = await self.model.generate(self.messages, tools_of(request.tools), "auto", AS_SENT)
        except Exception as error:
            self.error = error
            raise
        self.output = output
        if output.stop_reason in ("model_length", "content_filter") and not output.message.tool_calls:
            raise ModelError(f"{self.name} said nothing that can be used ({output.stop_reason})")
        self.made.append(output.message)
        self.messages.append(output.message)
        return message_of(output)


def tools_of(tools: Sequence[Mapping[str, Any]]) -> list[ToolInfo]:
    """Tools with their schemas as they are."""
    return [_tool(tool["function"]) for tool in tools]


def _tool(function: Mapping[str, Any]) -> ToolInfo:
    schema = dict(function["parameters"])
    read = {key: schema[key] for key in ("properties", "required") if key in schema}  # for who looks inside
    params = Exact.model_validate({**read, "schema_": schema})
    return ToolInfo(name=function["name"], description=function.get("description", ""), parameters=params)


def messages_of(
    messages: Sequence[Mapping[str, Any]], made: Sequence[ChatMessageAssistant]
) -> list[ChatMessage]:
    """A conversation.

    Args:
        messages: the system's text, what was said, the replies and what their calls were answered with.
        made: the model's replies in this case as they came; they are the last of the assistant's messages.
    """
    said = [one for one in messages if one["role"] == "assistant"]
    kept = {id(message): reply for message, reply in zip(reversed(said), reversed(made), strict=False)}
    names = {call["id"]: call["function"]["name"] for one in said for call in one.get("tool_calls") or ()}

    def read(message: Mapping[str, Any]) -> ChatMessage:
        content = message.get("content") or ""
        match message["role"]:
            case "assistant":
                return kept.get(id(message)) or ChatMessageAssistant(content=content)
            case "tool":
                call = message["tool_call_id"]
                return ChatMessageTool(content=content, tool_call_id=call, function=names[call])
            case "system":
                return ChatMessageSystem(content=content)
            case _:
                return ChatMessageUser(content=content)

    return [read(message) for message in messages]


def message_of(output: ModelOutput) -> dict[str, Any]:
    """A reply as a message, with its usage."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": _written(call)}}
        for call in output.message.tool_calls or ()
    ]
    message = {
        "role": "assistant",
        "content": output.message.text,
        **({"tool_calls": calls} if calls else {}),
    }
    if (usage := output.usage) is None:
        return message
    cached = usage.input_tokens_cache_read or 0
    prompt = usage.input_tokens + cached + (usage.input_tokens_cache_write or 0)
    return {
        **message,
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def _written(call: ToolCall) -> str:
    """Arguments as text. Where they were not JSON inspect-ai keeps only what is wrong with them."""
    return call.parse_error or compact(call.arguments)
