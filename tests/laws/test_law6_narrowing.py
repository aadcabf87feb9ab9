"""Law 6, narrowing never widens: adding a deny, lowering a ceiling, disabling an agent, disconnecting a
server or breaking a file never makes a tool callable that was not, for an agent that has started. Adding an
entry to its `tools` never takes one from it.
"""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from probes import callable_ids

from packbelt.catalog.handoffs import handoff_tools
from packbelt.catalog.inherited import Files
from packbelt.model import PackbeltError, Permission, Selector, ServerStatus
from packbelt.testing import broken
from packbelt.testing.strategies import worlds


def callable_after(world):
    """What can be called in another world, or nothing where its agent cannot start there."""
    try:
        belt = world.belt()
    except PackbeltError:
        return set()
    return set() if belt.problems else callable_ids(belt)


def started(world):
    return not world.belt().problems


def with_config(world, **changed):
    config = replace(world.workspace.config, **changed)
    return world.but(workspace=replace(world.workspace, config=config))


@given(worlds(), st.data())
def test_a_deny_at_any_level(world, data):
    if not started(world):
        return
    before = callable_ids(world.belt())
    entry = Selector(data.draw(st.sampled_from(world.denials)))
    agent = world.workspace.agents[world.scope.agent]
    own = replace(agent, disallowed_tools=(*agent.disallowed_tools, entry))
    agents = {**world.workspace.agents, agent.name: own}
    levels = [
        with_config(world, deny=(*world.workspace.config.deny, entry)),
        world.but(snapshot=replace(world.snapshot, deny=(*world.snapshot.deny, entry))),
        world.but(scope=replace(world.scope, deny=(*world.scope.deny, entry.text))),
        world.but(workspace=replace(world.workspace, agents=agents)),
    ]
    for narrowed in levels:
        assert callable_after(narrowed) <= before


@given(worlds(), st.sampled_from(Permission))
def test_a_lower_ceiling_at_any_level(world, ceiling):
    if not started(world):
        return
    before = callable_ids(world.belt())

    def lower(now):
        return ceiling if now is None else min(now, ceiling)

    agent = world.workspace.agents[world.scope.agent]
    own = replace(agent, ceiling=lower(agent.ceiling))
    levels = [
        with_config(world, ceiling=lower(world.workspace.config.ceiling)),
        world.but(snapshot=replace(world.snapshot, ceiling=lower(world.snapshot.ceiling))),
        world.but(scope=replace(world.scope, ceiling=lower(world.scope.ceiling))),
        world.but(workspace=replace(world.workspace, agents={**world.workspace.agents, agent.name: own})),
    ]
    for narrowed in levels:
        assert callable_after(narrowed) <= before


@given(worlds(), st.data())
def test_a_disabled_agent(world, data):
    if not started(world):
        return
    name = data.draw(st.sampled_from(sorted(world.workspace.agents)))
    disabled = (*world.snapshot.disabled_agents, name)
    narrowed = world.but(snapshot=replace(world.snapshot, disabled_agents=disabled))
    assert callable_after(narrowed) <= callable_ids(world.belt())


@given(worlds(), st.data())
def test_a_server_that_is_lost(world, data):
    """It starts, fails or is disconnected; or the snapshot forgets it altogether."""
    if not started(world) or not world.snapshot.servers:
        return
    before = callable_ids(world.belt())
    name = data.draw(st.sampled_from(sorted(world.snapshot.servers)))
    for status in (ServerStatus.STARTING, ServerStatus.FAILED, ServerStatus.DISCONNECTED):
        assert callable_after(world.but(snapshot=world.snapshot.mark(name, status, "gone"))) <= before
    rest = {other: state for other, state in world.snapshot.servers.items() if other != name}
    assert callable_after(world.but(snapshot=replace(world.snapshot, servers=rest))) <= before


def with_broken(world, name):
    """The world in which an agent's file stopped loading; its servers are no longer known from files."""
    workspace = world.workspace
    agents = {other: agent for other, agent in workspace.agents.items() if other != name}
    lost = {**workspace.broken, name: broken(name, handoff=workspace.agents[name].handoff)}
    own = [tool for tool in workspace.tools if tool.id.source == "native"]
    inline = {full: spec for full, spec in workspace.inline.items() if spec.owner != name}
    said = Files(workspace.config, workspace.servers, inline)
    tools = [*own, *handoff_tools(agents, lost, workspace.orchestrator, said)]
    return world.but(
        workspace=replace(
            workspace,
            agents=agents,
            broken=lost,
            inline=inline,
            tools=tuple(sorted(tools, key=lambda tool: tool.wire_name)),
        )
    )


@given(worlds(), st.data())
def test_a_broken_file(world, data):
    """For all agents but the broken one, which cannot start."""
    name = data.draw(st.sampled_from(sorted(world.workspace.agents)))
    if not started(world) or name in world.scope.path:
        return
    assert callable_after(with_broken(world, name)) <= callable_ids(world.belt())


@given(worlds(), st.data())
def test_one_more_entry_in_tools_takes_nothing(world, data):
    agent = world.workspace.agents[world.scope.agent]
    if not started(world) or agent.tools is None:
        return
    entry = Selector(data.draw(st.sampled_from(world.grants)))
    own = replace(agent, tools=(*agent.tools, entry))
    widened = world.but(
        workspace=replace(world.workspace, agents={**world.workspace.agents, agent.name: own})
    )
    if started(widened):
        assert callable_ids(world.belt()) <= callable_ids(widened.belt())
