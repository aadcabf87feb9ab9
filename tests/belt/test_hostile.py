"""What servers, models and hosts hand over in bad faith or by mistake."""

import json

import pytest

from packbelt.belt import Scope, hint_for, resolve
from packbelt.belt.arguments import parse, sample
from packbelt.belt.schemas import problem, usable
from packbelt.model import (
    AgentRefusedError,
    Call,
    Code,
    HandOff,
    HintClass,
    Permission,
    Refusal,
    SelectorError,
    WorkspaceError,
)
from packbelt.testing import (
    agent,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    server_tool,
    skill,
)
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


def test_a_whole_number_written_with_a_point_is_one():
    packs = [pack("far", ["x"], exposure="deferred")]
    belt = make_belt(make_workspace(tools=["x"], packs=packs))
    assert isinstance(resolve(belt, "find_tools", {"query": "x", "limit": 5.0}), Call)


def test_whoever_cuts_servers_is_told_of_those_he_has_and_of_no_others():
    workspace = make_workspace(
        agents=[agent("orchestrator", delegates="*", inherit_mcp_servers=False), agent("w")],
        servers=["secret_srv"],
    )
    belt = make_belt(workspace, make_snapshot({"secret_srv": ["x"]}))
    told = resolve(belt, "delegate_to_w", {"request": "x", "mcp_servers": ["secret_sv"]}).hint.text
    assert "secret_srv" not in told
    known = make_belt(make_workspace(agents=[agent("w")], servers=["git"]), make_snapshot({"git": ["x"]}))
    assert "'git'" in resolve(known, "delegate_to_w", {"request": "x", "mcp_servers": ["gti"]}).hint.text


def test_what_a_model_writes_into_a_hand_off_is_not_remembered():
    belt = make_belt(make_workspace(agents=[agent("w")], servers=["s"]), make_snapshot({"s": ["x"]}))
    resolve(belt, "delegate_to_w", {"request": "x", "mcp_servers": ["s"]})
    before = len(belt.registry.memo)
    for n in range(50):
        assert isinstance(resolve(belt, "delegate_to_w", {"request": "x", "mcp_servers": ["s"] * n}), HandOff)
    assert len(belt.registry.memo) == before


def test_a_skill_that_an_agent_may_not_use_is_no_answer():
    agents = [agent("runner", handoff="run_skill"), agent("bare", skills=[], delegates="*")]
    workspace = make_workspace(agents=agents, skills=[skill("pdf")])
    assert "run_skill" in hint_for(make_belt(workspace), "pdf").text
    assert "installed skill" not in hint_for(make_belt(workspace, None, Scope("bare")), "pdf").text


def test_two_different_broken_calls_are_not_one_repeated_and_a_success_forgets():
    handle = AgentHandle(make_workspace(tools=[native("x")]), "orchestrator")
    assert handle.resolve("x", '{"a": 1').hint.kind is HintClass.INVALID_ARGUMENTS
    assert handle.resolve("x", '{"a": 2').hint.kind is HintClass.INVALID_ARGUMENTS
    assert handle.resolve("x", '{"a": 2').hint.kind is HintClass.REPEAT


def test_a_chain_of_spawns_has_an_end():
    scope = Scope("a")
    while len(scope.path) < 64:
        scope = scope.spawn("a")
    with pytest.raises(SelectorError, match="more than 64 spawns"):
        scope.spawn("a")


def test_what_is_recorded_as_admitted_does_not_grow_for_ever():
    handle = AgentHandle(make_workspace(), "orchestrator")
    for n in range(20):
        turned = handle.turn(make_snapshot({"s": [f"t{n}", f"u{n}"]}))
    assert [entry.id for entry in turned.belt.admission] == ["server:s/t19", "server:s/u19"]


def test_auto_is_for_servers():
    with pytest.raises(WorkspaceError, match="which is for servers"):
        pack("p", ["x"], exposure="auto")
