"""The laws on the compiled form: sent <=> direct, in the belt's order, whatever the target."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from targets_built import APIS, BUILT, SEARCHING, left_out, lenient, sent

from packbelt.belt import FIND_TOOLS
from packbelt.model import State
from packbelt.providers import CompileError, compile_belt
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, pack
from packbelt.testing.strategies import worlds

each = pytest.mark.parametrize("name", BUILT)


@given(world=worlds())
def test_sent_if_and_only_if_direct_in_the_belts_order(world):
    belt = world.belt()
    for name in BUILT:
        form = lenient(belt, name)
        lost = left_out(form)
        ours = [wire_name for wire_name in sent(form) if wire_name in belt]
        assert ours == [tool.wire_name for tool in belt.tools if tool.wire_name not in lost], name


@given(world=worlds())
def test_a_targets_own_deferral_carries_what_is_packed_or_deferred_and_nothing_else(world):
    belt, registry = world.belt(), world.belt().registry
    own = {FIND_TOOLS, world.workspace.config.opener}
    away = {
        tool.wire_name
        for i, tool in enumerate(registry.tools)
        if belt.state(i) in (State.PACKED, State.DEFERRED)
    }
    for name in SEARCHING:
        form = lenient(belt, name, search=True)
        carried, shown = deferral(name, form)
        lost = left_out(form)
        assert set(carried) == away - lost
        assert len(carried) == len(set(carried))
        assert shown == [tool.wire_name for tool in belt.tools if tool.wire_name not in own | lost]


def deferral(name, form):
    """Names that the request carries for the API's search, and those that it shows."""
    tools = form.kwargs["tools"]
    if name == "anthropic":
        named = [tool for tool in tools if "type" not in tool]
        return (
            [tool["name"] for tool in named if tool.get("defer_loading")],
            [tool["name"] for tool in named if not tool.get("defer_loading")],
        )
    spaces = [tool for tool in tools if tool["type"] == "namespace"]
    assert all(function["defer_loading"] for space in spaces for function in space["tools"])
    assert len({space["name"] for space in spaces}) == len(spaces)
    assert bool(spaces) == any(tool["type"] == "tool_search" for tool in tools)
    return (
        [function["name"] for space in spaces for function in space["tools"]],
        [tool["name"] for tool in tools if tool["type"] == "function"],
    )


@given(world=worlds())
def test_strict_refuses_or_gives_the_very_same(world):
    belt = world.belt()
    for name in BUILT:
        form = lenient(belt, name)
        if left_out(form) or form.diagnostics:
            with suppress(CompileError):
                assert not left_out(compile_belt(belt, name))
        else:
            strict = compile_belt(belt, name)
            assert json.dumps(strict.to_json(), default=repr) == json.dumps(form.to_json(), default=repr)
        if left_out(form):
            with pytest.raises(CompileError) as caught:
                compile_belt(belt, name)
            assert caught.value.name in left_out(form)
            assert caught.value.mend


@given(world=worlds())
def test_the_form_is_json_and_its_bytes_stay(world):
    for name in APIS:
        assert json.dumps(lenient(world.belt(), name).to_json()) == json.dumps(
            lenient(world.belt(), name).to_json()
        )


NONE_OF_IT = {
    "anthropic": {"tools": []},
    "openai": {"tools": []},
    "openai-chat": {},  # the API refuses an empty list, and takes its absence for none
    "gemini": {"config": {"automatic_function_calling": {"disable": True}}},
}


@each
def test_an_empty_belt_is_no_tool_and_never_everything(name):
    workspace = make_workspace(tools=["a", "b"], agents=[agent("orchestrator", tools=[])], servers=["s"])
    belt = make_belt(workspace, make_snapshot({"s": ["x"]}), "orchestrator")
    form = compile_belt(belt, name)
    assert form.enforcement.plan == ()
    if name in NONE_OF_IT:
        kwargs = {k: v for k, v in form.kwargs.items() if k not in ("system", "instructions")}
        if "config" in kwargs:
            kwargs["config"] = {k: v for k, v in kwargs["config"].items() if k != "system_instruction"}
        assert kwargs == NONE_OF_IT[name]


@each
def test_ad01_ad26_absent_and_empty_and_a_list_never_collapse(name):
    seen = {}
    for key, tools in {"absent": None, "empty": [], "list": ["b"], "all": ["*"]}.items():
        workspace = make_workspace(tools=["a", "b"], agents=[agent("orchestrator", tools=tools)])
        form = compile_belt(make_belt(workspace, None, "orchestrator"), name)
        seen[key] = sent(form)
    assert seen == {"absent": ["a", "b"], "empty": [], "list": ["b"], "all": ["a", "b"]}
    closed = make_workspace(tools=["a"], agents=[agent("orchestrator")], default_tools="none")
    assert sent(compile_belt(make_belt(closed, None, "orchestrator"), name)) == []


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_allowed_absent_and_empty_and_a_list_never_collapse(name):
    workspace = make_workspace(tools=["a", "b"], agents=[agent("orchestrator")])
    belt = make_belt(workspace, None, "orchestrator")

    def choice(form):
        if name == "openai":
            return form.kwargs.get("tool_choice")
        found = form.kwargs["config"].get("tool_config")
        return found and found["function_calling_config"]

    absent, empty, some = (compile_belt(belt, name, allowed=given_) for given_ in (None, [], ["b"]))
    assert choice(absent) is None
    if name == "openai":
        assert choice(empty) == "none"
        chosen = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "b"}]}
        assert choice(some) == chosen
    else:
        assert choice(empty) == {"mode": "NONE"}
        assert choice(some) == {"mode": "VALIDATED", "allowed_function_names": ["b"]}
    assert [form.enforcement.residue for form in (absent, empty, some)] == [(), ("a", "b"), ("a",)]
    assert sent(absent) == sent(empty) == sent(some) == ["a", "b"]
    with pytest.raises(CompileError, match=r"'c', which is not sent"):
        compile_belt(belt, name, allowed=["c"])


def test_a_belts_change_at_its_end_moves_nothing_before_it():
    workspace = make_workspace(tools=["a", "b"], agents=[agent("orchestrator")], packs=[pack("p", [])])
    first = make_belt(workspace, make_snapshot({"s": ["x"]}), "orchestrator")
    later = make_belt(
        workspace, make_snapshot({"s": ["x", "early"]}, admitted=first.admission), "orchestrator"
    )
    for name in BUILT:
        one, two = sent(compile_belt(first, name)), sent(compile_belt(later, name))
        assert two[: len(one)] == one
        assert two[len(one) :] == ["mcp__s__early"]
