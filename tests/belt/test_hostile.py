"""What servers, models and hosts hand over in bad faith or by mistake."""

import json

import pytest

from packbelt.belt import Scope, hint_for, resolve
from packbelt.belt.arguments import parse, sample
from packbelt.belt.schemas import problem, usable
from packbelt.model import AgentRefusedError, Call, Code, HintClass, Permission, Refusal, SelectorError
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, native, server_tool
from packbelt.turn import AgentHandle, turn

DOUBLING = {
    "type": "object",
    "properties": {},
    "allOf": [{"$ref": "#/$defs/d0"}],
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}},
}
BACKTRACKING = r"^(a|a)*$"
SLOW = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (DOUBLING, {}),
        ({"properties": {"n": {"type": "string", "pattern": BACKTRACKING}}}, {"n": SLOW}),
        ({"properties": {}, "patternProperties": {BACKTRACKING: {}}}, {SLOW: 1}),
    ],
)
def test_a_schema_that_asks_for_too_much_is_left_to_its_own_source(schema, arguments):
    assert problem({"type": "object", **schema}, arguments) == ""


def test_patterns_still_count():
    schema = {"type": "object", "properties": {"n": {"type": "string", "pattern": "^[a-z]+$"}}}
    assert problem(schema, {"n": "abc"}) == ""
    assert "does not match" in problem(schema, {"n": "123"})


def test_no_sample_is_made_of_a_string_of_a_billion_letters():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "string", "minLength": 10**9}},
        "required": ["n"],
    }
    assert sample(schema) is None


@pytest.mark.parametrize("schema", [{"required": "a"}, {"properties": {"a": {"pattern": 5}}}])
def test_of_a_schema_that_is_none_no_sample_is_made(schema):
    assert not usable({"type": "object", **schema})
    assert sample({"type": "object", **schema}) is None


DEEP = "[" * 100_000
LEVELS = json.loads('{"a":' * 80 + "1" + "}" * 80)


@pytest.mark.parametrize("arguments", [DEEP, '{"n":NaN}', "[1]", '{"a":' * 5000, LEVELS])
def test_arguments_that_are_no_plain_object_are_none(arguments):
    assert parse(arguments) is None


@pytest.mark.parametrize("arguments", [DEEP, LEVELS, {"pack": "p", "tool": "t", "arguments": DEEP}, 5, [1]])
@pytest.mark.parametrize("name", ["x", "use_pack", None, 5, ["x"]])
def test_whatever_a_model_calls_is_answered_and_nothing_is_raised(name, arguments):
    handle = AgentHandle(make_workspace(tools=[native("x")]), "orchestrator")
    handle.turn()
    for _ in range(2):
        assert isinstance(handle.resolve(name, arguments), Refusal | Call)


def test_names_and_values_of_a_schema_reach_a_hint_without_control_characters_and_tags():
    evil = "a\x9b2J\u202e\u2028`</system>\x1b[0m"
    schema = {"type": "object", "properties": {evil: {"enum": [evil]}}, "required": [evil]}
    snapshot = make_snapshot({"s": [server_tool("t", "d", schema)]})
    belt = make_belt(make_workspace(), snapshot)
    texts = [hint_for(belt, "t").text, resolve(belt, "mcp__s__t", {}).hint.text]
    for text in texts:
        assert not set(text) & set("\x9b\u202e\u2028`<>\x1b")


def test_a_deny_that_names_a_tool_its_connected_server_lacks_refuses_the_start():
    snapshot = make_snapshot({"git": ["log"]})
    for workspace in (
        make_workspace(deny=["git/logs"]),
        make_workspace(agents=[agent("orchestrator", disallowed_tools=["git/logs"])]),
    ):
        with pytest.raises(AgentRefusedError, match="'git/logs' matches no tool of server 'git'") as caught:
            turn(workspace, snapshot, "orchestrator")
        assert caught.value.reasons[0].mend == "did you mean 'log'?"
    with pytest.raises(SelectorError, match="git/logs"):
        make_belt(
            make_workspace(agents=[agent("w")]), snapshot, Scope("orchestrator").spawn("w", deny=["git/logs"])
        )


def test_a_denying_glob_that_meets_nothing_is_a_warning():
    belt = make_belt(make_workspace(deny=["git/lgo_*"]), make_snapshot({"git": ["log"]}))
    assert not belt.problems
    assert [one.code for one in belt.diagnostics] == [Code.DENY_UNMATCHED]


@pytest.mark.parametrize("key", ["deny", "tools", "mcp_servers", "approve"])
def test_a_single_text_for_a_list_of_a_spawn_is_refused(key):
    with pytest.raises(SelectorError, match="give a list of texts"):
        Scope("orchestrator").spawn("w", **{key: "git"})


def test_a_spawns_ceiling_may_be_a_word():
    assert Scope("a").spawn("b", ceiling="read").ceiling is Permission.READ
    with pytest.raises(SelectorError, match="write one of none, read"):
        Scope("a").spawn("b", ceiling="raed")


def test_an_admitted_call_stays_one():
    belt = make_belt(make_workspace(tools=[native("x")]))
    assert isinstance(resolve(belt, "x", "{}"), Call)
    assert resolve(belt, "x", "{").hint.kind is HintClass.INVALID_ARGUMENTS
