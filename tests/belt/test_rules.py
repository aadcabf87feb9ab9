"""The rules that real systems disagree on, one after the other, as the table in the design settles them."""

import pytest

from packbelt.belt import Scope, admit, decide, hint_for, resolve
from packbelt.catalog.workspace import Budget
from packbelt.model import (
    AgentRefusedError,
    AmbiguousToolError,
    Call,
    Code,
    HandOff,
    Permission,
    Rule,
    SelectorError,
    State,
    ToolId,
)
from packbelt.testing import (
    agent,
    assert_belt,
    assert_reachable,
    broken,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    path_of,
    policy,
    server,
    server_tool,
    states,
)
from packbelt.turn import turn

TWO = make_snapshot({"srv": ["a", "b"], "other": ["a"]})


def rule_of(belt, name):
    return belt[name].decision.reasons[0].rule


def started_with(tools, snapshot=TWO, **more):
    workspace = make_workspace(tools=["x", "y"], agents=[agent("orchestrator", tools=tools)], **more)
    return turn(workspace, snapshot, "orchestrator").belt


# tools absent, [] and lists -----------------------------------------------------------------------------


def test_absent_tools_take_the_default_of_the_workspace():
    workspace = make_workspace(tools=["x"])
    assert_belt(make_belt(workspace, TWO), direct=["x", "srv/a", "srv/b", "other/a"])
    closed = make_belt(make_workspace(tools=["x"], default_tools="none"), TWO)
    assert set(states(closed).values()) == {"off_belt"}
    assert rule_of(closed, "x") is Rule.DEFAULT_TOOLS


def test_an_empty_list_grants_nothing_but_leaves_the_hand_offs():
    workspace = make_workspace(
        tools=["x"], agents=[agent("orchestrator", tools=[], delegates="*"), agent("helper")]
    )
    belt = make_belt(workspace, TWO)
    assert [tool.name for tool in belt.tools] == ["delegate_to_helper"]
    assert belt["x"].decision.reasons[0].detail == "`tools` is [], which grants nothing"


def test_hand_offs_are_granted_by_delegates_and_never_by_tools():
    workspace = make_workspace(
        agents=[
            agent("orchestrator", tools=["*", "delegate_to_b"], delegates=["a"]),
            agent("a"),
            agent("b"),
        ]
    )
    belt = make_belt(workspace)
    assert_belt(belt, direct=["delegate_to_a"], not_callable=["delegate_to_b"])
    assert rule_of(belt, "delegate_to_b") is Rule.AGENT_DELEGATES


def test_the_star_of_delegates_is_everyone_but_oneself_and_the_root():
    workspace = make_workspace(
        agents=[
            agent("orchestrator", delegates="*"),
            agent("a", delegates="*"),
            agent("b", delegates=["orchestrator"]),
        ]
    )
    hands = {name: [t.target for t in make_belt(workspace, None, name).tools] for name in workspace.agents}
    assert hands == {"orchestrator": ["a", "b"], "a": ["b"], "b": ["orchestrator"]}


# selectors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "granted"),
    [
        ("x", {"x"}),
        ("srv/a", {"mcp__srv__a"}),
        ("srv/*", {"mcp__srv__a", "mcp__srv__b"}),
        ("*/*", {"mcp__srv__a", "mcp__srv__b", "mcp__other__a"}),
        ("pack:p", {"y"}),
        ("pack:mcp:srv", {"mcp__srv__a", "mcp__srv__b"}),
        ("*", {"x", "y", "mcp__srv__a", "mcp__srv__b", "mcp__other__a"}),
    ],
)
def test_each_form_of_a_grant(entry, granted):
    belt = started_with([entry], packs=[pack("p", ["y"])])
    assert {name for name in belt if belt[name].state.callable and name != "use_pack"} == granted


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("srv", "is a server"),
        ("z", "no native tool or hand-off is called 'z'"),
        ("nope/a", "no server is called 'nope'"),
        ("srv/nope", "has no tool 'nope'"),
        ("srv/a*", "globs are for deny and approve lists"),
        ("*/a", "a grant names its server"),
        ("pack:nope", "no pack is called 'nope'"),
        ("mcp__srv__a", "mcp__srv__a"),
    ],
)
def test_an_entry_that_means_nothing_refuses_the_start(entry, said):
    with pytest.raises(AgentRefusedError) as caught:
        started_with([entry])
    assert said in str(caught.value)
    assert caught.value.where.file == "prompts/agents/orchestrator.md"
    assert all(reason.mend for reason in caught.value.reasons)


