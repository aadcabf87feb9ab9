"""Each bare API's wire: what a request shows and tells the model, and how the model's words go back.

`shown(body)`: names of the tools whose schemas are in the request, in order; `away(body)`: those that its own
deferral carries; `read(body)`: what the model reads back, by the id of its call; `reply(said, text)`: calls
(`Said`: id, name, arguments) or a last word, as the API answers; `system(body)`: the system text.
"""

import json
from itertools import count

_serial = count(1)


def _joined(content):
    """The texts of a content; images by their kind."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or f"<{part['type']}>" for part in content)


class Anthropic:
    path = "/v1/messages"

    @staticmethod
    def shown(body):
        return [
            tool["name"] for tool in body["tools"] if not tool.get("defer_loading") and "type" not in tool
        ]

    @staticmethod
    def away(body):
        return [tool["name"] for tool in body["tools"] if tool.get("defer_loading")]

    @staticmethod
    def system(body):
        return _joined(body.get("system", ""))

    @staticmethod
    def read(body):
        blocks = [
            block for message in body["messages"] for block in message["content"] if isinstance(block, dict)
        ]
        return {
            block["tool_use_id"]: _joined(block["content"])
            for block in blocks
            if block["type"] == "tool_result"
        }

    @staticmethod
    def reply(said, text="done"):
        content = [{"type": "tool_use", "id": s.id, "name": s.name, "input": s.arguments} for s in said]
        return {
            "id": f"msg_{next(_serial)}",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": content or [{"type": "text", "text": text}],
            "stop_reason": "tool_use" if said else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


class OpenAI:
    path = "/responses"

    @staticmethod
    def shown(body):
        return [tool["name"] for tool in body["tools"] if tool["type"] == "function"]

    @staticmethod
    def away(body):
        spaces = [tool["tools"] for tool in body["tools"] if tool["type"] == "namespace"]
        return [function["name"] for space in spaces for function in space]

    @staticmethod
    def system(body):
        return body.get("instructions", "")

    @staticmethod
    def read(body):
        return {
            item["call_id"]: _joined(item["output"])
            for item in body["input"]
            if item.get("type") == "function_call_output"
        }

    @classmethod
    def reply(cls, said, text="done", namespaces=None):
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{next(_serial)}",
                "call_id": s.id,
                "name": s.name,
                "arguments": json.dumps(s.arguments),
                "status": "completed",
                **({"namespace": namespaces[s.name]} if namespaces and s.name in namespaces else {}),
            }
            for s in said
        ]
        words = {"type": "output_text", "text": text, "annotations": []}
        message = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [words],
        }
        return {
            "id": f"resp_{next(_serial)}",
            "object": "response",
            "created_at": 0,
            "model": "fake",
            "status": "completed",
            "output": calls or [message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }


class OpenAIChat:
    path = "/chat/completions"

    @staticmethod
    def shown(body):
        return [tool["function"]["name"] for tool in body.get("tools", ())]

    @staticmethod
    def away(_):
        return []

    @staticmethod
    def system(body):
        return "".join(m["content"] for m in body["messages"] if m["role"] == "system")

    @staticmethod
    def read(body):
        return {m["tool_call_id"]: _joined(m["content"]) for m in body["messages"] if m["role"] == "tool"}

    @staticmethod
    def reply(said, text="done"):
        calls = [
            {
                "id": s.id,
                "type": "function",
                "function": {"name": s.name, "arguments": json.dumps(s.arguments)},
            }
            for s in said
        ]
        message = {"role": "assistant", "content": None if said else text}
        message |= {"tool_calls": calls} if said else {}
        return {
            "id": f"chat_{next(_serial)}",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
            "choices": [{"index": 0, "finish_reason": "tool_calls" if said else "stop", "message": message}],
        }


class Gemini:
    path = ":generateContent"

    def __init__(self, *, ids=True):
        self.ids = ids

    @staticmethod
    def shown(body):
        return [f["name"] for tool in body.get("tools", ()) for f in tool["functionDeclarations"]]

    @staticmethod
    def away(_):
        return []

    @staticmethod
    def system(body):
        return "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))

    def read(self, body):
        """By id; without ids the n-th response answers the n-th call, and `c<n>` is its id."""
        found = [p for content in body["contents"] for p in content["parts"] if "functionResponse" in p]
        read = {}
        for place, part in enumerate(found, 1):
            response = part["functionResponse"]
            assert ("id" in response) == self.ids
            blobs = [
                one["inline_data"] for one in response.get("parts", ())
            ]  # the SDK hands these on as they are
            media = "".join(f"\n<{blob['mime_type']}>" for blob in blobs)
            (text,) = response["response"].values()
            read[response.get("id", f"c{place}")] = text + media
        return read

    def reply(self, said, text="done"):
        calls = [
            {
                "functionCall": {"name": s.name, "args": s.arguments, **({"id": s.id} if self.ids else {})},
                "thoughtSignature": "c2lnbmVk",
            }
            for s in said
        ]
        thought = {"text": "I think.", "thought": True}
        content = {"role": "model", "parts": calls or [thought, {"text": text}]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
