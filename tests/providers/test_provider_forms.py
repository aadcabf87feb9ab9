"""Replies read and results written, in each API's own form; replies as JSON and as the SDK's objects."""

import json
import subprocess
import sys

import pytest
from targets_built import APIS

from packbelt.model import Answer, Outcome, ToolCall, ToolResult
from packbelt.providers import compile_belt
from packbelt.testing import agent, make_belt, make_workspace, native

ARGUMENTS = {"q": "x"}
REPLIES = {
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I look. "},
            {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "x"}},
            {"type": "tool_use", "id": "t1", "name": "find", "input": ARGUMENTS},
            {"type": "text", "text": "Twice."},
            {"type": "tool_use", "id": "t2", "name": "read", "input": {}},
        ],
    },
    "openai": {
        "id": "r1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [
            {"type": "reasoning", "id": "rs1", "summary": []},
            {
                "type": "message",
                "id": "m1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look. Twice.", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc1",
                "call_id": "t1",
                "name": "find",
                "namespace": "web",
                "arguments": json.dumps(ARGUMENTS),
            },
            {"type": "function_call", "id": "fc2", "call_id": "t2", "name": "read", "arguments": "{}"},
        ],
    },
    "openai-chat": {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "I look. Twice.",
                    "tool_calls": [
                        {
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "find", "arguments": json.dumps(ARGUMENTS)},
                        },
                        {"id": "t0", "type": "custom", "custom": {"name": "host", "input": "x"}},
                        {"id": "t2", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                    ],
                },
            }
        ],
    },
    "gemini": {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True},
                        {"text": "I look. Twice."},
                        {
                            "functionCall": {"id": "t1", "name": "find", "args": ARGUMENTS},
                            "thoughtSignature": "c2ln",
                        },
                        {"functionCall": {"id": "t2", "name": "read", "args": {}}},
                    ],
                },
            }
        ]
    },
}
EMPTY = {
    "anthropic": {"content": []},
    "openai": {"output": []},
    "openai-chat": {"choices": []},
    "gemini": {"candidates": None},
}
DOT = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
VECTOR = {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+"}


def form_of(name, **options):
    belt = make_belt(
        make_workspace(tools=["find", "read"], agents=[agent("orchestrator")]), None, "orchestrator"
    )
    return compile_belt(belt, name, **options)


def as_object(name):
    data = REPLIES[name]
    if name == "anthropic":
        return pytest.importorskip("anthropic.types").Message.model_validate(data)
    if name == "openai":
        return pytest.importorskip("openai.types.responses").Response.model_validate(data)
    if name == "openai-chat":
        return pytest.importorskip("openai.types.chat").ChatCompletion.model_validate(data)
    return pytest.importorskip("google.genai.types").GenerateContentResponse.model_validate(data)


def a_result(identity="t1", answer=None, name="find"):
    return ToolResult(ToolCall(identity, name, {}), answer or Answer.of_text("found"))


@pytest.mark.parametrize("kind", ["json", "object"])
@pytest.mark.parametrize("name", APIS)
def test_calls_and_text_of_a_reply(name, kind):
    form, reply = form_of(name), REPLIES[name] if kind == "json" else as_object(name)
    calls = form.calls(reply)
    assert [(call.id, call.name) for call in calls] == [("t1", "find"), ("t2", "read")]
    first = calls[0].arguments
    assert (json.loads(first) if isinstance(first, str) else first) == ARGUMENTS
    assert form.text(reply) == "I look. Twice."


@pytest.mark.parametrize("name", APIS)
def test_a_reply_without_anything_has_no_calls_and_no_text(name):
    form = form_of(name)
    assert form.calls(EMPTY[name]) == []
    assert form.text(EMPTY[name]) == ""


RESULTS = {
    "anthropic": (
        {"type": "tool_result", "tool_use_id": "t1", "content": "found"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": True},
    ),
    "openai": (
        {"type": "function_call_output", "call_id": "t1", "output": "found"},
        {"type": "function_call_output", "call_id": "t2", "output": "Error: no such file"},
    ),
    "openai-chat": (
        {"role": "tool", "tool_call_id": "t1", "content": "found"},
        {"role": "tool", "tool_call_id": "t2", "content": "Error: no such file"},
    ),
    "gemini": (
        {"function_response": {"name": "find", "response": {"output": "found"}, "id": "t1"}},
        {"function_response": {"name": "read", "response": {"error": "no such file"}, "id": "t2"}},
    ),
}


@pytest.mark.parametrize("name", APIS)
def test_results_keep_the_order_of_the_calls_and_say_what_failed(name):
    failed = a_result("t2", Answer.of_text("no such file", Outcome.TOOL_ERROR), "read")
    given = form_of(name).results([a_result(), failed])
    expected = list(RESULTS[name])
    if name == "anthropic":
        assert given == {"role": "user", "content": expected}
    elif name == "gemini":
        assert given == {"role": "user", "parts": expected}
    else:
        assert given == expected


def picture(*blocks, outcome=Outcome.OK):
    return a_result(answer=Answer(outcome, ({"type": "text", "text": "a dot"}, *blocks)))


IMAGES = {
    "anthropic": [
        {"type": "text", "text": "a dot"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT["data"]}},
    ],
    "openai": [
        {"type": "input_text", "text": "a dot"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{DOT['data']}"},
    ],
    "openai-chat": "a dot\n[image image/png]",
    "gemini": {
        "name": "find",
        "response": {"output": "a dot"},
        "id": "t1",
        "parts": [{"inline_data": {"mime_type": "image/png", "data": DOT["data"]}}],
    },
}


def inner(name, given):
    """The content of the only result."""
    if name == "anthropic":
        return given["content"][0]["content"]
    if name == "gemini":
        return given["parts"][0]["function_response"]
    return given[0]["output" if name == "openai" else "content"]


@pytest.mark.parametrize("name", APIS)
def test_an_image_goes_back_as_one_where_the_api_takes_it(name):
    form = form_of(name)
    assert inner(name, form.results([picture(DOT)])) == IMAGES[name]


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("case", ["error", "foreign type"])
def test_an_image_that_the_api_does_not_take_is_said_in_words(name, case):
    result = picture(DOT, outcome=Outcome.TOOL_ERROR) if case == "error" else picture(VECTOR)
    content = inner(name, form_of(name).results([result]))
    text = next(iter(content["response"].values())) if name == "gemini" else content
    kind = "image/png" if case == "error" else "image/svg+xml"
    start = "Error: " if case == "error" and name.startswith("openai") else ""
    assert text == f"{start}a dot\n[image {kind}]"


def test_geminis_images_can_be_switched_off():
    content = inner("gemini", form_of("gemini", images=False).results([picture(DOT)]))
    assert content == {"name": "find", "response": {"output": "a dot\n[image image/png]"}, "id": "t1"}


def test_an_empty_text_beside_an_image_is_not_sent():
    result = a_result(answer=Answer(Outcome.OK, ({"type": "text", "text": ""}, DOT)))
    assert [block["type"] for block in inner("anthropic", form_of("anthropic").results([result]))] == [
        "image"
    ]


def test_gemini_calls_without_ids_are_answered_without_ids_in_their_order():
    form = form_of("gemini")
    parts = [
        {"functionCall": {"name": name, "args": {"n": n}}} for n, name in enumerate(["find", "read", "find"])
    ]
    calls = form.calls({"candidates": [{"content": {"role": "model", "parts": parts}}]})
    assert len({call.id for call in calls}) == 3
    given = form.results([ToolResult(call, Answer.of_text(str(call.arguments["n"]))) for call in calls])
    assert [part["function_response"] for part in given["parts"]] == [
        {"name": "find", "response": {"output": "0"}},
        {"name": "read", "response": {"output": "1"}},
        {"name": "find", "response": {"output": "2"}},
    ]


def test_the_schema_stands_where_each_api_reads_it():
    schema = {
        "type": "object",
        "$defs": {"Item": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}},
        "properties": {"item": {"$ref": "#/$defs/Item"}},
        "required": ["item"],
    }
    belt = make_belt(
        make_workspace(tools=[native("put", "Puts.", schema)], agents=[agent("orchestrator")]),
        None,
        "orchestrator",
    )
    entry = {"name": "put", "description": "Puts."}
    assert compile_belt(belt, "anthropic").kwargs["tools"] == [{**entry, "input_schema": schema}]
    function = {"type": "function", **entry, "parameters": schema, "strict": False}
    assert compile_belt(belt, "openai").kwargs["tools"] == [function]
    chat = {"type": "function", "function": {**entry, "parameters": schema}}
    assert compile_belt(belt, "openai-chat").kwargs["tools"] == [chat]
    declared = {"function_declarations": [{**entry, "parameters_json_schema": schema}]}
    assert compile_belt(belt, "gemini").kwargs["config"]["tools"] == [declared]


def test_a_form_needs_no_sdk():
    code = """
import sys
from packbelt.providers import compile_belt
from packbelt.testing import agent, make_belt, make_workspace
belt = make_belt(make_workspace(tools=["a"], agents=[agent("orchestrator")]), None, "orchestrator")
for name in ("anthropic", "openai", "openai-chat", "gemini"):
    assert compile_belt(belt, name).enforcement.plan == ("a",)
print(sorted({"anthropic", "openai", "google", "mcp", "anyio"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", APIS)
def test_the_system_text_is_the_agents_prompt(name):
    workspace = make_workspace(tools=["a"], agents=[agent("orchestrator", body="You lead.")])
    form = compile_belt(make_belt(workspace, None, "orchestrator"), name)
    assert form.system.startswith("You lead.")
    where = {
        "anthropic": form.kwargs.get("system"),
        "openai": form.kwargs.get("instructions"),
        "openai-chat": form.system,  # it is a message there, and the host's to place
        "gemini": form.kwargs.get("config", {}).get("system_instruction"),
    }
    assert where[name] == form.system
