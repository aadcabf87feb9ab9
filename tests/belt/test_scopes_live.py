"""The servers of a child are those of its parent's scope, asked anew of what is live; what a spawn cut stays cut."""

import pytest

from packbelt.belt import Scope
from packbelt.catalog.snapshot import Snapshot
from packbelt.model import HandOff, SelectorError, ServerStatus, State
from packbelt.testing import agent, make_snapshot, make_workspace, policy, server
from packbelt.turn import AgentHandle, turn

FLEET = make_workspace(
    tools=["read_file", "shell"],
    servers=["one", "two", "late"],
    agents=[
        agent("orchestrator", delegates="*"),
        agent("child", delegates="*"),
        agent("grandchild"),
        agent("greedy", tools=["*"], mcp_servers=["one", "two", "late"], inline=["db"], delegates="*"),
        agent("closed", inherit_mcp_servers=False, delegates="*"),
        agent("picky", inherit_mcp_servers=["two", "late"], delegates="*"),
        agent("nothing_itself", tools=[], delegates="*"),
    ],
)
ONE = make_snapshot({"one": ["a"]})
BOTH = ONE.connect("two", [{"name": "b"}])
LATE = BOTH.connect("late", [{"name": "c"}])


def handles(*scopes):
    return [AgentHandle(FLEET, scope) for scope in scopes]


def chain(*names, **cuts):
    """The scope at the end of a path; the cuts are those of the first spawn."""
    first, *rest = names
    scope = Scope("orchestrator").spawn(first, **cuts)
    for name in rest:
        scope = scope.spawn(name)
    return scope


def server_tools(now):
    return {name for name in now.belt if name.startswith("mcp__") and now.belt[name].state.callable}


def test_sa_a_server_that_connects_later_reaches_child_and_grandchild():
    running = handles(Scope("orchestrator"), chain("child"), chain("child", "grandchild"))
    assert [server_tools(handle.turn(ONE)) for handle in running] == [{"mcp__one__a"}] * 3
    for snapshot, names in ((BOTH, {"mcp__one__a", "mcp__two__b"}), (ONE, {"mcp__one__a"})):
        assert [server_tools(handle.turn(snapshot)) for handle in running] == [names] * 3


def test_a_server_that_no_file_names_reaches_them_too():
    running = handles(chain("child"), chain("child", "grandchild"))
    for handle in running:
        handle.turn(ONE)
    newcomer = ONE.connect("newcomer", [{"name": "n"}])
    assert [server_tools(h.turn(newcomer)) for h in running] == [{"mcp__one__a", "mcp__newcomer__n"}] * 2


def test_a_changed_list_of_tools_reaches_them_at_the_next_turn():
    running = handles(chain("child"), chain("child", "grandchild"))
    before = [handle.turn(BOTH) for handle in running]
    changed = BOTH.connect("one", [{"name": "a2"}, {"name": "a3"}])
    after = [handle.turn(changed) for handle in running]
    assert [server_tools(now) for now in after] == [{"mcp__one__a2", "mcp__one__a3", "mcp__two__b"}] * 2
    assert [server_tools(now) for now in before] == [{"mcp__one__a", "mcp__two__b"}] * 2
    assert "mcp__one__a" not in after[0].belt


def test_a_server_that_is_lost_takes_its_tools_from_all_and_gives_them_back():
    running = handles(chain("child"), chain("child", "grandchild"))
    lost = BOTH.mark("one", ServerStatus.DISCONNECTED, "connection lost")
    for snapshot, names in ((BOTH, {"mcp__one__a", "mcp__two__b"}), (lost, {"mcp__two__b"})) * 2:
        assert [server_tools(handle.turn(snapshot)) for handle in running] == [names] * 2
    assert running[1].turn(lost).belt["mcp__one__a"].state is State.UNAVAILABLE


