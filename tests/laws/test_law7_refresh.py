"""Law 7, refresh equals fresh: any sequence of connects, disconnects, renames, reloads and re-seeds gives the
same belt as building it new, given the recorded order and placement of admission.
"""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st
from probes import differences, lines, outline

from packbelt.catalog.snapshot import Snapshot
from packbelt.model import AgentRefusedError, SelectorError, ServerStatus
from packbelt.testing import make_belt, make_snapshot
from packbelt.testing.strategies import SERVERS, listings, worlds
from packbelt.turn import AgentHandle, next_turn, turn

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("connect"), st.sampled_from(SERVERS), listings()),
        st.tuples(st.just("mark"), st.sampled_from(SERVERS), st.sampled_from(ServerStatus)),
        st.tuples(st.just("rename"), st.sampled_from(SERVERS), st.sampled_from(SERVERS)),
        st.tuples(st.just("forget"), st.sampled_from(SERVERS), st.none()),
        st.tuples(st.just("reload"), st.none(), st.none()),
        st.tuples(st.just("disable"), st.sampled_from(("coder", "mcp_agent")), st.none()),
    ),
    max_size=6,
)


def after(snapshot, step):
    """The snapshot after one event."""
    kind, name, more = step
    if kind == "connect":
        return snapshot.connect(name, more)
    if kind == "mark":
        return snapshot.mark(name, more, "gone" if more is ServerStatus.FAILED else "")
    if kind == "disable":
        return replace(snapshot, disabled_agents=(*snapshot.disabled_agents, name))
    rest = {other: state for other, state in snapshot.servers.items() if other != name}
    if kind == "rename" and name in snapshot.servers:
        listed = [wire_form(tool) for tool in snapshot.servers[name].tools]
        return replace(snapshot, servers=rest).connect(more, listed)
    return replace(snapshot, servers=rest) if kind == "forget" else snapshot


def wire_form(tool):
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}


def same(one, other):
    assert lines(one) == lines(other)
    assert not list(differences(outline(one), outline(other)))


@given(worlds(), STEPS)
def test_a_handle_after_any_events_gives_what_a_fresh_turn_gives(world, steps):
    workspace, snapshot = world.workspace, world.snapshot
    handle = AgentHandle(workspace, world.scope)
    recorded, before = snapshot.admitted, None
    for step in [None, *steps]:
        snapshot = snapshot if step is None else after(snapshot, step)
        if step is not None and step[0] == "reload":
            workspace = replace(workspace, agents=dict(workspace.agents), packs=dict(workspace.packs))
            handle.reload(workspace)
        try:
            now = handle.turn(snapshot)
        except (AgentRefusedError, SelectorError):
            continue  # the agent cannot start as things stand; what was recorded stays
        if now is before:
            continue  # nothing happened
        # An agent that has started is not refused for what vanished since.
        decide, before = turn if before is None else next_turn, now
        anew = make_snapshot(  # built from what each server lists now, without any history
            {name: map(wire_form, state.tools) for name, state in sorted(snapshot.servers.items())},
            status={name: state.status for name, state in snapshot.servers.items()},
            errors={name: state.error for name, state in snapshot.servers.items()},
        )
        anew = replace(snapshot, servers=anew.servers, admitted=recorded)
        fresh = decide(replace(workspace), anew, world.scope)
        assert now.digest == fresh.digest
        same(now.belt, fresh.belt)
        recorded = now.belt.admission


@given(worlds())
def test_recording_what_was_admitted_changes_nothing(world):
    """The next turn on the same things is the same turn."""
    belt = world.belt()
    recorded = replace(world.snapshot, admitted=belt.admission)
    again = make_belt(world.workspace, recorded, world.scope)
    assert lines(again) == lines(belt)
    assert [again.state(i) for i in range(len(again.registry.tools))] == [
        belt.state(i) for i in range(len(belt.registry.tools))
    ]
    assert again.admission == belt.admission


@given(worlds(), st.data())
def test_a_server_that_comes_back_leaves_no_trace(world, data):
    servers = world.snapshot.servers
    connected = sorted(name for name in servers if servers[name].status is ServerStatus.CONNECTED)
    assume(connected)
    name = data.draw(st.sampled_from(connected))
    state = servers[name]
    belt = world.belt()
    recorded = replace(world.snapshot, admitted=belt.admission)
    lost = recorded.mark(name, ServerStatus.DISCONNECTED)
    back = lost.connect(name, [wire_form(tool) for tool in reversed(state.tools)])
    same(make_belt(world.workspace, back, world.scope), make_belt(world.workspace, recorded, world.scope))


def test_a_tool_named_exactly_does_not_unpack_its_server():
    """It is direct for its own sake; the next turn's placement of the others is not read off it."""
    from packbelt.catalog.workspace import Budget
    from packbelt.testing import agent, make_workspace, server_tool

    workspace = make_workspace(
        agents=[agent("orchestrator", tools=["big/a", "big/*"])], budget=Budget(server_tokens=100)
    )
    listed = [server_tool(name, "word " * 200) for name in ("a", "b", "c")]
    handle = AgentHandle(workspace, "orchestrator")
    snapshot = Snapshot().connect("big", listed)
    first = [tool.name for tool in handle.turn(snapshot).tools]
    again = [tool.name for tool in handle.turn(snapshot.mark("other", ServerStatus.STARTING)).tools]
    assert first == ["use_pack", "a"]
    assert again == first
