"""Wire names, a pure function of identities; and the bug cases on names (NM)."""

import re

import pytest

from packbelt.belt import admit, decide, hint_for
from packbelt.belt.scope import Scope
from packbelt.model import Call, HintClass, State, ToolId
from packbelt.model.wire import LIMIT, plain_name_problem, server_wire_name
from packbelt.testing import agent, assert_belt, make_belt, make_snapshot, make_workspace, pack, states

WIRE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
HASHED = re.compile(r"_[0-9a-f]{8}\Z")


@pytest.mark.parametrize("pair", [("github", "search"), ("my-srv", "get-item"), ("a_b", "c_d"), ("S", "7")])
def test_parts_that_fit_are_joined_as_they_are(pair):
    assert server_wire_name(*pair) == (f"mcp__{pair[0]}__{pair[1]}", False)


@pytest.mark.parametrize(
    "pair",
    [
        ("my.server", "x"),
        ("s", "get item"),
        ("Ünï", "x"),
        ("a__b", "c"),
        ("a", "b__c"),
        ("_a", "b"),
        ("a_", "b"),
        ("a", "_b"),
        ("a", "b_"),
        ("a", "end_deadbeef"),
        ("a/b", "c"),
        ("s" * 200, "t"),
        ("s", "t" * 200),
        ("agent.db", "x"),
    ],
)
def test_whatever_had_to_be_changed_ends_in_the_hash_of_its_identity(pair):
    from hashlib import sha256

    name, altered = server_wire_name(*pair)
    digest = sha256("\0".join(pair).encode()).hexdigest()[:8]
    joined = re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp__{pair[0]}__{pair[1]}")
    assert altered
    assert name == f"{joined[:55]}_{digest}"
    assert WIRE.match(name)


def test_exactly_64_letters_fit_and_65_do_not():
    fits = "t" * (LIMIT - len("mcp__s__"))
    assert server_wire_name("s", fits) == (f"mcp__s__{fits}", False)
    longer, altered = server_wire_name("s", fits + "t")
    assert altered
    assert len(longer) == LIMIT


def test_no_newcomer_renames_another():
    alone = set(states(make_belt(make_workspace(), make_snapshot({"a": ["b__c", "x.y"]}))))
    more = make_snapshot({"a__b": ["c"], "a": ["b__c", "x.y", "x_y"], "a.b": ["c"]})
    assert alone <= set(states(make_belt(make_workspace(), more)))


def test_a_denied_tool_keeps_its_name_and_so_do_the_others():
    snapshot = make_snapshot({"s": ["a.b", "a_b"]})
    plain = make_belt(make_workspace(), snapshot)
    assert set(states(plain)) == set(states(make_belt(make_workspace(deny=["s/a.b"]), snapshot)))


@pytest.mark.parametrize(
    ("name", "fine"), [("a", True), ("A-b_9", True), ("a" * 64, True), ("a" * 65, False), ("", False)]
)
def test_names_of_native_tools_and_hand_offs(name, fine):
    assert (plain_name_problem(name) == "") is fine


@pytest.mark.parametrize("name", ["mcp__x", "mcp__github__search", "a b", "ä", "a.b"])
def test_names_that_no_native_tool_may_have(name):
    assert plain_name_problem(name)


def test_server_tools_that_still_clash_are_unavailable_and_only_they():
    """Two names of one server whose first 55 letters and whose digests agree (found by search)."""
    first, second = CLASH
    belt = make_belt(make_workspace(), make_snapshot({"s": [first, second, "fine"]}))
    assert server_wire_name("s", first)[0] == server_wire_name("s", second)[0]
    for name in CLASH:
        decision = decide(
            make_workspace(), belt.registry.snapshot, Scope("orchestrator"), ToolId("server:s", name)
        )
        assert decision.state is State.UNAVAILABLE
        assert [reason.rule for reason in decision.reasons] == ["wire.clash"]
    assert_belt(belt, direct=["s/fine"])
    assert [d.code for d in belt.diagnostics if d.level == "error"] == ["wire.clash", "wire.clash"]
    assert len(belt) == len(list(belt))


CLASH = (f"{'t' * 60} 78388", f"{'t' * 60} 94638")


