"""Public bug reports of classes SA (sub-agents) and AD (allow and deny), and of the real packs' list."""

import itertools

import pytest

from packbelt.belt import Scope, admit, find_tools
from packbelt.model import AgentRefusedError, Call, State
from packbelt.testing import (
    agent,
    assert_belt,
    assert_reachable,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    path_of,
    policy,
    states,
)
from packbelt.turn import turn

SRV = make_snapshot({"srv": ["a", "b"]})


def test_sa02_every_form_of_a_list_reaches_the_live_server():
    people = [
        agent("orchestrator", delegates="*"),
        agent("wild", tools=["read", "srv/*"]),
        agent("by_server", mcp_servers=["srv"], tools=["*/*"]),
        agent("both", tools=["read", "srv/a"], mcp_servers=["srv"], inherit_mcp_servers=False),
        agent("only_denies", disallowed_tools=["bash"]),
    ]
    workspace = make_workspace(tools=["read", "bash"], agents=people, servers=["srv"])
    seen = {
        name: [str(tool.id) for tool in turn(workspace, SRV, path_of("orchestrator", name)).tools]
        for name in ("wild", "by_server", "both", "only_denies")
    }
    assert seen == {
        "wild": ["native:read", "server:srv/a", "server:srv/b"],
        "by_server": ["server:srv/a", "server:srv/b"],
        "both": ["native:read", "server:srv/a"],
        "only_denies": ["native:read", "server:srv/a", "server:srv/b"],
    }
    nothing = make_workspace(agents=[agent("orchestrator", tools=["nope/*"])])
    with pytest.raises(AgentRefusedError, match="nope"):
        turn(nothing, SRV, "orchestrator")


def test_sa04_a_childs_own_list_is_its_ceiling():
    people = [agent("orchestrator", delegates="*"), agent("explore", tools=["read", "grep"])]
    workspace = make_workspace(tools=["read", "grep", "edit", "bash"], agents=people)
    belt = make_belt(workspace, SRV, path_of("orchestrator", "explore"))
    assert_belt(belt, direct=["read", "grep"], not_callable=["edit", "bash", "srv/a"])
    assert not isinstance(admit(belt, "edit", {}), Call)


def test_sa06_an_own_server_is_there_however_the_agent_starts():
    people = [agent("orchestrator", delegates="*"), agent("probe", inline=["db"], inherit_mcp_servers=False)]
    workspace = make_workspace(agents=people)
    snapshot = make_snapshot({"probe.db": ["query"]})
    started = make_belt(workspace, snapshot, "probe")
    handed_to = make_belt(workspace, snapshot, path_of("orchestrator", "probe"))
    assert states(started) == states(handed_to)
    assert_belt(started, direct=["probe.db/query"])


def test_sa08_a_server_that_came_at_run_time_answers_to_selectors():
    people = [agent("orchestrator", tools=["read", "gh/search"])]
    workspace = make_workspace(tools=["read"], agents=people)
    belt = turn(workspace, make_snapshot({"gh": ["search", "delete"]}), "orchestrator").belt
    assert_belt(belt, direct=["gh/search"], not_callable=["gh/delete"])
    with pytest.raises(AgentRefusedError, match="no server is called 'gh'") as caught:
        turn(workspace, make_snapshot({"github": ["search"]}), "orchestrator")
    assert "github" in caught.value.reasons[0].mend


def test_sa11_a_list_of_servers_takes_no_hand_off():
    people = [agent("orchestrator", tools=[], delegates=["dev"], mcp_servers=["srv"]), agent("dev")]
    workspace = make_workspace(agents=people, servers=["srv"])
    assert [tool.name for tool in make_belt(workspace, SRV).tools] == ["delegate_to_dev"]


