"""The assertions that ship for users' own tests: they pass on what is, and say why on what is not."""

import pytest

from packbelt.testing import (
    agent,
    assert_belt,
    assert_reachable,
    make_belt,
    make_snapshot,
    make_workspace,
    pack,
    policy,
)
from packbelt.turn import turn

WORKSPACE = make_workspace(
    tools=["x", "y", "z"],
    packs=[
        pack("p", ["y"]),
        pack("q", ["z"], access="owners", owners=["boss"]),
    ],
    agents=[agent("orchestrator", tools=["*"], delegates="*"), agent("boss", tools=["*"])],
    policies={"*": policy(exposure="deferred")},
)
SNAPSHOT = make_snapshot({"s": ["t"]})


def test_they_pass_on_turns_and_belts():
    now = turn(WORKSPACE, SNAPSHOT, "orchestrator")
    for asked in (now, now.belt):
        assert_belt(asked, direct=["x", "use_pack"], packed=["y"], deferred=["s/t"], not_callable=["z"])
        assert_reachable(asked, "x", "y", "z", "s/t")
        assert_reachable(asked, "z", via="handoff", through="boss")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"direct": ["y"]}, "y should be direct, and is packed:\n    because exposure of pack 'p' is packed"),
        (
            {"packed": ["z"]},
            "z should be packed, and is reserved:\n    because it is kept for boss (pack 'q', access: owners)",
        ),
        ({"not_callable": ["x"]}, "x should not be callable, and is direct"),
        ({"not_callable": ["nope"]}, "nope should exist and not be callable, and there is no such tool"),
        ({"deferred": "x"}, "x should be deferred, and is direct"),
    ],
)
def test_a_wrong_belt_is_explained(wanted, said):
    with pytest.raises(AssertionError) as caught:
        assert_belt(make_belt(WORKSPACE, SNAPSHOT), **wanted)
    assert "the belt of 'orchestrator' is not as it should be" in str(caught.value)
    assert said in str(caught.value)


def test_every_wrong_tool_is_named_at_once():
    with pytest.raises(AssertionError) as caught:
        assert_belt(make_belt(WORKSPACE, SNAPSHOT), direct=["y", "z"], packed=["x"])
    assert [name for name in "xyz" if f"\n  {name} should be" in str(caught.value)] == ["x", "y", "z"]


def test_a_missing_way_is_explained():
    cut = make_belt(WORKSPACE, make_snapshot(disabled_agents=["boss"]))
    with pytest.raises(AssertionError) as caught:
        assert_reachable(cut, "z")
    assert "z should be reachable, and is reserved" in str(caught.value)
    assert "cut: hand-off 'delegate_to_boss' is unavailable: agent 'boss' is disabled" in str(caught.value)
    with pytest.raises(AssertionError, match="x should be reachable by handoff"):
        assert_reachable(make_belt(WORKSPACE), "x", via="handoff")


def test_a_name_of_several_tools_must_say_which():
    two = make_snapshot({"s": ["t"], "r": ["t"]})
    with pytest.raises(AssertionError, match="'t' is the name of several tools"):
        assert_belt(make_belt(WORKSPACE, two), deferred=["t"])