def test_an_entry_that_fits_two_servers_is_refused_as_a_grant_and_binds_both_as_a_deny():
    snapshot = make_snapshot({"a": ["b/c", "d"], "a/b": ["c", "d"]})
    with pytest.raises(
        AgentRefusedError, match="means tool 'b/c' of server 'a' and tool 'c' of server 'a/b'"
    ):
        started_with(["a/b/c"], snapshot)
    belt = make_belt(make_workspace(deny=["a/b/c"]), snapshot)
    denied = {t.id for t in belt.registry.tools if belt[t.wire_name].state is State.DENIED}
    assert denied == {ToolId("server:a", "b/c"), ToolId("server:a/b", "c")}


def test_globs_in_the_tool_part_of_denies_and_approvals():
    snapshot = make_snapshot({"github": ["delete_repo", "delete_all", "Delete", "search"], "x": ["delete_y"]})
    belt = make_belt(make_workspace(deny=["github/delete_*"], approve=["*/s*"]), snapshot)
    assert_belt(
        belt, not_callable=["github/delete_repo", "github/delete_all"], direct=["github/Delete", "x/delete_y"]
    )
    assert [name for name in belt if belt[name].approve] == ["mcp__github__search"]


@pytest.mark.parametrize("entry", ["srv/*", "srv/delete_*", "*/delete_*", "srv/d*"])
def test_a_tool_that_is_called_like_a_glob_does_not_narrow_a_deny(entry):
    snapshot = make_snapshot({"srv": ["*", "delete_*", "d*", "delete_all", "delete_\U0010ffffx"]})
    belt = make_belt(make_workspace(deny=[entry]), snapshot)
    assert_belt(belt, not_callable=["srv/delete_all", "srv/delete_*", "srv/delete_\U0010ffffx"])


def test_star_and_pack_include_hand_offs_in_a_deny_only():
    people = [agent("orchestrator", delegates="*"), agent("helper", handoff="ask")]
    packs = [pack("p", ["x", "ask"], direct=["ask"])]
    plain = make_belt(make_workspace(tools=["x"], packs=packs, agents=people))
    assert_belt(plain, packed=["x"], direct=["ask"])
    for entry in ("*", "pack:p", "ask", "a?k"):
        belt = make_belt(make_workspace(tools=["x"], packs=packs, agents=people, deny=[entry]))
        assert belt["ask"].state is State.DENIED, entry


def test_no_selector_matches_by_prefix_or_by_a_joined_name():
    snapshot = make_snapshot({"git": ["hub__x"], "git__hub": ["x"], "github": ["x"]})
    belt = make_belt(make_workspace(deny=["git/*"]), snapshot)
    denied = {str(t.id) for t in belt.registry.tools if belt[t.wire_name].state is State.DENIED}
    assert denied == {"server:git/hub__x"}


def test_imported_agents_get_a_diagnostic_for_a_name_that_nothing_has():
    people = [agent("orchestrator", tools=["Frobnicate", "x"], lenient=True)]
    belt = turn(make_workspace(tools=["x"], agents=people), None, "orchestrator").belt
    assert_belt(belt, direct=["x"])
    assert any("Frobnicate" in d.message for d in belt.diagnostics)


def test_a_whole_server_without_tools_warns_and_starts():
    belt = started_with(["srv/*"], make_snapshot({"srv": []}))
    assert [d.level for d in belt.diagnostics] == ["warning"]


@pytest.mark.parametrize("entry", ["githb/delete", "no_such", "pack:nope"])
def test_a_typo_in_a_snapshots_deny_leaves_no_door_open(entry):
    with pytest.raises(AgentRefusedError, match="entry"):
        turn(make_workspace(tools=["x"]), make_snapshot({"github": ["delete"]}, deny=[entry]), "orchestrator")


# denies and the tree ------------------------------------------------------------------------------------