@pytest.mark.parametrize("mark", ["policy", "workspace", "snapshot", "spawn"])
def test_sa13_a_mark_for_approval_reaches_the_child(mark):
    people = [agent("orchestrator", delegates="*"), agent("child")]
    more = {
        "policy": {"policies": {"srv": policy(tools={"delete": {"approve": True}})}},
        "workspace": {"approve": ["srv/delete"]},
    }.get(mark, {})
    workspace = make_workspace(agents=people, **more)
    snapshot = make_snapshot({"srv": ["delete"]}, approve=["srv/del*"] if mark == "snapshot" else [])
    scope = Scope("orchestrator").spawn("child", approve=["srv/delete"] if mark == "spawn" else [])
    assert admit(make_belt(workspace, snapshot, scope), "mcp__srv__delete", {}).approve is True


def packs_with(direct):
    return [
        pack(
            "skills",
            ["run_skill", "setup_skills", "skill_registry_search", "skill_registry_install"],
            access="owners",
            owners=["skill_setup", "skill_executor"],
            direct=direct,
        )
    ]


FLEET = [
    agent("orchestrator", tools=["*"], delegates="*"),
    agent("skill_setup", handoff="setup_skills", tools=["pack:skills"]),
    agent("skill_executor", handoff="run_skill", tools=["pack:skills"]),
]


def test_sa16_and_bug01_hand_offs_are_on_the_belt_and_the_raw_tools_closed_on_every_route():
    raw = ["skill_registry_search", "skill_registry_install"]
    workspace = make_workspace(tools=raw, packs=packs_with(["run_skill", "setup_skills"]), agents=FLEET)
    belt = make_belt(workspace)
    assert_belt(belt, direct=["run_skill", "setup_skills"], not_callable=raw)
    assert_reachable(belt, *raw, via="handoff", through="skill_setup")
    for name in raw:
        assert not isinstance(admit(belt, "use_pack", {"pack": "skills", "tool": name}), Call)
    assert not find_tools(belt, "skill registry search")
    assert_belt(make_belt(workspace, None, "skill_setup"), direct=raw)
    before = make_belt(make_workspace(tools=raw, packs=packs_with([]), agents=FLEET))
    assert_belt(before, packed=["run_skill", "setup_skills"], not_callable=raw)


def test_ad01_an_empty_list_is_not_an_absent_one():
    for tools, count in (([], 0), (None, 2)):
        workspace = make_workspace(agents=[agent("orchestrator", tools=tools)])
        assert len(make_belt(workspace, SRV).tools) == count


@pytest.mark.parametrize(
    "deny", [["context7/*"], ["context7/docs", "context7/ids"], ["*/*"], ["pack:mcp:context7"]]
)
def test_ad03_a_deny_binds_servers_tools_in_every_spelling(deny):
    snapshot = make_snapshot({"context7": ["docs", "ids"]})
    belt = make_belt(make_workspace(tools=["read"], deny=deny), snapshot)
    assert_belt(belt, not_callable=["context7/docs", "context7/ids"], direct=["read"])


def test_ad04_a_whole_server_is_granted_with_its_star_and_the_bare_name_is_refused_with_the_mend():
    people = [agent("orchestrator", tools=["srv/*"])]
    snapshot = make_snapshot({"srv": ["a", "b"], "srv2": ["a"]})
    assert_belt(
        make_belt(make_workspace(agents=people), snapshot),
        direct=["srv/a", "srv/b"],
        not_callable=["srv2/a"],
    )
    bare = make_workspace(agents=[agent("orchestrator", tools=["srv"])])
    with pytest.raises(AgentRefusedError) as caught:
        turn(bare, snapshot, "orchestrator")
    assert "srv/*" in caught.value.reasons[0].mend


@pytest.mark.parametrize("deny", list(itertools.permutations(["srv/a", "*/b", "srv/c*"])))
def test_ad06_a_deny_is_terminal_whatever_the_order_or_level(deny):
    """Spread over the four levels in every order, with grants and approvals as wide as can be."""
    snapshot = make_snapshot({"srv": ["a", "b", "c1", "d"]}, deny=[deny[0]], approve=["*"])
    people = [agent("orchestrator", tools=["srv/a", "srv/b", "*", "*/*"], disallowed_tools=[deny[1]])]
    workspace = make_workspace(agents=people, approve=["*/*", "*"], deny=[deny[2]])
    belt = make_belt(workspace, snapshot)
    assert_belt(belt, not_callable=["srv/a", "srv/b", "srv/c1"], direct=["srv/d"])
    assert {str(belt[name].state) for name in belt if name != "mcp__srv__d"} == {"denied"}


