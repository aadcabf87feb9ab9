"""An agent's handle: what is true of an agent that has started, from turn to turn."""

import pytest

from packbelt.model import AgentRefusedError, Code, Level
from packbelt.testing import agent, make_snapshot, make_workspace
from packbelt.turn import AgentHandle

WORKSPACE = make_workspace(agents=[agent("orchestrator", tools=["srv/a", "srv/b"])])
BOTH = make_snapshot({"srv": ["a", "b"]})
ONE = make_snapshot({"srv": ["a"]})


def test_an_exact_entry_for_a_tool_that_the_server_does_not_have_refuses_the_start():
    with pytest.raises(AgentRefusedError, match="server 'srv' has no tool 'b'"):
        AgentHandle(WORKSPACE, "orchestrator").turn(ONE)


def test_a_tool_that_vanishes_while_the_agent_runs_is_a_diagnostic():
    handle = AgentHandle(WORKSPACE, "orchestrator")
    handle.turn(BOTH)
    later = handle.turn(ONE)
    assert [tool.wire_name for tool in later.tools] == ["mcp__srv__a"]
    (found,) = [one for one in later.diagnostics if one.code is Code.SELECTOR_VANISHED]
    assert (found.level, found.name) == (Level.WARNING, "srv/b")
    assert [tool.wire_name for tool in handle.turn(BOTH).tools] == ["mcp__srv__a", "mcp__srv__b"]


def test_a_reload_keeps_a_started_agent_started():
    handle = AgentHandle(WORKSPACE, "orchestrator")
    handle.turn(BOTH)
    handle.reload(make_workspace(agents=[agent("orchestrator", tools=["srv/a", "srv/c"])]))
    assert [tool.wire_name for tool in handle.turn(BOTH).tools] == ["mcp__srv__a"]
