"""The self-checks hold on a sound engine, and each finds the fault that is put into it."""

import pytest

from packbelt.belt import gate, offers
from packbelt.belt.belt import Belt
from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, State, Suggestion


@pytest.fixture
def fleet(build, agent):
    return build(
        {
            "packbelt.yaml": 'servers: {"*": {access: handoff, owners: [keeper]}}\n',
            "packs/vault.yaml": (
                "id: vault\naccess: owners\nowners: [keeper]\ndirect: [delegate_to_keeper]\n"
                "tools: [delegate_to_keeper, {name: open_vault}]\n"
            ),
            "packs/dev.yaml": "id: dev\nguide: |\n  lint: read this first.\ntools: [{name: lint}, {name: shell}]\n",
            "packs/far.yaml": "id: far\nexposure: deferred\ntools: [{name: far_call}]\n",
            "prompts/agents/orchestrator.md": agent(
                'tools: ["*"]\ndisallowed_tools: [shell]\ndelegates: "*"'
            ),
            "prompts/agents/keeper.md": agent('tools: ["pack:vault", "*/*"]'),
        }
    )


@pytest.fixture
def snapshot():
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in ("search", "delete all")]
    return Snapshot().connect("github", listed)


def test_the_laws_hold(fleet, snapshot, find):
    assert find(fleet, Code.LAW_BROKEN, snapshot) == []
    assert find(fleet, Code.LAW_BROKEN) == []


def test_the_laws_hold_where_a_listing_is_too_long_for_all_schemas(fleet, find):
    schema = {"type": "object"}
    listed = [
        {"name": f"tool_{n:03}", "description": "word " * 60, "inputSchema": schema} for n in range(200)
    ]
    assert find(fleet, Code.LAW_BROKEN, Snapshot().connect("big", listed)) == []


def test_a_listing_that_shows_what_is_denied_breaks_law_1(fleet, find, monkeypatch):
    monkeypatch.setattr(
        gate, "listing", lambda belt, pack, *_: "\n\n".join(belt.registry.workspace.packs[pack].members)
    )
    (found,) = find(fleet, Code.LAW_BROKEN)
    assert found.level is Level.ERROR
    assert "law 1" in found.message
    assert "'shell'" in found.message


def test_a_listing_that_leaves_a_packed_tool_out_breaks_law_1(fleet, find, monkeypatch):
    monkeypatch.setattr(gate, "listing", lambda *_: "nothing here")
    (found,) = find(fleet, Code.LAW_BROKEN)
    assert "'lint'" in found.message


def test_a_gate_that_lets_a_denied_tool_through_breaks_law_1(fleet, find, monkeypatch):
    state = Belt.state

    def lenient(belt, i):
        found = state(belt, i)
        return State.PACKED if found is State.DENIED and belt._asked_by_gate else found

    call = gate._call

    def asked(belt, *rest):
        belt._asked_by_gate = True
        try:
            return call(belt, *rest)
        finally:
            belt._asked_by_gate = False

    monkeypatch.setattr(Belt, "_asked_by_gate", False, raising=False)
    monkeypatch.setattr(Belt, "state", lenient)
    monkeypatch.setattr(gate, "_call", asked)
    messages = [found.message for found in find(fleet, Code.LAW_BROKEN)]
    assert any("the gate and the decision disagree on 'shell'" in message for message in messages)


def test_sending_a_packed_schema_breaks_law_1(fleet, find, monkeypatch):
    everything = property(lambda belt: tuple(belt.registry.tools))
    monkeypatch.setattr(Belt, "tools", everything)
    assert any("what is sent" in found.message for found in find(fleet, Code.LAW_BROKEN))


def test_a_reserved_tool_without_route_and_cut_breaks_law_3(build, find, agent, monkeypatch):
    workspace = build(
        {
            "packs/vault.yaml": "id: vault\naccess: owners\nowners: [keeper]\ntools: [{name: open_vault}]\n",
            "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: []'),
            "prompts/agents/keeper.md": agent('tools: ["pack:vault"]'),
        }
    )
    assert find(workspace, Code.LAW_BROKEN) == []
    monkeypatch.setattr("packbelt.belt.belt.cuts_of", lambda _, __: ())
    (found,) = find(workspace, Code.LAW_BROKEN)
    assert "law 3" in found.message


def test_a_hint_that_proposes_a_refused_call_breaks_law_5(fleet, find, monkeypatch):
    monkeypatch.setattr(offers.Offers, "verified", lambda _, __: (Suggestion("open_vault", {}),))
    messages = {found.message for found in find(fleet, Code.LAW_BROKEN)}
    assert any("law 5" in message and "'open_vault', which is refused" in message for message in messages)
