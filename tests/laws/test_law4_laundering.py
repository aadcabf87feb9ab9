"""Law 4, no laundering: every call passes the gate of the scope that makes it, whatever opener, name, hint,
search or relay it came by; a child's scope holds all denies, cuts, approvals and ceilings of workspace,
snapshot and the spawns above it.
"""

from hypothesis import given
from hypothesis import strategies as st
from probes import callable_ids, fitting, of_state, reached
from reference import Reference

from packbelt.belt import admit as through_gate
from packbelt.belt import find_tools, hint_for
from packbelt.model import Call, HandOff, PackbeltError, Permission
from packbelt.testing import make_belt
from packbelt.testing.strategies import names, worlds


def bound(world, tool):
    """Whether workspace, snapshot or a spawn on the path denies, cuts or outlevels a tool."""
    slow = Reference(world.workspace, world.snapshot)
    path = slow.path(world.scope)
    entries = [s.text for s in (*world.workspace.config.deny, *world.snapshot.deny)]
    entries += [text for step in path for text in step.deny]
    levels = [world.workspace.config.ceiling, world.snapshot.ceiling, *(step.ceiling for step in path)]
    above = min(one for one in levels if one is not None)
    inline = world.workspace.inline
    server = tool.id.server
    short = inline[server].short_name if server in inline else server
    cut = server is not None and any(
        step.mcp_servers is not None and not {server, short} & set(step.mcp_servers) for step in path
    )
    return any(slow.denies(text, tool) for text in entries) or slow.permission(tool) > above or cut


@given(worlds(), names())
def test_no_path_leads_to_what_the_spawns_above_withhold(world, name):
    belt = world.belt()
    opener = world.workspace.config.opener
    closed = {t.wire_name for t in belt.registry.tools if bound(world, t)}
    assert not closed & {tool.wire_name for tool in belt.tools}
    assert not closed & {tool.wire_name for tool in find_tools(belt, name, limit=20)}
    for i, tool in enumerate(belt.registry.tools):
        if tool.wire_name not in closed:
            continue
        given_ = fitting(tool)
        assert reached(belt, tool.wire_name, given_) is None
        for pack in (belt.registry.pack_of(i), *world.workspace.packs, "mcp:github"):
            for said in (tool.wire_name, tool.name):
                inner = {"pack": pack, "tool": said, "arguments": given_}
                assert reached(belt, opener, inner) not in closed
        for asked in (tool.wire_name, tool.name, name):
            for offer in hint_for(belt, asked).suggestions:
                assert reached(belt, offer.tool, offer.arguments) not in closed


@given(worlds())
def test_a_child_is_bound_by_all_that_binds_its_parent(world):
    """But for the parent's own `tools` and `disallowed_tools`, which shape its own belt only."""
    belt = world.belt()
    for link in of_state(belt, *{belt.state(i) for i in range(len(belt.registry.tools))}):
        target = belt.registry.tools[link].target
        if target is None or target in world.workspace.broken:
            continue
        child = belt.child(target)
        assert child.subject.ceiling <= belt.subject.ceiling
        inside = world.but(scope=child.subject.scope)
        for i in of_state(child, *{child.state(j) for j in range(len(child.registry.tools))}):
            tool = child.registry.tools[i]
            if bound(world, tool):
                assert bound(inside, tool)
                assert not child.state(i).callable, str(tool.id)


@given(worlds(), st.data())
def test_what_a_spawn_says_binds_everything_below_it(world, data):
    """Each further cut leaves a part of what there was, at any depth; approvals only add up."""
    name = world.scope.agent
    below = data.draw(st.sampled_from(sorted(world.workspace.agents)))
    try:
        plain = make_belt(world.workspace, world.snapshot, world.scope.spawn(name).spawn(below))
        cuts = {
            "mcp_servers": data.draw(st.none() | st.just([])),
            "deny": data.draw(st.lists(st.sampled_from(world.denials), max_size=2)),
            "approve": data.draw(st.lists(st.sampled_from(world.denials), max_size=2)),
            "tools": data.draw(st.none() | st.lists(st.sampled_from(world.grants), max_size=2)),
            "ceiling": data.draw(st.none() | st.sampled_from(Permission)),
        }
        cut = make_belt(world.workspace, world.snapshot, world.scope.spawn(name, **cuts).spawn(below))
    except PackbeltError:  # an entry that means two things to this spawn
        return
    assert callable_ids(cut) <= callable_ids(plain)
    assert cut.approve & plain.approve == plain.approve


@given(worlds())
def test_the_mark_for_approval_travels_with_the_tool(world):
    """By name and through the opener alike."""
    belt = world.belt()
    for i, tool in enumerate(belt.registry.tools):
        ways = [(tool.wire_name, fitting(tool))]
        if belt.opener and belt.registry.pack_of(i):
            inner = {"pack": belt.registry.pack_of(i), "tool": tool.wire_name, "arguments": fitting(tool)}
            ways.append((belt.opener.wire_name, inner))
        for name, given_ in ways:
            admitted = through_gate(belt, name, given_)
            if isinstance(admitted, Call | HandOff):
                assert admitted.approve == belt.at(i).approve
