"""What a live host lacks is unavailable in every form at once: belt, gate, sections, index, hints, routes."""

import pytest

from packbelt.belt import FIND_TOOLS, decide, hint_for, index_lines, listing
from packbelt.belt.scope import Scope
from packbelt.catalog.registry import Runtime, bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Call, HandOff, Refusal, Rule, State
from packbelt.testing import agent, make_workspace, native, pack
from packbelt.turn import AgentHandle, next_turn, turn

NATIVES = ["read_file", "write_file", "kept_tool", "packed_tool", "other_packed", "searched"]
WORKSPACE = make_workspace(
    tools=[native(name, f"Does {name}.") for name in NATIVES],
    packs=[
        pack("kept", ["kept_tool"], access="owners", owners=["boss"]),
        pack("box", ["packed_tool", "other_packed"], summary="The box."),
        pack("help", ["ask_helper"], summary="Unseen."),
        pack("deep", ["searched"], exposure="deferred"),
    ],
    agents=[
        agent("orchestrator", delegates="*"),
        agent("boss", handoff="ask_boss", tools=["*"], delegates=["helper"]),
        agent("helper", handoff="ask_helper", tools=["write_file"]),
    ],
)
EVERYTHING = Runtime(frozenset(NATIVES), runner=True)
NO_RUNNER = Runtime(frozenset(NATIVES), runner=False)
SOME = Runtime(frozenset({"read_file", "packed_tool"}), runner=True)
NOTHING = Runtime(frozenset(), runner=False)


def said(now):
    return "\n".join(now.sections.values())


def test_with_everything_a_live_belt_is_the_one_that_the_files_give():
    live, static = (turn(WORKSPACE, None, "orchestrator", runtime=r) for r in (EVERYTHING, None))
    assert {n: live.belt[n].decision for n in live.belt} == {n: static.belt[n].decision for n in static.belt}
    assert live.digest == static.digest


def test_the_same_three_give_the_same_registry_however_they_are_said():
    snapshot = Snapshot()
    assert (
        bind(WORKSPACE, snapshot)
        is bind(WORKSPACE, snapshot, None)
        is bind(WORKSPACE, snapshot, runtime=None)
    )
    assert bind(WORKSPACE, snapshot, NO_RUNNER) is not bind(WORKSPACE, snapshot)


def test_without_a_runner_no_hand_off_is_there_in_any_form():
    now = turn(WORKSPACE, None, "orchestrator", runtime=NO_RUNNER)
    before = turn(WORKSPACE, None, "orchestrator", runtime=EVERYTHING)
    assert "ask_boss" in said(before)
    assert "help: hands off by ask_helper" in index_lines(before.belt)
    for name in ("ask_boss", "ask_helper"):
        assert now.belt[name].state is State.UNAVAILABLE
        assert [reason.rule for reason in now.belt[name].decision.reasons] == [Rule.NO_RUNNER]
        assert now.belt[name].decision.routes == ()
        assert name not in said(now)
        assert name not in "".join(tool.line for tool in now.tools)
        assert name not in "\n".join(index_lines(now.belt))
        refusal = now.resolve(name, {"request": "do it"})
        assert isinstance(refusal, Refusal)
        assert refusal.hint.kind == "unavailable"
    assert isinstance(before.resolve("ask_boss", {"request": "do it"}), HandOff)
    inner = {"pack": "help", "tool": "ask_helper", "arguments": {"request": "do it"}}
    assert isinstance(before.resolve("use_pack", inner), HandOff)
    assert isinstance(now.resolve("use_pack", inner), Refusal)


@pytest.mark.parametrize("name", ["kept_tool", "kept_tol", "ask_boss", "ask_bos", "use_pack", "nonsense"])
@pytest.mark.parametrize("pack_id", [None, "kept", "help", "nope"])
def test_without_a_runner_no_hint_proposes_one(name, pack_id):
    belt = turn(WORKSPACE, None, "orchestrator", runtime=NO_RUNNER).belt
    told = hint_for(belt, name, pack_id)
    proposed = [(offer.tool, offer.arguments.get("tool")) for offer in told.suggestions]
    assert not [one for one in proposed if {"ask_boss", "ask_helper"} & set(one)]
    assert "Call ask_" not in told.text
    assert "Instead: ask_" not in told.text