def test_a_child_has_its_parents_servers_and_not_what_its_parents_belt_kept_of_them():
    """A coordinator that may call nothing itself still hands servers down."""
    (handle,) = handles(chain("nothing_itself", "grandchild"))
    assert server_tools(turn(FLEET, BOTH, chain("nothing_itself"))) == set()
    assert server_tools(handle.turn(BOTH)) == {"mcp__one__a", "mcp__two__b"}
    assert server_tools(handle.turn(LATE)) == {"mcp__one__a", "mcp__two__b", "mcp__late__c"}


CUTS = [
    ({"mcp_servers": ["one"]}, {"mcp__one__a"}, State.OFF_BELT),
    ({"mcp_servers": []}, set(), State.OFF_BELT),
    ({"tools": ["one/*"]}, {"mcp__one__a"}, State.OFF_BELT),
    ({"tools": ["read_file"]}, set(), State.OFF_BELT),
    ({"tools": []}, set(), State.OFF_BELT),
    ({"deny": ["two/*", "late/*"]}, {"mcp__one__a"}, State.DENIED),
    ({"deny": ["*/*"]}, set(), State.DENIED),
    ({"deny": ["two/b", "*/c"]}, {"mcp__one__a"}, State.DENIED),
    ({"ceiling": "read"}, set(), State.OVER_CEILING),
]


@pytest.mark.parametrize(("cuts", "left", "state"), CUTS)
@pytest.mark.parametrize("path", [("child", "grandchild"), ("child", "greedy"), ("greedy", "greedy")])
def test_what_a_spawn_cut_holds_below_whatever_the_files_there_say(cuts, left, state, path):
    """`greedy` asks for every server by name and for every tool."""
    handle = AgentHandle(FLEET, chain(*path, **cuts))
    first = handle.turn(BOTH)
    assert server_tools(first) == left
    assert first.belt["mcp__two__b"].state is state
    later = handle.turn(LATE)  # what comes later comes under the same cuts
    assert server_tools(later) == left
    assert later.belt["mcp__late__c"].state is state


def test_a_cut_can_be_narrowed_below_and_never_widened():
    scope = chain("child", mcp_servers=["one", "two"])
    wider = scope.spawn("greedy", mcp_servers=["two", "late"])
    assert server_tools(turn(FLEET, LATE, wider)) == {"mcp__two__b"}
    everything = scope.spawn("greedy", tools=["*"], ceiling="dangerous")
    assert server_tools(turn(FLEET, LATE, everything)) == {"mcp__one__a", "mcp__two__b"}


def test_an_empty_list_leaves_no_server_at_all():
    for path in (("child",), ("greedy",), ("child", "greedy")):
        now = turn(FLEET, LATE.connect("greedy.db", [{"name": "q"}]), chain(*path, mcp_servers=[]))
        assert now.belt.subject.servers == ()
        assert server_tools(now) == set()
        assert now.belt["read_file"].state.callable


def test_inherit_false_leaves_what_the_file_itself_refers_to():
    assert server_tools(turn(FLEET, LATE, chain("closed"))) == set()
    assert server_tools(turn(FLEET, LATE, chain("closed", "grandchild"))) == set()
    assert server_tools(turn(FLEET, LATE, chain("closed", "greedy"))) == {
        "mcp__one__a",
        "mcp__two__b",
        "mcp__late__c",
    }
    (handle,) = handles(chain("closed", "grandchild"))
    handle.turn(ONE)
    assert server_tools(handle.turn(LATE)) == set()


def test_a_list_of_inherited_servers_is_asked_anew():
    (handle,) = handles(chain("picky"))
    assert server_tools(handle.turn(BOTH)) == {"mcp__two__b"}
    assert server_tools(handle.turn(LATE)) == {"mcp__two__b", "mcp__late__c"}


