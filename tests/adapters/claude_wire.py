"""The Messages API as Claude Code's command line speaks it, on loopback, and the command line pointed at it."""

import asyncio
import re

from loopback import Loopback, events

CONTEXT = "PostToolBatch hook additional context: "
ABOUT = re.compile(r"\n\n(?=(?:On the call|The call) of \S+ \((\S+)\))")


def environment(url, home):
    """What keeps the command line on loopback and out of the user's own files."""
    return {
        "ANTHROPIC_API_KEY": "no-key",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "HOME": str(home),
        "IS_SANDBOX": "1",  # else bypassPermissions is refused to root
    }


def stream(blocks):
    """A message of text and tool_use blocks, as server-sent events."""
    start = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    found = [{"type": "message_start", "message": start}]
    for index, (begin, delta) in enumerate(blocks):
        found += [
            {"type": "content_block_start", "index": index, "content_block": begin},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = "tool_use" if any(begin["type"] == "tool_use" for begin, _ in blocks) else "end_turn"
    found += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return events(*((one["type"], one) for one in found))


def use(id_, name, partial_json):
    return {"type": "tool_use", "id": id_, "name": name, "input": {}}, {
        "type": "input_json_delta",
        "partial_json": partial_json,
    }


def say(text):
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}


def shown(body):
    """The names of the tools in a request, in order."""
    return [tool["name"] for tool in body.get("tools", ())]


def system(body):
    return "\n".join(block["text"] for block in body["system"])


def _text(content):
    return content if isinstance(content, str) else "\n".join(one.get("text", "") for one in content)


def read(body):
    """What the model reads of its calls by their ids: the result, and what a hook said of it afterwards."""
    found = {}
    for message in body["messages"]:
        if isinstance(message["content"], str):
            continue
        for block in message["content"]:
            if block["type"] == "tool_result":
                found[block["tool_use_id"]] = _text(block["content"])
            elif block["type"] == "text" and CONTEXT in block["text"]:
                _, *parts = ABOUT.split(block["text"].replace(CONTEXT, "\n\n"))
                for id_, part in zip(parts[::2], parts[1::2], strict=True):
                    found[id_] += f"\n{part}"
    return found


class Api(Loopback):
    """Answers each request of the command line's loop by `await ask(body) -> blocks`, in this event loop."""

    def __init__(self, ask):
        self.bodies = []
        loop = asyncio.get_running_loop()

        def answer(path, body):
            if "count_tokens" in path:
                return {"input_tokens": 1}
            self.bodies.append(body)
            return stream(asyncio.run_coroutine_threadsafe(ask(body), loop).result(60))

        super().__init__(answer)