def test_a_reserved_tool_names_the_missing_runner_as_what_cuts_its_way():
    with_one = turn(WORKSPACE, None, "orchestrator", runtime=EVERYTHING).belt["kept_tool"].decision
    assert [route.call for route in with_one.routes] == ["ask_boss"]
    without = turn(WORKSPACE, None, "orchestrator", runtime=NO_RUNNER).belt["kept_tool"].decision
    assert without.state is State.RESERVED
    assert without.routes == ()
    assert [cut.rule for cut in without.cuts] == [Rule.NO_RUNNER]


def test_a_native_tool_without_a_handler_is_there_in_no_form():
    now = turn(WORKSPACE, None, "orchestrator", runtime=SOME)
    states = {name: now.belt[name].state for name in NATIVES if name != "kept_tool"}
    assert states == {
        "read_file": State.DIRECT,
        "packed_tool": State.PACKED,
        "write_file": State.UNAVAILABLE,
        "other_packed": State.UNAVAILABLE,
        "searched": State.UNAVAILABLE,
    }
    assert [r.rule for r in now.belt["write_file"].decision.reasons] == [Rule.NO_HANDLER]
    assert "other_packed" not in listing(now.belt, "box")
    assert "packed_tool" in listing(now.belt, "box")
    assert now.belt.finder is None
    assert isinstance(now.resolve("read_file", {}), Call)
    assert now.resolve("write_file", {}).hint.kind == "unavailable"
    inner = {"pack": "box", "tool": "other_packed"}
    assert now.resolve("use_pack", inner).hint.kind == "unavailable"
    assert now.belt["write_file"].decision.routes == ()
    helper = turn(WORKSPACE, None, Scope("orchestrator").spawn("helper"), runtime=SOME)
    assert helper.tools == ()


def test_no_pack_is_listed_whose_tools_have_no_handler():
    now = turn(WORKSPACE, None, "orchestrator", runtime=NOTHING)
    assert now.tools == ()
    assert now.belt.opener is None
    assert said(now) == ""


def test_the_opener_and_the_search_need_no_handler():
    handled = Runtime(frozenset({"packed_tool", "searched"}), runner=False)
    now = turn(WORKSPACE, None, "orchestrator", runtime=handled)
    for name, arguments in (("use_pack", {"pack": "box"}), (FIND_TOOLS, {"query": "searched"})):
        assert now.belt[name].state is State.DIRECT
        assert now.resolve(name, arguments).answer


def test_a_handle_and_a_later_turn_are_decided_with_what_the_host_brings():
    handle = AgentHandle(WORKSPACE, "orchestrator", runtime=NO_RUNNER)
    assert handle.turn().belt["ask_boss"].state is State.UNAVAILABLE
    assert isinstance(handle.resolve("ask_boss", {"request": "do it"}), Refusal)
    later = handle.turn(Snapshot(disabled_agents=("boss",)))
    assert later.belt["ask_helper"].state is State.UNAVAILABLE
    snapshot = Snapshot()
    again = next_turn(WORKSPACE, snapshot, Scope("orchestrator"), NO_RUNNER)
    assert again.belt["ask_boss"].state is State.UNAVAILABLE
    handle.reload(WORKSPACE, EVERYTHING)
    assert handle.turn(snapshot).belt["ask_boss"].state is State.DIRECT
    handle.reload(WORKSPACE)
    assert handle.turn(snapshot).belt["ask_boss"].state is State.DIRECT


def test_one_tools_decision_is_asked_with_what_the_host_brings():
    found = decide(WORKSPACE, Snapshot(), Scope("orchestrator"), "ask_boss", NO_RUNNER)
    assert found.state is State.UNAVAILABLE