def test_workspace_snapshot_and_spawn_bind_the_tree_and_disallowed_tools_the_agent_alone():
    workspace = make_workspace(
        tools=["a", "b", "c", "d", "e"],
        deny=["a"],
        agents=[
            agent("orchestrator", delegates="*", disallowed_tools=["d"]),
            agent("child", delegates="*"),
            agent("grandchild"),
        ],
    )
    snapshot = make_snapshot(deny=["b"])
    scope = Scope("orchestrator").spawn("child", deny=["c"]).spawn("grandchild")
    top = make_belt(workspace, snapshot)
    assert_belt(top, not_callable=["a", "b", "d"], direct=["c", "e"])
    low = make_belt(workspace, snapshot, scope)
    assert_belt(low, not_callable=["a", "b", "c"], direct=["d", "e"])
    rules = [low[name].decision.reasons[0].rule for name in "abc"]
    assert rules == [Rule.WORKSPACE_DENY, Rule.SNAPSHOT_DENY, Rule.SPAWN_DENY]


def test_allows_intersect_along_the_path():
    workspace = make_workspace(
        tools=["a", "b", "c"], agents=[agent("orchestrator", delegates="*"), agent("x"), agent("y")]
    )
    scope = Scope("orchestrator").spawn("x", tools=["a", "b"]).spawn("y", tools=["b", "c"])
    belt = make_belt(workspace, None, scope)
    assert_belt(belt, direct=["b"], not_callable=["a", "c"])
    assert rule_of(belt, "a") is Rule.SPAWN_TOOLS


# servers and the tree -----------------------------------------------------------------------------------


def servers_of(belt):
    return set(belt.subject.servers)


def test_a_child_has_its_parents_servers_and_its_own():
    workspace = make_workspace(
        servers=["one", "two"],
        agents=[
            agent("orchestrator", delegates="*", inline=["db"]),
            agent("all", inline=["mine"]),
            agent("none", inherit_mcp_servers=False, mcp_servers=["two"]),
            agent("some", inherit_mcp_servers=["one", "late"]),
        ],
    )
    snapshot = make_snapshot({"late": ["x"]})
    root = Scope("orchestrator")
    assert servers_of(make_belt(workspace, snapshot)) == {"one", "two", "late", "orchestrator.db"}
    for name, expected in {
        "all": {"one", "two", "late", "orchestrator.db", "all.mine"},
        "none": {"two"},
        "some": {"one", "late"},
    }.items():
        assert servers_of(make_belt(workspace, snapshot, root.spawn(name))) == expected
    assert servers_of(make_belt(workspace, snapshot, "all")) == {"one", "two", "late", "all.mine"}


def test_a_spawns_cut_of_servers_binds_inherited_referenced_and_inline_alike():
    workspace = make_workspace(
        servers=["one", "two"],
        agents=[
            agent("orchestrator", delegates="*"),
            agent("child", delegates="*", mcp_servers=["two"], inline=["db"]),
            agent("grandchild", mcp_servers=["one", "two"]),
        ],
    )

    def left(names):
        scope = Scope("orchestrator").spawn("child", mcp_servers=names)
        return servers_of(make_belt(workspace, None, scope)), servers_of(
            make_belt(workspace, None, scope.spawn("grandchild"))
        )

    assert left(None)[0] == {"one", "two", "child.db"}
    assert left([]) == (set(), set())
    assert left(["one"]) == ({"one"}, {"one"})
    assert left(["db"]) == ({"child.db"}, {"child.db"})
    with pytest.raises(SelectorError, match="no server is called 'nope'"):
        left(["nope"])


def test_nobody_reaches_for_another_agents_own_server():
    workspace = make_workspace(
        agents=[agent("orchestrator", delegates="*", mcp_servers=["a.db"]), agent("a", inline=["db"])]
    )
    snapshot = make_snapshot({"a.db": ["x"]})
    belt = make_belt(workspace, snapshot)
    assert_belt(belt, not_callable=["a.db/x"])
    assert [d.code for d in belt.diagnostics] == ["server.unknown"]
    assert_belt(make_belt(workspace, snapshot, path_of("orchestrator", "a")), direct=["a.db/x"])


def test_a_broken_file_does_not_give_its_servers_to_everyone():
    snapshot = make_snapshot({"a.db": ["x"]})
    belt = make_belt(make_workspace(broken_agents=[broken("a")]), snapshot)
    assert_belt(belt, not_callable=["a.db/x"])