def test_ad08_one_gate_for_every_spelling():
    snapshot = make_snapshot({"my srv": ["danger", "fine"]})
    packed = {"*": policy(exposure="packed")}
    for policies in ({}, packed):
        belt = make_belt(make_workspace(deny=["my srv/danger"], policies=policies), snapshot)
        wire = belt.find("my srv/danger").tool.wire_name
        for name in (wire, "my srv/danger", "danger", "mcp__my_srv__danger"):
            assert not isinstance(admit(belt, name, {}), Call)
            inner = {"pack": "mcp:my srv", "tool": name}
            assert not isinstance(admit(belt, "use_pack", inner), Call)
        assert wire not in {tool.wire_name for tool in belt.tools}
        assert not find_tools(belt, "danger")


def test_ad11_policies_go_by_the_servers_name_as_it_is():
    policies = {"my.server": policy(exposure="direct", permission="read")}
    workspace = make_workspace(servers=["my.server", "my_server"], policies=policies, ceiling="read")
    belt = make_belt(workspace, make_snapshot({"my.server": ["x"], "my_server": ["x"]}))
    assert_belt(belt, direct=["my.server/x"], not_callable=["my_server/x"])


def test_ad12_an_exact_entry_that_the_server_no_longer_has_is_refused_with_the_real_names():
    people = [agent("orchestrator", tools=["ctx/get-library-docs", "ctx/resolve-id"])]
    with pytest.raises(AgentRefusedError, match="has no tool 'get-library-docs'") as caught:
        turn(
            make_workspace(agents=people),
            make_snapshot({"ctx": ["query-docs", "resolve-id"]}),
            "orchestrator",
        )
    assert "docs" in caught.value.reasons[0].mend


def test_ad14_what_a_parent_is_bound_by_binds_its_descendants():
    """By workspace, snapshot and spawn; the case would bind by the parent's own list too, which the design
    keeps to the parent (`disallowed_tools` shape an agent's own belt), while its ceiling binds all below.
    """
    tools = [native("read", permission="read"), native("edit", permission="write")]
    people = [
        agent("orchestrator", delegates="*"),
        agent("reader", ceiling="read", delegates="*"),
        agent("writer", tools=["read", "edit"], ceiling="execute"),
    ]
    workspace = make_workspace(tools=tools, agents=people)
    for scope in (
        path_of("orchestrator", "reader", "writer"),
        Scope("orchestrator").spawn("reader", deny=["edit"]).spawn("writer"),
        Scope("orchestrator", deny=("edit",)).spawn("writer"),
    ):
        assert_belt(make_belt(workspace, None, scope), direct=["read"], not_callable=["edit"])
    assert_belt(make_belt(workspace, None, path_of("orchestrator", "writer")), direct=["read", "edit"])


def test_ad21_the_inner_name_of_the_opener_passes_the_gate():
    people = [agent("orchestrator", tools=["a/*"])]
    workspace = make_workspace(agents=people, policies={"*": policy(exposure="packed")})
    belt = make_belt(workspace, make_snapshot({"a": ["x"], "b": ["x"]}))
    assert isinstance(admit(belt, "use_pack", {"pack": "mcp:a", "tool": "x"}), Call)
    for inner in ({"pack": "mcp:b", "tool": "x"}, {"pack": "mcp:a", "tool": "mcp__b__x"}):
        assert admit(belt, "use_pack", inner).kind == "off_belt"


