"""A server that fails is left out, unless an exact entry names one of its tools: then its agent does not start."""

import pytest

from packbelt.belt import Scope
from packbelt.model import AgentRefusedError, Code, Level, SelectorError, ServerStatus, State
from packbelt.testing import agent, make_snapshot, make_workspace, pack
from packbelt.turn import AgentHandle, turn

NEVER_LISTED = make_snapshot(status={"srv": "failed"}, errors={"srv": "exited with 1"})
LISTED_BEFORE = make_snapshot({"srv": ["a", "b"]}).mark("srv", ServerStatus.FAILED, "exited with 1")
FAILED = [NEVER_LISTED, LISTED_BEFORE]
WIDE = [["srv/*"], ["*/*"], ["*"], ["pack:mcp:srv"], None]


def workspace(tools, **keys):
    return make_workspace(
        tools=["read_file"], servers=["srv"], agents=[agent("orchestrator", tools=tools, **keys)]
    )


@pytest.mark.parametrize("snapshot", FAILED)
@pytest.mark.parametrize("tools", [["srv/a"], ["srv/*", "srv/a"], ["*", "srv/a"]])
def test_an_exact_entry_refuses_the_start_and_says_the_mend(snapshot, tools):
    with pytest.raises(AgentRefusedError) as raised:
        turn(workspace(tools), snapshot, "orchestrator")
    said = str(raised.value)
    assert "server 'srv' failed: exited with 1" in said
    assert "'a'" in said
    assert 'write "srv/*" to start without it' in raised.value.reasons[0].mend
    with pytest.raises(AgentRefusedError):
        AgentHandle(workspace(tools), "orchestrator").turn(snapshot)


@pytest.mark.parametrize("snapshot", FAILED)
@pytest.mark.parametrize("tools", WIDE)
def test_a_wide_entry_starts_without_it_and_it_is_reported(snapshot, tools):
    now = turn(workspace(tools), snapshot, "orchestrator")
    assert not [name for name in now.belt if name.startswith("mcp__") and now.belt[name].state.callable]
    (found,) = [one for one in now.diagnostics if one.code is Code.SERVER_FAILED]
    assert (found.level, found.name) == (Level.WARNING, "srv")
    assert "exited with 1" in found.message


def test_last_known_tools_stay_known_and_are_not_available():
    now = turn(workspace(["srv/*"]), LISTED_BEFORE, "orchestrator")
    assert {n: now.belt[n].state for n in now.belt if n.startswith("mcp__")} == {
        "mcp__srv__a": State.UNAVAILABLE,
        "mcp__srv__b": State.UNAVAILABLE,
    }
    assert now.tools == ()
    hint = now.resolve("mcp__srv__a", {}).hint
    assert hint.kind == "unavailable"
    assert "exited with 1" in hint.text


@pytest.mark.parametrize("snapshot", FAILED)
@pytest.mark.parametrize("status", [ServerStatus.STARTING, ServerStatus.DISCONNECTED])
def test_only_a_failure_refuses(snapshot, status):
    waiting = snapshot.mark("srv", status)
    assert turn(workspace(["srv/a"]), waiting, "orchestrator").tools == ()


def test_an_exact_entry_of_the_agents_own_server_refuses_the_start_too():
    own = make_workspace(agents=[agent("orchestrator", tools=["db/q"], inline=["db"])])
    down = make_snapshot(status={"orchestrator.db": "failed"}, errors={"orchestrator.db": "no such program"})
    with pytest.raises(AgentRefusedError, match="no such program"):
        turn(own, down, "orchestrator")
    other = make_workspace(agents=[agent("orchestrator", tools=["db/*"], inline=["db"])])
    assert turn(other, down, "orchestrator").tools == ()


@pytest.mark.parametrize("snapshot", FAILED)
def test_a_deny_of_one_of_its_tools_refuses_nobody(snapshot):
    now = turn(workspace(["*"], disallowed_tools=["srv/a"]), snapshot, "orchestrator")
    if "mcp__srv__a" in now.belt:
        assert now.belt["mcp__srv__a"].state is State.DENIED


@pytest.mark.parametrize("snapshot", FAILED)
def test_an_exact_entry_of_a_spawn_refuses_the_child(snapshot):
    fleet = make_workspace(servers=["srv"], agents=[agent("orchestrator", delegates="*"), agent("child")])
    with pytest.raises(SelectorError, match="server 'srv' failed: exited with 1"):
        turn(fleet, snapshot, Scope("orchestrator").spawn("child", tools=["srv/a"]))
    assert turn(fleet, snapshot, Scope("orchestrator").spawn("child", tools=["srv/*"])).tools == ()


def test_an_agent_that_has_started_goes_on_and_its_entry_means_the_same_tool():
    handle = AgentHandle(workspace(["srv/a", "read_file"]), "orchestrator")
    up = make_snapshot({"srv": ["a", "b"]})
    handle.turn(up)
    now = handle.turn(up.mark("srv", ServerStatus.FAILED, "exited with 1"))
    assert [tool.wire_name for tool in now.tools] == ["read_file"]
    assert now.belt["mcp__srv__a"].state is State.UNAVAILABLE
    assert now.belt["mcp__srv__b"].state is State.OFF_BELT
    assert [one.name for one in now.diagnostics if one.code is Code.SELECTOR_VANISHED] == ["srv/a"]
    assert "mcp__srv__a" in [tool.wire_name for tool in handle.turn(up).tools]


@pytest.mark.parametrize("snapshot", FAILED)
def test_no_way_leads_to_an_agent_that_cannot_start_for_it(snapshot):
    fleet = make_workspace(
        tools=["kept"],
        servers=["srv"],
        packs=[pack("p", ["kept"], access="owners", owners=["boss"])],
        agents=[agent("orchestrator", delegates="*"), agent("boss", tools=["kept", "srv/a"])],
    )
    decision = turn(fleet, snapshot, "orchestrator").belt["kept"].decision
    assert decision.routes == ()
    assert "owner 'boss' cannot start" in decision.cuts[0].detail
    assert "exited with 1" in decision.cuts[0].detail