def test_a_required_or_exactly_named_server_that_failed_refuses_the_start():
    down = make_snapshot({"srv": ["a"]}, status={"srv": "failed"}, errors={"srv": "exited with 1"})
    with pytest.raises(AgentRefusedError, match="server 'srv' failed: exited with 1"):
        started_with(["srv/a"], down)
    assert_belt(started_with(["srv/*"], down), not_callable=["srv/a"])
    needy = make_workspace(agents=[agent("orchestrator", inline=["db"])], required=["orchestrator.db"])
    with pytest.raises(AgentRefusedError, match="'db' is required and failed"):
        turn(needy, make_snapshot(status={"orchestrator.db": "failed"}), "orchestrator")


def test_a_reference_that_is_not_configured_is_skipped_with_a_warning():
    workspace = make_workspace(tools=["x"], agents=[agent("orchestrator", mcp_servers=["nope"])])
    belt = turn(workspace, None, "orchestrator").belt
    assert_belt(belt, direct=["x"])
    assert [(d.level, d.code) for d in belt.diagnostics] == [("warning", "server.unknown")]


def test_denies_and_policies_of_a_name_bind_inline_servers_of_that_name():
    workspace = make_workspace(
        servers=["db"],
        agents=[agent("orchestrator", delegates="*", inline=["db"])],
        deny=["db/drop"],
        policies={"db": policy(exposure="packed", permission="read")},
    )
    belt = make_belt(workspace, make_snapshot({"db": ["drop", "get"], "orchestrator.db": ["drop", "get"]}))
    assert_belt(
        belt,
        not_callable=["db/drop", "orchestrator.db/drop"],
        packed=["db/get", "orchestrator.db/get"],
    )
    assert belt.find("orchestrator.db/get").permission is Permission.READ


def test_equal_names_on_different_servers_coexist():
    assert_belt(make_belt(make_workspace(), TWO), direct=["mcp__srv__a", "mcp__other__a"])
    with pytest.raises(AmbiguousToolError, match="mcp__other__a, mcp__srv__a"):
        decide(make_workspace(), TWO, Scope("orchestrator"), "a")


# permissions, approval, outcomes ------------------------------------------------------------------------


def test_permission_of_what_says_nothing():
    workspace = make_workspace(tools=["x"], agents=[agent("orchestrator", delegates="*"), agent("a")])
    belt = make_belt(workspace, TWO)
    levels = {name: str(belt[name].permission) for name in ("x", "delegate_to_a", "mcp__srv__a")}
    assert levels == {"x": "read", "delegate_to_a": "execute", "mcp__srv__a": "execute"}


def test_annotations_of_a_server_are_never_trusted():
    listed = [server_tool("a", annotations={"readOnlyHint": True}), server_tool("b")]
    belt = make_belt(make_workspace(ceiling="read"), make_snapshot({"srv": listed}))
    assert states(belt) == {"mcp__srv__a": "over_ceiling", "mcp__srv__b": "over_ceiling"}


def test_the_lowest_ceiling_along_the_path_counts():
    workspace = make_workspace(
        tools=[
            native("r", permission="read"),
            native("w", permission="write"),
            native("n", permission="none"),
        ],
        agents=[
            agent("orchestrator", delegates="*"),
            agent("low", ceiling="read", delegates="*"),
            agent("high", ceiling="dangerous"),
        ],
    )
    belt = make_belt(workspace, None, path_of("orchestrator", "low", "high"))
    assert_belt(belt, direct=["r", "n"], not_callable=["w"])
    assert "the ceiling of agent 'low' is read" in belt["w"].decision.reasons[0].detail
    assert_belt(make_belt(workspace, make_snapshot(ceiling="none")), direct=["n"], not_callable=["r"])


def test_approval_is_asked_only_after_the_gate_admits():
    workspace = make_workspace(tools=["x", "y", "z"], approve=["x", "y"], deny=["y"])
    belt = make_belt(workspace)
    assert admit(belt, "x", {}).approve is True
    assert admit(belt, "z", {}).approve is False
    assert admit(belt, "y", {}).kind == "denied"


