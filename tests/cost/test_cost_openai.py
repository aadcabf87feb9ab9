"""OpenAI's rendering against what its API billed."""

import json
from pathlib import Path

import pytest
from cost_strategies import BELTS, plain
from hypothesis import given, settings

from packbelt.catalog.forms import native_tool
from packbelt.catalog.tokens import count
from packbelt.cost import line_tokens, measure, openai, request_tokens
from packbelt.cost.openai_form import FOOTER, HEADER, block

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "openai_tool_token_cases.json").read_text())


def test_all_measured_cases_are_there():
    assert len(CASES) == 36
    assert sum("functions" in case for case in CASES) == 20


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_measured_case(case):
    found = request_tokens(case["messages"], case.get("functions", ()), case.get("function_call"))
    assert found == case["tokens"]


WEATHER = {
    "name": "get_current_weather",
    "description": "Get the current weather in a given location",
    "parameters": {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
}


# OpenAI's cookbook, "How to count tokens with tiktoken", section 7: as counted by the API.
@pytest.mark.parametrize(("encoding", "tokens"), [("cl100k_base", 105), ("o200k_base", 101)])
def test_the_cookbooks_measured_request(encoding, tokens):
    messages = [
        {
            "role": "system",
            "content": "You are a helpful assistant that can answer to questions about the weather.",
        },
        {"role": "user", "content": "What's the weather like in San Francisco?"},
    ]
    assert request_tokens(messages, [WEATHER], encoding=encoding) == tokens


def test_rendering():
    assert block(WEATHER["name"], WEATHER["description"], WEATHER["parameters"]) == (
        "// Get the current weather in a given location\n"
        "type get_current_weather = (_: {\n"
        "// The city and state, e.g. San Francisco, CA\n"
        "location: string,\n"
        "// The unit of temperature to return\n"
        'unit?: "celsius" | "fahrenheit",\n'
        "}) => any;\n\n"
    )


def test_tk15_a_tool_without_arguments_has_an_empty_signature():
    assert block("now", "", {"type": "object"}) == "type now = () => any;\n\n"
    tool = native_tool("native", "now", "", {"type": "object"})
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert tool.line == '{"name":"now","description":"","input_schema":{"type":"object","properties":{}}}\n'


def test_tk13_definitions_are_kept_and_references_are_followed():
    schema = {
        "type": "object",
        "properties": {"one": {"$ref": "#/$defs/Item"}, "two": {"$ref": "#/$defs/Item"}},
        "$defs": {"Item": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    }
    tool = native_tool("native", "put", "", schema)
    assert tool.input_schema["$defs"] == schema["$defs"]
    assert block("put", "", schema) == (
        "type put = (_: {\none?: {\n  id: integer,\n},\ntwo?: Item,\n}) => any;\n\n"
    )


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "any"),
        (True, "any"),
        ({"type": "array"}, "any[]"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, "string[][]"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": []}, "any"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"allOf": [{"$ref": "#/x"}, {"type": "object"}]}, "x & object"),
        ({"enum": ["a", 1, None, True]}, '"a" | 1 | null | true'),
        ({"anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}}, "{\n  a?: string,\n}"),
    ],
)
def test_types_that_nobody_measured(schema, text):
    assert block("f", "", {"properties": {"p": schema}}) == f"type f = (_: {{\np?: {text},\n}}) => any;\n\n"


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("#/$defs/choice/anyOf/1", "integer"),
        ("#/$defs/a~1b~0c", "boolean"),
        ("#/$defs//x", "number"),
        ("#", "{\n  p?: #,\n}"),
        ("#/$defs/missing", "missing"),
    ],
)
def test_references_are_json_pointers(reference, text):
    definitions = {
        "choice": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "a/b~c": {"type": "boolean"},
        "": {"x": {"type": "number"}},
    }
    schema = {"type": "object", "properties": {"p": {"$ref": reference}}, "$defs": definitions}
    assert block("f", "", schema) == f"type f = (_: {{\np?: {text},\n}}) => any;\n\n"


def test_references_that_double_at_each_level_do_not_explode():
    definitions = {
        f"d{i}": {"properties": {side: {"$ref": f"#/$defs/d{i + 1}"} for side in "ab"}} for i in range(40)
    }
    text = block("f", "", {"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    assert len(text) < 10_000


def test_a_schema_nested_four_hundred_deep_is_measured():
    schema = {"type": "string"}
    for _ in range(400):
        schema = {"type": "array", "items": schema}
    tool = plain("deep", p=schema)
    assert "any" + "[]" * 64 + "," in block("deep", "", tool.input_schema)
    assert measure([tool], {}, [tool]).tools == count(tool.line)


@settings(max_examples=60, deadline=None)
@given(belt=BELTS)
def test_lines_and_overhead_are_the_whole_rendering(belt):
    blocks = (block(tool.wire_name, tool.description, tool.input_schema) for tool in belt)
    whole = HEADER + "".join(blocks) + FOOTER
    for encoding in ("o200k_base", "cl100k_base"):
        scheme = openai(encoding)
        cost = measure(belt, {}, belt, method=scheme)
        # 9 for a request with functions, less 4 for its system message: see the measured cases.
        assert cost.tools == (count(whole, encoding) + 9 - 4 if belt else 0)
        assert cost.tools == sum(line_tokens(tool, scheme) for tool in belt) + cost.overhead
