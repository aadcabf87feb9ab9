"""What a model may write: a name that is on the belt, then arguments that fit that tool's schema.

Small models write calls in forms of their own and make up names from the context. So the reply is written in
two goes, each held by a grammar: the name, which is that of an advertised tool or of the answer tool, and the
arguments by that tool's own schema. Inside the opener packs and tools are free text, as its schema has it: a
name that is made up there must stay visible. The grammars are in llguidance's form, which llama.cpp reads.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from packbelt.belt.arguments import parse
from packbelt.evals.models.model import Request
from packbelt.evals.models.sight import Seen

ANSWER = "answer_directly"
"""The tool that stands for an answer without a tool: a grammar that offers "a call or text" ends in prose."""
_SPACED = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_OPENED = '{"name":'
_GIVEN = ', "arguments":'


def answer_tool(taken: Sequence[str]) -> dict[str, Any]:
    """The answer tool as Chat Completions spell it, under a name that nothing else has."""
    name = ANSWER
    while name in taken:
        name += "_"
    text = {"type": "string", "description": "What the user is told."}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": "Answers the user in words. For talk and common knowledge, and once all is done.",
            "parameters": {"type": "object", "properties": {"text": text}, "required": ["text"]},
        },
    }


def offered(request: Request) -> list[Mapping[str, Any]]:
    """The tools that a request advertises, the answer tool last."""
    names = [tool["function"]["name"] for tool in request.tools]
    return [*request.tools, answer_tool(names)]


def readable(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A conversation as a template can take it: arguments that were cut, and so are no JSON, are left out."""
    return [
        {**line, "tool_calls": [_whole(call) for call in line["tool_calls"]]}
        if "tool_calls" in line
        else line
        for line in messages
    ]


def _whole(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call["function"]
    return call if parse(function["arguments"]) else {**call, "function": {**function, "arguments": "{}"}}


def begun(prompt: str) -> str:
    """A prompt with the begin of a call, in the marks that the model's own template shows."""
    marked = "<tool_call>\n" if "<tool_call>" in prompt else ""
    return f"{prompt}{marked}{_OPENED}"


def named(prompt: str, name: str) -> str:
    """A begun prompt with the name and the begin of the arguments."""
    return f"{prompt} {json.dumps(name)}{_GIVEN}"


def names_grammar(names: Sequence[str]) -> str:
    """One of some names, as JSON has it."""
    choices = " | ".join(json.dumps(f" {json.dumps(name)}") for name in names)
    return f"%llguidance {{}}\nstart: {choices}\n"


def arguments_grammar(schema: Mapping[str, Any]) -> str:
    """An object that fits a schema."""
    body = json.dumps({**schema, "type": "object", "x-guidance": _SPACED})
    return f'%llguidance {{}}\nstart: " " given\ngiven: %json {body}\n'


def opener_schema(opener: Seen) -> dict[str, Any]:
    """The opener's schema without the inner arguments, for a model that writes names alone."""
    properties = {name: opener.schema["properties"][name] for name in ("pack", "tool")}
    return {"type": "object", "properties": properties, "required": ["pack"], "additionalProperties": False}