def test_approval_travels_through_the_opener_and_down_the_tree():
    workspace = make_workspace(
        tools=["x"],
        packs=[pack("p", ["x"])],
        agents=[agent("orchestrator", delegates="*"), agent("child", delegates="*")],
    )
    scope = Scope("orchestrator").spawn("child", approve=["pack:p"]).spawn("child")
    belt = make_belt(workspace, None, scope)
    assert admit(belt, "use_pack", {"pack": "p", "tool": "x"}).approve is True
    assert admit(make_belt(workspace), "use_pack", {"pack": "p", "tool": "x"}).approve is False


def test_only_exact_names_run():
    belt = make_belt(make_workspace(tools=["read_file"], packs=[pack("p", ["read_file"])]), TWO)
    assert isinstance(resolve(belt, "read_file", {}), Call)
    for name in ("Read_File", "read-file", "READ_FILE", "functions.read_file", "a", "srv/a", "mcp__srv__A"):
        assert not isinstance(resolve(belt, name, {}), Call | HandOff), name
    assert isinstance(admit(belt, "use_pack", {"pack": "p", "tool": "read_file"}), Call)
    assert not isinstance(admit(belt, "use_pack", {"pack": "p", "tool": "Read_File"}), Call)


# the states in their order ------------------------------------------------------------------------------


def test_the_first_question_that_answers_wins():
    """Denied before off the belt before unavailable before over the ceiling before reserved."""
    tool = native("t", permission="dangerous")
    packs = [pack("p", ["t"], access="owners", owners=["boss"], exposure="off")]
    on = [pack("p", ["t"], access="owners", owners=["boss"])]
    open_ = [pack("p", ["t"])]

    def state(packs, ceiling, tools, deny):
        workspace = make_workspace(
            tools=[tool], packs=packs, ceiling=ceiling, deny=deny, agents=[agent("orchestrator", tools=tools)]
        )
        return decide(workspace, make_snapshot(), Scope("orchestrator"), "t").state

    assert state(packs, "read", [], ["t"]) == "denied"
    assert state(packs, "read", [], []) == "off_belt"
    assert state(packs, "read", ["*"], []) == "unavailable"
    assert state(on, "read", ["*"], []) == "over_ceiling"
    assert state(on, "dangerous", ["*"], []) == "reserved"
    assert state(open_, "dangerous", ["*"], []) == "packed"
    assert state(open_, "dangerous", ["t"], []) == "direct"
    assert decide(make_workspace(), make_snapshot(), Scope("orchestrator"), "t").state == "unknown"


@pytest.mark.parametrize("delegates", [["boss"], "*"])
def test_access_by_hand_off_reserves_from_those_who_can_hand_off(delegates):
    packs = [pack("p", ["t"], access="handoff", owners=["boss"], carriers=["porter"])]
    people = [
        agent("orchestrator", delegates=delegates),
        agent("boss"),
        agent("porter", delegates="*"),
        agent("bystander"),
    ]
    workspace = make_workspace(tools=["t"], packs=packs, agents=people)
    seen = {name: str(make_belt(workspace, None, name)["t"].state) for name in workspace.agents}
    assert seen == {"orchestrator": "reserved", "boss": "direct", "porter": "direct", "bystander": "packed"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"deny": ["delegate_to_boss"]}, "denied"),
        ({"disabled_agents": ["boss"]}, "agent 'boss' is disabled"),
        ({"ceiling": "read"}, "needs execute"),
    ],
)
def test_a_cut_way_leaves_a_tool_reserved_and_is_named(change, said):
    packs = [pack("p", ["t"], access="handoff", owners=["boss"])]
    people = [agent("orchestrator", delegates="*"), agent("boss")]
    belt = make_belt(make_workspace(tools=["t"], packs=packs, agents=people), make_snapshot(**change))
    decision = belt["t"].decision
    assert (decision.state, decision.routes) == (State.RESERVED, ())
    assert said in decision.cuts[0].detail


def test_a_broken_owner_leaves_a_tool_reserved():
    packs = [pack("p", ["t"], access="handoff", owners=["boss"])]
    belt = make_belt(make_workspace(tools=["t"], packs=packs, broken_agents=[broken("boss")]))
    decision = belt["t"].decision
    assert decision.state is State.RESERVED
    assert "did not load" in decision.cuts[0].detail


