"""Callables whose definition comes from elsewhere: it counts, and not their signature."""

import pytest

import packbelt
from packbelt.catalog.natives import defined, read_natives

SCHEMA = {"type": "object", "properties": {"who": {"type": "string", "title": "Who"}}, "required": ["who"]}


async def call(**arguments):
    return arguments


def make(**changes):
    async def own(**arguments):
        return await call(**arguments)

    return defined(own, **{"name": "greet", "description": "Greets.", "input_schema": SCHEMA, **changes})


def test_name_description_schema_and_what_a_call_needs_are_as_defined():
    function = make(permission="write", approve=True)
    tools, handlers = read_natives([function])
    tool = tools["greet"]
    assert (tool.description, dict(tool.input_schema)) == ("Greets.", SCHEMA)
    assert (str(tool.permission), tool.approve) == ("write", True)
    assert handlers == {"greet": function}


def test_without_a_word_a_call_needs_read_and_no_person():
    tool = read_natives([make()])[0]["greet"]
    assert (str(tool.permission), tool.approve) == ("read", False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "greet somebody"}, "'greet somebody' is no tool's name"),
        ({"name": "mcp__a__b"}, "belong to servers' tools"),
        ({"input_schema": {"type": "string"}}, r"tool 'greet' cannot be used: .*; change its schema"),
        (
            {"input_schema": {"type": "object", "properties": 3}},
            r"tool 'greet' cannot be used: .*; change its schema",
        ),
    ],
)
def test_what_cannot_be_a_tool_is_refused(changes, words):
    with pytest.raises(packbelt.WorkspaceError, match=words):
        read_natives([make(**changes)])


def test_a_permission_is_one_of_the_levels():
    with pytest.raises(packbelt.WorkspaceError, match="'sudo' is no permission"):
        make(permission="sudo")
