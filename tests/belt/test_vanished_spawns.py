"""What a spawn named and is gone: it refuses no agent that has started, matches nothing and never widens."""

import pytest

from packbelt.belt import Scope
from packbelt.belt.routes import ways
from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, SelectorError, ServerStatus, State
from packbelt.testing import agent, make_snapshot, make_workspace
from packbelt.turn import AgentHandle, turn

WORKSPACE = make_workspace(
    tools=["read_file"],
    agents=[
        agent("orchestrator", delegates="*"),
        agent("worker", delegates=["inner"]),
        agent("inner"),
    ],
)
BOTH = make_snapshot({"one": ["a", "b"], "two": ["c"]})
ONLY_TWO = make_snapshot({"two": ["c"]})
NONE = Snapshot()


def spawned(**cuts):
    return Scope("orchestrator").spawn("worker", **cuts)


def callable_names(now):
    return {name for name in now.belt if now.belt[name].state.callable}


def vanished(now):
    return [one for one in now.diagnostics if one.code is Code.SELECTOR_VANISHED]


CUTS = [
    ({"deny": ["one/*"]}, "one/*"),
    ({"deny": ["one/a"]}, "one/a"),
    ({"approve": ["one/a"]}, "one/a"),
    ({"tools": ["one/a", "read_file"]}, "one/a"),
    ({"tools": ["one/*"]}, "one/*"),
    ({"mcp_servers": ["one"]}, "one"),
    ({"mcp_servers": ["one", "two"]}, "one"),
]


@pytest.mark.parametrize(("cuts", "name"), CUTS)
@pytest.mark.parametrize("later", [ONLY_TWO, NONE])
def test_a_started_agent_takes_its_next_turn_and_can_call_no_more_than_before(cuts, name, later):
    handle = AgentHandle(WORKSPACE, spawned(**cuts))
    first = handle.turn(BOTH)
    assert not vanished(first)
    now = handle.turn(later)
    assert callable_names(now) <= callable_names(first)
    gone = [one for one in vanished(now) if one.name == name]
    assert [one.level for one in gone] == [Level.WARNING]
    again = handle.turn(BOTH)
    assert {n: again.belt[n].state for n in again.belt} == {n: first.belt[n].state for n in first.belt}
    assert not vanished(again)


@pytest.mark.parametrize(("cuts", "name"), CUTS)
def test_an_agent_that_has_not_started_is_refused(cuts, name):
    with pytest.raises(SelectorError) as raised:
        AgentHandle(WORKSPACE, spawned(**cuts)).turn(ONLY_TWO)
    assert raised.value.name == name
    with pytest.raises(SelectorError):
        turn(WORKSPACE, ONLY_TWO, spawned(**cuts))


def test_a_vanished_server_leaves_fewer_and_never_all():
    handle = AgentHandle(WORKSPACE, spawned(mcp_servers=["one"]))
    handle.turn(BOTH)
    now = handle.turn(ONLY_TWO)
    assert now.belt.subject.servers == ()
    assert now.belt["mcp__two__c"].state is State.OFF_BELT
    assert callable_names(now) == {"read_file", "delegate_to_inner"}


def test_a_vanished_entry_of_tools_leaves_no_tool_in_its_place():
    handle = AgentHandle(WORKSPACE, spawned(tools=["one/a"]))
    assert callable_names(handle.turn(BOTH)) == {"mcp__one__a", "delegate_to_inner"}
    assert callable_names(handle.turn(ONLY_TWO)) == {"delegate_to_inner"}


def test_a_child_of_a_started_agent_starts_although_its_parents_entry_is_gone():
    parent = AgentHandle(WORKSPACE, spawned(deny=["one/*"], mcp_servers=["one", "two"]))
    parent.turn(BOTH)
    parent.turn(ONLY_TWO)
    below = parent.scope.spawn("inner")
    child = AgentHandle(WORKSPACE, below, above=len(parent.scope.path))
    now = child.turn(ONLY_TWO)
    assert callable_names(now) == {"read_file", "mcp__two__c"}
    assert {one.name for one in vanished(now)} == {"one/*", "one"}
    came_back = child.turn(BOTH)
    assert came_back.belt["mcp__one__a"].state is State.DENIED
    with pytest.raises(SelectorError):  # nothing says that the parent has started
        AgentHandle(WORKSPACE, below).turn(ONLY_TWO)


def test_what_the_child_itself_is_spawned_with_is_still_checked():
    parent = AgentHandle(WORKSPACE, spawned(deny=["one/*"]))
    parent.turn(BOTH)
    below = parent.scope.spawn("inner", deny=["tow/*"])
    with pytest.raises(SelectorError, match="no server is called 'tow'"):
        AgentHandle(WORKSPACE, below, above=len(parent.scope.path)).turn(ONLY_TWO)


def test_a_hand_off_of_a_started_agent_is_still_a_way_and_its_servers_are_checked():
    handle = AgentHandle(WORKSPACE, spawned(deny=["one/*"]))
    handle.turn(BOTH)
    now = handle.turn(ONLY_TWO)
    assert now.resolve("delegate_to_inner", {"request": "x", "mcp_servers": ["two"]}).agent == "inner"
    refusal = now.resolve("delegate_to_inner", {"request": "x", "mcp_servers": ["tow"]})
    assert refusal.hint.kind == "invalid_arguments"
    assert "'tow'" in refusal.hint.text
    assert "two" in refusal.hint.text.partition("'tow'")[2]
    assert [way.agents for way in ways(now.belt)] == [("inner",)]


def test_a_server_that_fails_keeps_what_a_spawn_named_of_it_unavailable_and_no_more():
    handle = AgentHandle(WORKSPACE, spawned(tools=["one/a"]))
    handle.turn(BOTH)
    now = handle.turn(BOTH.mark("one", ServerStatus.FAILED, "exited with 1"))
    assert now.belt["mcp__one__a"].state is State.UNAVAILABLE
    assert now.belt["mcp__one__b"].state is State.OFF_BELT
    assert callable_names(now) == {"delegate_to_inner"}
    assert {one.name for one in vanished(now)} == {"one/a"}