def test_ad23_a_bad_entry_closes_the_start_and_the_other_denies_hold():
    people = [agent("orchestrator", disallowed_tools=["read", "plugin:x:y"])]
    workspace = make_workspace(tools=["read", "write"], agents=people)
    with pytest.raises(AgentRefusedError, match="plugin:x:y"):
        turn(workspace, None, "orchestrator")
    assert make_belt(workspace)["read"].state is State.DENIED


def test_ad25_a_filter_that_is_accepted_has_an_effect():
    snapshot = make_snapshot({"weather": [f"tool_{i}" for i in range(9)] + ["get_weather"]})
    filtered = make_workspace(agents=[agent("orchestrator", tools=["weather/get_weather"])])
    assert [tool.name for tool in make_belt(filtered, snapshot).tools] == ["get_weather"]
    assert len(make_belt(make_workspace(), snapshot).tools) == 10


def test_bug10_a_hand_off_to_an_agent_that_left_no_longer_resolves():
    with_helper = make_workspace(agents=[agent("orchestrator", delegates="*"), agent("helper")])
    without = make_workspace(agents=[agent("orchestrator", delegates="*")])
    assert admit(make_belt(with_helper), "delegate_to_helper", {"request": "x"}).agent == "helper"
    assert admit(make_belt(without), "delegate_to_helper", {"request": "x"}).kind == "unknown"


def test_bug14_the_rule_reads_the_pack_and_not_what_is_visible():
    """The hand-off is packed, off or denied: the raw tools stay closed."""
    raw = ["skill_registry_search"]
    packs = packs_with([])
    for more in ({}, {"deny": ["run_skill", "setup_skills"]}):
        belt = make_belt(make_workspace(tools=raw, packs=packs, agents=FLEET, **more))
        assert belt["skill_registry_search"].state is State.RESERVED


def test_bug15_a_closed_tool_names_the_hand_off_that_is_over_the_ceiling():
    raw = ["skill_registry_search"]
    workspace = make_workspace(tools=raw, packs=packs_with(["run_skill"]), agents=FLEET, ceiling="read")
    decision = make_belt(workspace)["skill_registry_search"].decision
    assert decision.state is State.RESERVED
    assert ["needs execute" in cut.detail for cut in decision.cuts] == [True, True]


def test_bug16_a_call_that_is_refused_is_not_put_to_a_person_first():
    tools = [native("write", permission="dangerous", approve=True)]
    belt = make_belt(make_workspace(tools=tools, packs=[pack("p", ["write"])]))
    assert admit(belt, "write", {}).kind == "over_ceiling"


def test_bug26_an_empty_list_means_nothing_and_an_agent_keeps_its_size():
    tools = [f"tool_{i}" for i in range(109)]
    people = [agent("orchestrator"), agent("summarizer", tools=[])]
    assert make_belt(make_workspace(tools=tools, agents=people), None, "summarizer").tools == ()


def test_bug28_carrying_a_pack_leaves_it_open_to_the_others_and_is_no_way_to_it():
    packs = [
        pack("workflows", ["propose", "run"], access="handoff", owners=["builder"], carriers=["executor"])
    ]
    people = [agent("orchestrator", delegates=["executor"]), agent("builder"), agent("executor")]
    workspace = make_workspace(tools=["propose", "run"], packs=packs, agents=people)
    assert_belt(make_belt(workspace), packed=["propose", "run"])
    assert_belt(make_belt(workspace, None, "executor"), direct=["propose", "run"])


def test_bug30_a_member_with_no_tool_behind_it_costs_only_itself():
    packs = [pack("wallet", ["wallet_gone", "balance"])]
    belt = make_belt(make_workspace(tools=["balance"], packs=packs))
    assert_belt(belt, packed=["balance"])
    assert "wallet_gone" not in admit(belt, "use_pack", {"pack": "wallet"}).answer


def test_bug33_the_order_in_which_a_server_answers_changes_nothing():
    one = make_belt(make_workspace(), make_snapshot({"s": ["b", "a", "c"]}))
    other = make_belt(make_workspace(), make_snapshot({"s": ["c", "b", "a"]}))
    assert [tool.line for tool in one.tools] == [tool.line for tool in other.tools]
