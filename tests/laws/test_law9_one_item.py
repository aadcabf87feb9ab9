"""Law 9, one bad item costs one item: a bad tool, schema, agent, skill or server removes itself, with a
diagnostic, and never empties a belt.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probes import differences, lines, outline

from packbelt.belt import hint_for
from packbelt.catalog.handoffs import handoff_tools
from packbelt.catalog.inherited import Files
from packbelt.model import Code, Level, SelectorError, ServerStatus
from packbelt.testing import broken, make_belt, make_snapshot, server_tool
from packbelt.testing.strategies import worlds

BAD_TOOLS = (
    None,
    "a string",
    {},
    {"name": ""},
    {"name": None},
    {"name": 7, "inputSchema": {}},
    {"name": "bad", "inputSchema": []},
    {"name": "bad", "inputSchema": {"type": "string"}},
    {"name": "bad", "inputSchema": {"properties": []}},
    {"name": "bad", "description": 3},
    {"name": "bad", "inputSchema": {"properties": {"x": {"$ref": "#/properties/x"}}}},
    {"name": "bad", "inputSchema": {"properties": {"x": {"default": float}}}},
    {"name": "bad\ud800"},
    {"name": "bad", "description": "x" * (1 << 21)},
)


@given(worlds(), st.sampled_from(BAD_TOOLS), st.data())
def test_a_bad_tool_removes_itself(world, bad, data):
    if not world.snapshot.servers:
        return
    name = data.draw(st.sampled_from(sorted(world.snapshot.servers)))
    listed = list(world.catalogue[name])
    place = data.draw(st.integers(0, len(listed)))
    good = world.snapshot.connect(name, listed)
    with_bad = world.snapshot.connect(name, [*listed[:place], bad, *listed[place:]])
    one = make_belt(world.workspace, good, world.scope)
    other = make_belt(world.workspace, with_bad, world.scope)
    assert lines(one) == lines(other)
    assert not list(differences(outline(one), outline(other)))
    said = with_bad.servers[name].diagnostics
    assert [one.code for one in said] == [Code.TOOL_BROKEN]
    assert said[0].mend
    if name in other.subject.servers:
        assert set(said) <= set(other.diagnostics)


@given(worlds())
def test_a_server_that_failed_before_it_listed_anything_removes_itself(world):
    before = world.belt()
    snapshot = world.snapshot.mark("never seen", ServerStatus.FAILED, "exited with 1")
    after = make_belt(world.workspace, snapshot, world.scope)
    assert lines(after) == lines(before)
    assert not list(differences(outline(after), outline(before)))


@given(worlds())
def test_a_broken_agent_costs_its_own_hand_off(world):
    """Another agent's file that does not load adds one hand-off, which is unavailable, and moves nothing."""
    workspace = world.workspace
    lost = {**workspace.broken, "lost": broken("lost")}
    own = [tool for tool in workspace.tools if tool.id.source == "native"]
    said = Files(workspace.config, workspace.servers, workspace.inline)
    tools = [*own, *handoff_tools(workspace.agents, lost, workspace.orchestrator, said)]
    widened = replace(workspace, broken=lost, tools=tuple(sorted(tools, key=lambda tool: tool.wire_name)))
    before = world.belt()
    after = make_belt(widened, world.snapshot, world.scope)
    assert lines(after) == lines(before)
    new = outline(after)
    state = new.pop("handoff:delegate_to_lost")[0]
    assert not state.callable
    assert not list(differences(new, outline(before)))
    assert hint_for(after, "delegate_to_lost").kind == state.value


@given(worlds())
def test_a_failed_server_is_reported_and_costs_its_own_tools(world):
    for name, state in world.snapshot.servers.items():
        snapshot = world.snapshot.mark(name, ServerStatus.FAILED, "exited with 1")
        try:
            after = make_belt(world.workspace, snapshot, world.scope)
        except SelectorError:  # the spawn names one of its tools exactly, and cannot be made
            continue
        before = world.belt()
        for i, tool in enumerate(after.registry.tools):
            if tool.id.server != name:
                assert after.state(i).callable == before.state(i).callable
        if name in after.subject.servers and not after.problems:
            found = [d for d in after.diagnostics if d.code is Code.SERVER_FAILED and d.name == name]
            assert len(found) == 1
            assert found[0].level is Level.WARNING
            assert "exited with 1" in found[0].message
        assert state.tools == snapshot.servers[name].tools


@pytest.mark.parametrize("bad", BAD_TOOLS, ids=range(len(BAD_TOOLS)))
def test_every_kind_of_bad_tool_is_left_out_with_a_diagnostic(bad):
    snapshot = make_snapshot().connect("s", [server_tool("a"), bad, server_tool("z")])
    state = snapshot.servers["s"]
    assert list(state.by_name) == ["a", "z"]
    assert [(one.level, one.code) for one in state.diagnostics] == [(Level.WARNING, Code.TOOL_BROKEN)]
    assert "left out" in state.diagnostics[0].message