def test_an_owner_that_is_not_granted_the_tool_is_named_as_the_cut():
    packs = [pack("p", ["t"], access="owners", owners=["boss"])]
    people = [agent("orchestrator", delegates="*"), agent("boss", tools=[])]
    decision = make_belt(make_workspace(tools=["t"], packs=packs, agents=people))["t"].decision
    assert decision.routes == ()
    assert (
        decision.cuts[0].detail == "owner 'boss' cannot call it either: `tools` is [], which grants nothing"
    )


def test_routes_of_a_reserved_tool_are_the_hand_offs_to_its_owners_in_file_order():
    packs = [pack("p", ["t"], access="owners", owners=["second", "first"], carriers=["porter"])]
    people = [
        agent("orchestrator", delegates="*"),
        agent("first", tools=["*"]),
        agent("porter", tools=["*"]),
        agent("second", tools=["*"]),
    ]
    belt = make_belt(make_workspace(tools=["t"], packs=packs, agents=people))
    routes = belt["t"].decision.routes
    assert [route.agents for route in routes] == [("second",), ("first",)]
    assert_reachable(belt, "t", via="handoff", through="first")


def test_of_several_owners_the_one_that_names_the_tool_itself_goes_first():
    """What the pack's file says in one breath of many tools, the agent's file says of this one."""
    packs = [pack("p", ["t", "u", "v"], access="owners", owners=["user", "maker"]), pack("q", ["w"])]
    people = [
        agent("orchestrator", delegates="*"),
        agent("maker", tools=["pack:p", "t"]),
        agent("user", tools=["pack:p", "u"]),
    ]
    belt = make_belt(make_workspace(tools=["t", "u", "v", "w"], packs=packs, agents=people))
    agents = {name: [route.agents[-1] for route in belt[name].decision.routes] for name in "tuv"}
    assert agents == {"t": ["maker", "user"], "u": ["user", "maker"], "v": ["user", "maker"]}
    for named in (hint_for(belt, "t"), hint_for(belt, "t", "p")):
        assert [offer.tool for offer in named.suggestions] == ["delegate_to_maker", "delegate_to_user"]
    # Who asks for the pack means none of its tools.
    whole = resolve(belt, "use_pack", {"pack": "p"}).hint
    assert whole.kind == "reserved"
    assert [offer.tool for offer in whole.suggestions] == ["delegate_to_user", "delegate_to_maker"]


def test_a_carrier_is_no_way_to_a_pack():
    packs = [pack("p", ["t"], access="owners", owners=["boss"], carriers=["porter"])]
    people = [agent("orchestrator", delegates=["porter"]), agent("boss"), agent("porter", tools=["*"])]
    decision = make_belt(make_workspace(tools=["t"], packs=packs, agents=people))["t"].decision
    assert decision.routes == ()
    assert "do not name 'boss'" in decision.cuts[0].detail


def test_hand_offs_are_never_subject_to_access():
    packs = [pack("p", ["t", "ask"], access="owners", owners=["boss"])]
    people = [agent("orchestrator", delegates="*"), agent("boss", handoff="ask")]
    belt = make_belt(make_workspace(tools=["t"], packs=packs, agents=people))
    assert_belt(belt, packed=["ask"], not_callable=["t"])
    assert belt["t"].decision.routes[0].call == "use_pack"


def test_owning_is_no_grant():
    packs = [pack("p", ["t"], owners=["orchestrator"])]
    workspace = make_workspace(tools=["t"], packs=packs, agents=[agent("orchestrator", tools=[])])
    assert make_belt(workspace)["t"].state is State.OFF_BELT


# placement ----------------------------------------------------------------------------------------------


def test_who_has_a_packs_tools_directly():
    packs = [pack("p", ["t", "u"], owners=["owner"], carriers=["carrier"], direct=["u"])]
    people = [
        agent("orchestrator"),
        agent("owner"),
        agent("carrier"),
        agent("namer", tools=["t"]),
        agent("by_pack", tools=["pack:p"]),
    ]
    workspace = make_workspace(tools=["t", "u"], packs=packs, agents=people)
    seen = {name: str(make_belt(workspace, None, name)["t"].state) for name in workspace.agents}
    assert seen == {
        "orchestrator": "packed",
        "owner": "direct",
        "carrier": "direct",
        "namer": "direct",
        "by_pack": "packed",
    }
    assert make_belt(workspace)["u"].decision.reasons[0].rule is Rule.PACK_DIRECT


