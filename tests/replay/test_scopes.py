"""The four scopes of the report's fix. Each assertion holds on the shipped workspace, and fails when just that one
change is reverted by a mutation.
"""

import re
from dataclasses import replace

import pytest

from packbelt.belt import gate
from packbelt.checks import run
from packbelt.model import Code, HandOff, HintClass, Level, Permission, Refusal, State
from packbelt.turn import turn

FOUR = {
    "use_mcp_server": ("integrations", "mcp_agent"),
    "setup_mcp_server": ("integrations", "mcp_setup"),
    "setup_skills": ("skills", "skill_setup"),
    "run_skill": ("skills", "skill_executor"),
}
PACKS = ("integrations", "skills")
PERMISSION = re.compile(r"permission|not allowed|denied|forbidden|not yours|refused|session", re.IGNORECASE)


def again_packed(text):
    return re.sub(r"(?m)^direct: \[.*\]$", "direct: []", text)


def opened(text):
    return re.sub(r"(?m)^access: owners$", "access: open", text)


def in_both(edit):
    return {f"packs/{pack}.yaml": edit for pack in PACKS}


def raw(workspace):
    return [name for pack in PACKS for name in workspace.packs[pack].members if "registry" in name]


# 1: the four are on the belt, every other packed family stays packed -----------------------------------------


def assert_four_on_the_belt(workspace, now):
    orchestrator = turn(workspace, now, "orchestrator")
    sent = {tool.name for tool in orchestrator.tools}
    assert FOUR.keys() <= sent
    for name, (_, agent) in FOUR.items():
        resolved = orchestrator.resolve(name, {"request": "Do it."})
        assert isinstance(resolved, HandOff)
        assert resolved.agent == agent
    assert not [found for found in run(workspace, now) if found.code is Code.RESERVED_HANDOFF_PACKED]
    for pack in workspace.packs.values():
        if pack.id != "core":
            assert not sent & (set(pack.members) - FOUR.keys())
        if pack.id not in ("core", *PACKS):
            states = {orchestrator.belt[name].state for name in pack.members}
            assert states == {State.PACKED}


def test_the_four_hand_offs_are_on_the_belt_and_the_rest_stays_packed(embedded, now):
    assert_four_on_the_belt(embedded, now)


def test_packing_the_hand_offs_again_is_noticed(edited, now):
    workspace = edited(in_both(again_packed))
    with pytest.raises(AssertionError):
        assert_four_on_the_belt(workspace, now)


def test_unpacking_another_family_is_noticed(edited, now):
    workspace = edited(
        {"packs/files.yaml": lambda text: text.replace("exposure: packed", "exposure: direct")}
    )
    with pytest.raises(AssertionError):
        assert_four_on_the_belt(workspace, now)


# 2: the raw tools are the owners' and the carriers', by every path --------------------------------------------


def assert_raw_tools_closed(workspace, now):
    names = raw(workspace)
    assert len(names) == 16  # 11 of the MCP registry, 5 of the skill registries
    for agent in workspace.agents:
        belt = turn(workspace, now, agent).belt
        for name in names:
            pack = workspace.packs[belt[name].pack]
            state = belt[name].state
            if agent in (*pack.owners, *pack.carriers):
                assert state is State.DIRECT
            else:
                assert not state.callable
    orchestrator = turn(workspace, now, "orchestrator")
    for name in names:
        pack = orchestrator.belt[name].pack
        assert orchestrator.belt[name].state is State.RESERVED
        for call in ((name, {}), ("use_pack", {"pack": pack, "tool": name, "arguments": {}})):
            refused = orchestrator.resolve(*call)
            assert isinstance(refused, Refusal)
            assert refused.hint.kind is HintClass.RESERVED
            offered = {offer.tool for offer in refused.hint.suggestions}
            assert offered & {four for four, (home, _) in FOUR.items() if home == pack}
    listing = orchestrator.resolve("use_pack", {"pack": "skills"})
    assert not [name for name in names if name in listing.answer]


def test_the_raw_tools_are_their_owners_alone(embedded, now):
    assert_raw_tools_closed(embedded, now)


@pytest.mark.parametrize("pack", PACKS)
def test_opening_the_raw_tools_of_either_pack_is_noticed(edited, now, pack):
    workspace = edited({f"packs/{pack}.yaml": opened})
    with pytest.raises(AssertionError):
        assert_raw_tools_closed(workspace, now)


# 3: the sections say what the belt says, whatever the belt says -----------------------------------------------


