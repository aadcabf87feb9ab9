"""Messages of Chat Completions as pydantic-ai's, and its replies as theirs. Arguments stay as written."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from packbelt.model.encode import compact

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse
    from pydantic_ai.tools import ToolDefinition


def tools_of(tools: Sequence[Mapping[str, Any]]) -> list["ToolDefinition"]:
    """Tools with their schemas as they are."""
    from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415 - an extra

    functions = (tool["function"] for tool in tools)
    return [
        ToolDefinition(
            name=one["name"], description=one.get("description"), parameters_json_schema=one["parameters"]
        )
        for one in functions
    ]


def messages_of(
    messages: Sequence[Mapping[str, Any]], made: Sequence["ModelResponse"]
) -> list["ModelMessage"]:
    """A conversation.

    Args:
        messages: the system's text, what was said, the replies and what their calls were answered with.
        made: the model's replies in this case as they came, with what does not show in a message (its
            thinking, which some endpoints ask back); they are the last of the assistant's messages.
    """
    from pydantic_ai import messages as known  # noqa: PLC0415 - an extra

    said = [one for one in messages if one["role"] == "assistant"]
    kept = {id(message): reply for message, reply in zip(reversed(said), reversed(made), strict=False)}
    names = {call["id"]: call["function"]["name"] for one in said for call in one.get("tool_calls") or ()}
    found: list[ModelMessage] = []
    waiting: list[ModelRequestPart] = []
    for message in messages:
        content = message.get("content") or ""
        match message["role"]:
            case "assistant":
                if waiting:
                    found.append(known.ModelRequest(parts=waiting))
                    waiting = []
                found.append(kept.get(id(message)) or known.ModelResponse(parts=[known.TextPart(content)]))
            case "tool":
                call = message["tool_call_id"]
                waiting.append(known.ToolReturnPart(names[call], content, tool_call_id=call))
            case "system":
                waiting.append(known.SystemPromptPart(content))
            case _:
                waiting.append(known.UserPromptPart(content))
    return [*found, known.ModelRequest(parts=waiting)]


def message_of(reply: "ModelResponse") -> dict[str, Any]:
    """A reply as a message, with its usage.

    A refusal has no text of its own in either protocol; what it says is the content then.
    """
    calls = [
        {
            "id": call.tool_call_id,
            "type": "function",
            "function": {"name": call.tool_name, "arguments": _written(call.args)},
        }
        for call in reply.tool_calls
    ]
    refusal = (reply.provider_details or {}).get("refusal")
    usage = reply.usage
    return {
        "role": "assistant",
        "content": reply.text or refusal,
        **({"tool_calls": calls} if calls else {}),
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        },
    }


def _written(arguments: str | Mapping[str, Any] | None) -> str:
    """Arguments as text: Chat Completions has them so, Messages as an object."""
    if isinstance(arguments, str):
        return arguments
    return compact(arguments or {})