def test_auto_exposure_packs_what_does_not_fit_for_owners_too():
    long = [server_tool(name, "word " * 200) for name in "abc"]
    workspace = make_workspace(
        servers=["big", "small"],
        policies={"*": policy(owners=["orchestrator"])},
        budget=Budget(server_tokens=300, belt_tokens=1000),
    )
    belt = make_belt(workspace, make_snapshot({"big": long, "small": ["x"]}))
    assert_belt(belt, packed=["big/a", "big/b", "big/c"], direct=["small/x"])
    assert rule_of(belt, "mcp__big__a") is Rule.SERVER_BUDGET


def test_auto_exposure_weighs_servers_together_in_their_order():
    one = [server_tool("t", "word " * 100)]
    workspace = make_workspace(budget=Budget(server_tokens=200, belt_tokens=300))
    belt = make_belt(workspace, make_snapshot({"c": one, "a": one, "b": one}))
    assert_belt(belt, direct=["a/t", "b/t"], packed=["c/t"])


def test_auto_exposure_goes_by_the_order_of_admission():
    one = [server_tool("t", "word " * 100)]
    workspace = make_workspace(budget=Budget(server_tokens=200, belt_tokens=200))
    belt = make_belt(workspace, make_snapshot({"a": one, "z": one}, admitted=["server:z/t"]))
    assert_belt(belt, direct=["z/t"], packed=["a/t"])
    assert [entry.placed for entry in belt.admission] == ["direct", "direct", "packed"]


def test_the_opener_and_the_finder_exist_if_and_only_if_needed():
    workspace = make_workspace(
        tools=["t", "u"], packs=[pack("p", ["t"]), pack("q", ["u"], exposure="deferred")]
    )
    belt = make_belt(workspace)
    assert [tool.name for tool in belt.tools] == ["use_pack", "find_tools"]
    named = make_workspace(tools=["t"], packs=[pack("p", ["t"])], agents=[agent("orchestrator", tools=["t"])])
    assert [tool.name for tool in make_belt(named).tools] == ["t"]


def test_selectors_neither_grant_nor_deny_the_opener():
    packs = [pack("p", ["t"])]
    people = [agent("orchestrator", tools=["pack:p"])]
    belt = make_belt(make_workspace(tools=["t"], packs=packs, agents=people))
    assert belt.opener
    denied = make_belt(make_workspace(tools=["t"], packs=packs, agents=people, deny=["*"]))
    assert denied.opener is None


def test_a_childs_list_of_inherited_servers_may_say_the_short_name_of_its_parents_inline_one():
    workspace = make_workspace(
        agents=[
            agent("orchestrator", delegates="*", inline=["db"]),
            agent("child", inherit_mcp_servers=["db"]),
        ],
    )
    snapshot = make_snapshot({"orchestrator.db": ["query"], "other": ["x"]})
    child = make_belt(workspace, snapshot, Scope("orchestrator").spawn("child"))
    assert child.subject.servers == ("orchestrator.db",)


def test_a_required_shared_server_that_failed_refuses_whoever_has_it_and_nobody_else():
    workspace = make_workspace(
        agents=[agent("orchestrator", delegates="*"), agent("alone", inherit_mcp_servers=False)],
        servers=[server("db", required=True)],
    )
    snapshot = make_snapshot(status={"db": "failed"}, errors={"db": "exited with 1"})
    with pytest.raises(AgentRefusedError, match="'db' is required and failed: exited with 1"):
        turn(workspace, snapshot, "orchestrator")
    assert turn(workspace, snapshot, "alone").tools == ()


def test_tools_that_the_lock_does_not_accept_are_named_in_one_warning():
    snapshot = make_snapshot({"srv": ["a", "b"]})
    accepted = {"a": snapshot.servers["srv"].tools[0].digest}
    belt = make_belt(make_workspace(lock={"srv": accepted}), snapshot)
    (found,) = [one for one in belt.diagnostics if one.code is Code.TOOL_CHANGED]
    assert "mcp__srv__b" in found.message
    assert "mcp__srv__a" not in found.message