def test_nm01_a_wire_name_is_looked_up_and_never_split():
    snapshot = make_snapshot({"db": ["execute_sql"], "my_db": ["execute_sql"], "my": ["db__execute_sql"]})
    belt = make_belt(make_workspace(), snapshot)
    for server in ("db", "my_db"):
        assert admit(belt, f"mcp__{server}__execute_sql", {}).tool.id == ToolId(
            f"server:{server}", "execute_sql"
        )
    assert not isinstance(admit(belt, "mcp_my_db_execute_sql", {}), Call)


def test_nm03_names_that_sanitise_alike_both_stay():
    belt = make_belt(make_workspace(), make_snapshot({"s": ["search-a", "search_a", "search.a", "search a"]}))
    assert len(set(belt)) == 4
    assert {admit(belt, name, {}).tool.name for name in belt} == {
        "search-a",
        "search_a",
        "search.a",
        "search a",
    }


def test_nm04_two_servers_with_one_tool_name_both_run_their_own():
    belt = make_belt(make_workspace(), make_snapshot({"a": ["send_email"], "b": ["send_email"]}))
    ran = [admit(belt, f"mcp__{server}__send_email", {}).tool.id.server for server in "ab"]
    assert ran == ["a", "b"]


def test_nm06_a_name_over_the_limit_is_shortened_and_maps_back():
    server, tool = "s" * 45, "t" * 30
    belt = make_belt(make_workspace(), make_snapshot({server: [tool, "x"], "other": ["y"]}))
    assert all(len(name) <= 64 for name in belt)
    long = next(name for name in belt if HASHED.search(name))
    assert admit(belt, long, {}).tool.id == ToolId(f"server:{server}", tool)
    assert_belt(belt, direct=["other/y", f"{server}/x"])


def test_nm09_the_limit_holds_for_the_whole_name():
    belt = make_belt(make_workspace(), make_snapshot({"mounted": ["t" * 56]}))
    assert [len(name) for name in belt] == [64]


def test_nm12_packs_go_by_the_name_of_the_server_and_not_by_a_prefix():
    belt = make_belt(make_workspace(), make_snapshot({"my-srv": ["a", "b", "c", "d"], "my_srv": ["e"]}))
    grouped = [belt[name].pack for name in belt]
    assert grouped.count("mcp:my-srv") == 4
    assert grouped.count("mcp:my_srv") == 1


def test_nm14_a_bad_name_costs_no_other():
    belt = make_belt(make_workspace(), make_snapshot({"s": ["a", "bad name", "b"]}))
    assert_belt(belt, direct=["s/a", "s/bad name", "s/b"])
    notes = [d for d in belt.diagnostics if d.code == "wire.altered"]
    assert len(notes) == 1
    assert "'bad name'" in notes[0].message


def test_nm17_a_native_tool_with_mcp_in_its_name_is_no_servers_tool():
    workspace = make_workspace(
        tools=["get_mcp_status", "list_mcp__x"], agents=[agent("orchestrator", tools=["*"])]
    )
    before = make_belt(workspace, make_snapshot({"mcp": ["status"]}))
    after = make_belt(workspace, make_snapshot())
    assert_belt(before, direct=["get_mcp_status", "list_mcp__x", "mcp/status"])
    assert_belt(after, direct=["get_mcp_status", "list_mcp__x"])
    denied = make_belt(make_workspace(tools=["get_mcp_status"], deny=["*/*"]), make_snapshot({"mcp": ["x"]}))
    assert_belt(denied, direct=["get_mcp_status"], not_callable=["mcp/x"])


def test_nm18_a_foreign_prefix_is_never_stripped():
    workspace = make_workspace(policies={})
    belt = make_belt(workspace, make_snapshot({"a": ["list", "big"], "b": ["list"]}))
    packed = make_belt(make_workspace(packs=[pack("p")]), make_snapshot({"a": ["list"]}))
    for name in ("b-list", "b__list", "mcp__a__b-list", "mcp__c__list"):
        assert not isinstance(admit(belt, name, {}), Call)
        assert not isinstance(admit(packed, "use_pack", {"pack": "mcp:a", "tool": name}), Call)
        assert hint_for(belt, name).kind in (HintClass.UNKNOWN, HintClass.AMBIGUOUS)
