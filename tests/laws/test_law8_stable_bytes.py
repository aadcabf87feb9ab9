"""Law 8, stable bytes: same workspace and snapshot give the same bytes, whatever the discovery order. First
set sorted, later arrivals appended; nothing before them moves, so the provider's prompt cache survives.
"""

import os
import subprocess
import sys
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from probes import differences, lines, outline

from packbelt.model import AgentRefusedError, PackbeltError
from packbelt.testing import make_belt, make_snapshot
from packbelt.testing.strategies import SERVERS, listings, worlds
from packbelt.turn import AgentHandle, turn


def shuffled(data, mapping):
    return dict(data.draw(st.permutations(list(mapping.items()))))


@given(worlds(), st.data())
def test_the_order_of_discovery_changes_no_byte(world, data):
    workspace, snapshot = world.workspace, world.snapshot
    found = replace(
        workspace,
        agents=shuffled(data, workspace.agents),
        broken=shuffled(data, workspace.broken),
        servers=shuffled(data, workspace.servers),
        inline=shuffled(data, workspace.inline),
        config=replace(workspace.config, servers=shuffled(data, workspace.config.servers)),
        lock=workspace.lock and shuffled(data, workspace.lock),
    )
    listed = {
        name: [
            {"inputSchema": tool.input_schema, "description": tool.description, "name": tool.name}
            for tool in data.draw(st.permutations(state.tools))
        ]
        for name, state in shuffled(data, snapshot.servers).items()
    }
    status = {name: state.status for name, state in snapshot.servers.items()}
    errors = {name: state.error for name, state in snapshot.servers.items()}
    seen = replace(snapshot, servers=make_snapshot(listed, status=status, errors=errors).servers)
    one, other = make_belt(workspace, snapshot, world.scope), make_belt(found, seen, world.scope)
    assert lines(one) == lines(other)
    assert not list(differences(outline(one), outline(other)))
    assert one.admission == other.admission
    try:
        digest = turn(workspace, snapshot, world.scope).digest
    except AgentRefusedError:
        return
    assert turn(found, seen, world.scope).digest == digest


@given(worlds())
def test_the_first_set_is_sorted(world):
    if world.snapshot.admitted:
        return
    belt = world.belt()
    own = {tool.wire_name for tool in (belt.opener, belt.finder) if tool}
    sent = [tool for tool in belt.tools if tool.wire_name not in own]
    assert sent == sorted(
        sent,
        key=lambda tool: (tool.id.server is not None, tool.id.server or "", *_in_source(tool)),
    )


def _in_source(tool):
    return (tool.wire_name,) if tool.id.server is None else (tool.name,)


@given(worlds(), st.lists(st.tuples(st.sampled_from(SERVERS), listings()), min_size=1, max_size=3))
def test_later_arrivals_are_appended(world, arrivals):
    """The lines of each turn begin with those of the turn before, the first appearance of the opener included."""
    snapshot = replace(world.snapshot, admitted=())  # what was there once comes back to its old place
    handle = AgentHandle(world.workspace, world.scope)
    try:
        before = lines(handle.turn(snapshot).belt)
    except PackbeltError:
        return
    for name, listed in arrivals:
        if name in snapshot.servers:
            continue  # that would be a change of what was there
        snapshot = snapshot.connect(name, listed)
        try:
            now = lines(handle.turn(snapshot).belt)
        except PackbeltError:  # two servers now answer to one entry
            return
        assert now[: len(before)] == before
        before = now


SCRIPT = """
from hypothesis import HealthCheck, given, seed, settings
from packbelt.testing.strategies import worlds
from packbelt.turn import turn
from packbelt.model import PackbeltError

@seed(7)
@settings(max_examples=25, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(worlds())
def show(world):
    try:
        now = turn(world.workspace, world.snapshot, world.scope)
    except PackbeltError as error:
        print(error)
        return
    print(now.digest, now.prompt)
    for name in now.belt:
        print(name, now.belt[name].decision)
    for name in ("install_skill", "search", "delete", "mcp__github__search"):
        print(now.resolve(name))

show()
"""


def test_the_seed_of_hashes_changes_no_byte():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8:backslashreplace"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000