def test_an_inline_server_of_a_parent_reaches_its_children_and_nobody_else():
    live = BOTH.connect("greedy.db", [{"name": "q"}])
    (own,) = live.servers["greedy.db"].tools
    (below,) = handles(chain("greedy", "grandchild"))
    assert own.wire_name not in server_tools(below.turn(BOTH))
    assert own.wire_name in server_tools(below.turn(live))
    assert own.wire_name not in server_tools(turn(FLEET, live, chain("child", "grandchild")))
    assert own.wire_name not in server_tools(turn(FLEET, live, "orchestrator"))
    kept = turn(FLEET, live, chain("greedy", mcp_servers=["db"]))
    assert server_tools(kept) == {own.wire_name}
    assert server_tools(turn(FLEET, live, chain("greedy", mcp_servers=["one"]))) == {"mcp__one__a"}


def test_an_unknown_server_is_rejected_with_the_real_names():
    with pytest.raises(SelectorError) as raised:
        turn(FLEET, BOTH, chain("child", mcp_servers=["github"]))
    assert "no server is called 'github'" in str(raised.value)
    for name in ("late", "one", "two"):
        assert name in raised.value.mend
    near = turn(FLEET, BOTH, "orchestrator").resolve(
        "delegate_to_child", {"request": "x", "mcp_servers": ["oen"]}
    )
    assert near.hint.kind == "invalid_arguments"
    assert "no server is called 'oen'" in near.hint.text
    assert "'one'" in near.hint.text


@pytest.mark.parametrize("names", [["one"], [], ["one", "two"], ["late"], ["greedy.db"], ["db"]])
def test_the_servers_of_a_hand_off_are_what_its_spawn_gives(names):
    """What the gate looked at is what the child is then given."""
    live = BOTH.connect("greedy.db", [{"name": "q"}])
    for caller in (Scope("orchestrator"), chain("child", mcp_servers=["one", "late"])):
        now = turn(FLEET, live, caller)
        for target in ("grandchild", "greedy", "closed", "picky"):
            request = {"request": "x", "mcp_servers": names}
            hand_off = now.resolve(f"delegate_to_{target}", request)
            if target == caller.agent:
                continue
            assert isinstance(hand_off, HandOff)
            assert hand_off.mcp_servers == tuple(names)
            checked = now.belt.subject_below(target, tuple(names))
            given = turn(FLEET, live, caller.spawn(target, mcp_servers=hand_off.mcp_servers))
            assert checked.servers == given.belt.subject.servers
            assert checked.key == given.belt.subject.key
            short = {FLEET.inline[n].short_name if n in FLEET.inline else n for n in checked.servers}
            assert short <= {*names, *(n.removeprefix("greedy.") for n in names)}


def test_access_of_a_server_is_asked_of_each_agent_below():
    """Whoever can hand to the owner does so; whoever cannot, uses the server that it inherits."""
    workspace = make_workspace(
        agents=[
            agent("orchestrator", delegates="*"),
            agent("mcp_agent"),
            agent("hands_on", delegates=["mcp_agent"]),
            agent("alone"),
        ],
        policies={"*": policy(access="handoff", owners=["mcp_agent"])},
    )
    states = {
        name: turn(workspace, ONE, Scope("orchestrator").spawn(name)).belt["mcp__one__a"].state
        for name in ("mcp_agent", "hands_on", "alone")
    }
    assert states == {"mcp_agent": State.DIRECT, "hands_on": State.RESERVED, "alone": State.DIRECT}


def test_a_required_server_that_fails_later_stops_nobody_who_has_started():
    workspace = make_workspace(
        agents=[agent("orchestrator", delegates="*"), agent("child")], servers=[server("one", required=True)]
    )
    handle = AgentHandle(workspace, Scope("orchestrator").spawn("child"))
    handle.turn(ONE)
    now = handle.turn(ONE.mark("one", ServerStatus.FAILED, "exited with 1"))
    assert now.belt["mcp__one__a"].state is State.UNAVAILABLE
    assert server_tools(handle.turn(ONE)) == {"mcp__one__a"}


def test_nothing_connected_is_nothing_inherited():
    assert server_tools(turn(FLEET, Snapshot(), chain("child", "greedy"))) == set()
