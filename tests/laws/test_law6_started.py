"""Law 6 for an agent that is at work: whatever is lost meanwhile, its next turn is decided and lets it call no
more than before. Its spawns may name what is gone; that refuses nobody and widens nothing.
"""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from probes import callable_ids

from packbelt.model import PackbeltError, ServerStatus
from packbelt.testing.strategies import worlds
from packbelt.turn import AgentHandle, next_turn


def spawned(world, data):
    """The world's agent under one more spawn that names servers and tools, where that can start."""
    names = sorted({*world.workspace.servers, *world.snapshot.servers}) or ["none"]
    cuts = {
        "mcp_servers": data.draw(st.none() | st.lists(st.sampled_from(names), max_size=2)),
        "deny": data.draw(st.lists(st.sampled_from(world.denials), max_size=2)),
        "approve": data.draw(st.lists(st.sampled_from(world.denials), max_size=1)),
        "tools": data.draw(st.none() | st.lists(st.sampled_from(world.grants), max_size=2)),
    }
    target = data.draw(st.sampled_from(sorted(world.workspace.agents)))
    return world.scope.spawn(target, **cuts)


def lost(snapshot, data):
    """The snapshot after a server failed, started anew, was disconnected or is not known any more."""
    name = data.draw(st.sampled_from(sorted(snapshot.servers)))
    status = data.draw(
        st.sampled_from((None, ServerStatus.FAILED, ServerStatus.STARTING, ServerStatus.DISCONNECTED))
    )
    if status is not None:
        return snapshot.mark(name, status, "gone")
    rest = {other: state for other, state in snapshot.servers.items() if other != name}
    return replace(snapshot, servers=rest)


@given(worlds(), st.data())
def test_an_agent_at_work_takes_its_next_turn_and_can_call_no_more(world, data):
    scope = spawned(world, data)
    handle = AgentHandle(world.workspace, scope)
    try:
        first = handle.turn(world.snapshot)
    except PackbeltError:
        return
    before, snapshot = callable_ids(first.belt), world.snapshot
    while snapshot.servers and data.draw(st.booleans()):
        snapshot = lost(snapshot, data)
        assert callable_ids(handle.turn(snapshot).belt) <= before
    again = handle.turn(world.snapshot)
    assert callable_ids(again.belt) == before
    assert again.vanished == first.vanished == ()


@given(worlds(), st.data())
def test_law7_a_later_turn_is_the_one_that_a_fresh_start_would_give(world, data):
    scope = spawned(world, data)
    handle = AgentHandle(world.workspace, scope)
    try:
        handle.turn(world.snapshot)
    except PackbeltError:
        return
    if world.snapshot.servers:
        handle.turn(lost(world.snapshot, data))
    later = handle.turn(world.snapshot)
    fresh = next_turn(world.workspace, replace(world.snapshot, admitted=later.belt.admission), scope)
    assert callable_ids(later.belt) == callable_ids(fresh.belt)
    assert [tool.line for tool in later.tools] == [tool.line for tool in fresh.tools]