def assert_sections_true(workspace, now):
    variants = {
        "as it is": now,
        "read only": replace(now, ceiling=Permission.READ),
        "specialists off": replace(now, disabled_agents=tuple(agent for _, agent in FOUR.values())),
    }
    for snapshot in variants.values():
        orchestrator = turn(workspace, snapshot, "orchestrator")
        text = "\n\n".join(orchestrator.sections.values())
        for name, (pack, _) in FOUR.items():
            lines = [line for line in text.splitlines() if f"`{name}`" in line]
            state = orchestrator.belt[name].state
            if state is State.DIRECT:
                assert lines
                assert not [line for line in lines if "use_pack" in line]
            elif state is State.PACKED:
                assert lines
                assert all("`use_pack`" in line or line.startswith(f"- `{pack}`:") for line in lines)
            else:
                assert not lines
        found = {one.code for one in run(workspace, snapshot) if one.level is Level.ERROR}
        assert not found & {Code.PROMISE_BROKEN, Code.LAW_BROKEN}


HARD_CODED = {
    "connected_mcp_servers": "## Connected MCP Servers\n\nYou MUST delegate with `use_mcp_server`.\n",
    "installed_skills": "## Installed Skills\n\nHand over to `run_skill`.\n",
    "routing": "## Routing\n\n- Find or install a skill: `setup_skills`.\n- Add a server: `setup_mcp_server`.\n",
}


def test_the_sections_are_true_while_the_hand_offs_are_direct_and_while_they_are_packed(
    embedded, edited, now
):
    assert_sections_true(embedded, now)
    assert_sections_true(edited(in_both(again_packed)), now)


@pytest.mark.parametrize("section", HARD_CODED)
@pytest.mark.parametrize("state", ["promoted", "packed"])
def test_hard_coding_a_section_is_noticed(edited, now, section, state):
    file = f"prompts/sections/{section}.j2"
    edits = {file: lambda _: HARD_CODED[section], **(in_both(again_packed) if state == "packed" else {})}
    workspace = edited(edits)
    with pytest.raises(AssertionError):
        assert_sections_true(workspace, now)


@pytest.mark.parametrize("section", HARD_CODED)
def test_check_finds_a_hard_coded_section_while_the_hand_offs_are_packed(edited, now, section):
    file = f"prompts/sections/{section}.j2"
    workspace = edited({file: lambda _: HARD_CODED[section], **in_both(again_packed)})
    broken = [found for found in run(workspace, now) if found.code is Code.PROMISE_BROKEN]
    assert "orchestrator" in " ".join(found.message for found in broken)
    assert {(found.level, found.where.file) for found in broken} == {(Level.ERROR, file)}
    assert {found.name for found in broken} == {name for name in FOUR if f"`{name}`" in HARD_CODED[section]}


# 4: what does not exist is answered as that, with the way there ------------------------------------------------


def assert_existence_first(workspace, now):
    orchestrator = turn(workspace, now, "orchestrator")
    for call in (
        ("install_skill", {"name": "benchmark"}),
        ("use_pack", {"pack": "skills", "tool": "install_skill", "arguments": {"name": "benchmark"}}),
        ("use_pack", {"pack": "integrations", "tool": "install_skill"}),
        ("use_pack", {"pack": "skill_setup", "tool": "install_skill"}),
    ):
        refused = orchestrator.resolve(*call)
        assert isinstance(refused, Refusal)
        assert refused.hint.kind is HintClass.UNKNOWN
        assert "setup_skills" in {offer.tool for offer in refused.hint.suggestions}
        assert not PERMISSION.search(refused.hint.text)
    # And the other way round: what exists and is reserved is never called unknown.
    refused = orchestrator.resolve("use_pack", {"pack": "integrations", "tool": "mcp_registry_install"})
    assert refused.hint.kind is HintClass.RESERVED
    assert "setup_mcp_server" in {offer.tool for offer in refused.hint.suggestions}


def permission_first(belt, opener, given, _open=gate._open):
    """The gate of the report: a pack's state is asked before the tool is known to exist."""
    mask = belt.registry.pack_mask((given or {}).get("pack", "")) or 0
    if mask and given.get("tool") and not mask & belt.packed & ~belt.registry.handoffs:
        return gate.Denial(
            gate._closed(belt, mask & ~belt.registry.handoffs), given["pack"], {}, pack=given["pack"]
        )
    return _open(belt, opener, given)


def test_an_invented_name_is_unknown_and_leads_to_the_hand_off(embedded, now):
    assert_existence_first(embedded, now)


def test_asking_permission_before_existence_is_noticed(embedded, now, monkeypatch):
    monkeypatch.setattr(gate, "_open", permission_first)
    refused = turn(embedded, now, "orchestrator").resolve(
        "use_pack", {"pack": "skills", "tool": "install_skill"}
    )
    assert refused.hint.kind is HintClass.RESERVED  # the mutation does what the report saw
    with pytest.raises(AssertionError):
        assert_existence_first(embedded, now)
