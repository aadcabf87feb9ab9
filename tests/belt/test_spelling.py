"""The opener, the search and hints in the spelling of a target that shows tools under names of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packbelt.belt import FIND_TOOLS, Denial, admit, hint, listing, resolve
from packbelt.catalog.workspace import Budget
from packbelt.model import Call, HandOff, HintClass, Refusal, State
from packbelt.prompt import render_prompt, render_sections
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, native, pack, policy, schema
from packbelt.testing.strategies import worlds
from packbelt.turn import AgentHandle, turn


def spell(name):
    return f"mcp__packbelt__{name}"


TOOLS = [
    native("z_first", "Does the first.", schema("query")),
    native("a_second", "Does the second.", schema()),
    native("direct_one", "Is sent.", schema()),
    native("guarded", "Is dangerous.", permission="dangerous"),
    native("weather", "Tells the forecast for a city."),
    native("invoice_list", "Shows all bills."),
]
PACKS = [
    pack(
        "p",
        ["z_first", "direct_one", "guarded", "a_second"],
        summary="Opened by `use_pack`; not by `a_second`.",
        direct=["direct_one"],
        guide="First `direct_one`, then `a_second`.",
    ),
    pack("found", ["weather", "invoice_list"], exposure="deferred"),
]


@pytest.fixture
def belt():
    return make_belt(make_workspace(tools=TOOLS, packs=PACKS))


def answer(belt, name, arguments):
    resolved = resolve(belt, name, arguments, spell)
    assert isinstance(resolved, Call)
    assert resolved.answer is not None
    return resolved.answer


def test_a_listing_calls_the_opener_by_the_targets_name_and_gives_inner_names_as_arguments(belt):
    assert answer(belt, "use_pack", {"pack": "p"}) == (
        "p: Opened by `mcp__packbelt__use_pack`; not by `a_second`.\n\n"
        "First `mcp__packbelt__direct_one`, then `a_second`.\n\n"
        'Call: mcp__packbelt__use_pack(pack="p", tool="<name>", arguments={...}).\n\n'
        "z_first: Does the first.\n"
        '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}\n\n'
        "a_second: Does the second.\n"
        '{"type":"object","properties":{},"required":[]}'
    )


def test_a_long_listing_says_how_to_ask_for_the_rest_in_the_targets_spelling():
    wide = {"type": "object", "properties": {"field": {"type": "string", "description": "x" * 3000}}}
    many = [{"name": f"t{i:03}", "description": "Does it.", "inputSchema": wide} for i in range(30)]
    belt = make_belt(make_workspace(budget=Budget(server_tokens=1)), make_snapshot({"s": many}))
    text = answer(belt, "use_pack", {"pack": "mcp:s"})
    assert 'mcp__packbelt__use_pack(pack="mcp:s", arguments={"query": "<name or words>"}) shows' in text
    assert " use_pack(" not in text
    first = '\n\nmcp__s__t029: Does it.\n{"type":'
    for asked in ("mcp__s__t029", spell("mcp__s__t029")):
        found = answer(belt, "use_pack", {"pack": "mcp:s", "arguments": {"query": asked}})
        assert first in found
        assert found.index("mcp__s__t029") == found.index("mcp__s__t")  # the exact name comes first


def test_the_search_gives_names_to_call_and_understands_either_form(belt):
    text = answer(belt, FIND_TOOLS, {"query": "forecast"})
    assert "\n\nmcp__packbelt__weather: Tells the forecast for a city.\n{" in text
    for asked in ("invoice_list", spell("invoice_list")):
        found = answer(belt, FIND_TOOLS, {"query": asked, "limit": 1})
        assert "mcp__packbelt__invoice_list: " in found


@pytest.mark.parametrize("name", ["z_first", spell("z_first")])
def test_inside_the_opener_a_tool_is_called_by_its_plain_name_or_as_it_is_spelled(belt, name):
    inner = {"pack": "p", "tool": name, "arguments": {"query": "x"}}
    assert resolve(belt, "use_pack", inner, spell) == Call(belt["z_first"].tool, {"query": "x"})


def test_another_targets_spelling_is_no_name(belt):
    inner = {"pack": "p", "tool": "mcp__other__z_first", "arguments": {"query": "x"}}
    refusal = resolve(belt, "use_pack", inner, spell)
    assert isinstance(refusal, Refusal)
    assert refusal.hint.kind is HintClass.UNKNOWN
    assert isinstance(resolve(belt, "use_pack", {**inner, "tool": spell("z_first")}), Refusal)


def test_a_name_is_never_cut_apart():
    """A server called like the client's prefix has tools whose wire names look spelled."""
    workspace = make_workspace(tools=TOOLS, packs=PACKS, policies={"*": policy(exposure="packed")})
    belt = make_belt(workspace, make_snapshot({"packbelt": ["z_first"]}))
    wire_name = "mcp__packbelt__z_first"
    of_server = {"pack": "mcp:packbelt", "tool": wire_name, "arguments": {}}
    assert resolve(belt, "use_pack", of_server, spell).tool.id.source == "server:packbelt"
    of_pack = {"pack": "p", "tool": wire_name, "arguments": {"query": "x"}}
    assert resolve(belt, "use_pack", of_pack, spell).tool.id.source == "native"
    spelled_twice = {**of_server, "tool": spell(wire_name)}
    assert resolve(belt, "use_pack", spelled_twice, spell).tool.id.source == "server:packbelt"


def test_a_spelled_name_that_is_over_the_ceiling_stays_so(belt):
    inner = {"pack": "p", "tool": spell("guarded")}
    denial = admit(belt, "use_pack", inner, spell)
    assert isinstance(denial, Denial)
    assert denial.kind is HintClass.OVER_CEILING
    assert hint(belt, denial, spell).text.startswith("mcp__packbelt__guarded is over this agent's ceiling")


def test_a_spelled_name_in_the_wrong_pack_is_led_to_its_own(belt):
    refusal = resolve(belt, "use_pack", {"pack": "nope", "tool": spell("z_first")}, spell)
    offer, *_ = refusal.hint.suggestions
    assert (offer.tool, offer.arguments["pack"]) == ("use_pack", "p")
    refusal = resolve(belt, "use_pack", {"pack": "p", "tool": spell("weather")}, spell)
    assert refusal.hint.kind is HintClass.WRONG_PACK
    assert refusal.hint.text.startswith("mcp__packbelt__weather is not in pack")


def test_a_packed_hand_off_is_taken_by_its_spelled_name():
    people = [agent("orchestrator", delegates="*"), agent("helper", handoff="ask_helper")]
    belt = make_belt(make_workspace(packs=[pack("p", ["ask_helper"])], agents=people))
    inner = {"pack": "p", "tool": spell("ask_helper"), "arguments": {"request": "do it"}}
    assert resolve(belt, "use_pack", inner, spell) == HandOff(belt["ask_helper"].tool, "helper", "do it")


def test_the_sent_tools_keep_their_names_and_the_opener_speaks_the_targets_language():
    now = turn(make_workspace(tools=TOOLS, packs=PACKS), None, "orchestrator")
    sent = now.tools_spelled(spell)
    assert [tool.wire_name for tool in sent] == [tool.wire_name for tool in now.tools]
    (opener,) = [tool for tool in sent if tool.wire_name == "use_pack"]
    assert "\n- p: Opened by `mcp__packbelt__use_pack`; not by `a_second`." in opener.description
    assert "\n- p: Opened by `use_pack`; not by `a_second`." in now.belt.opener.description
    assert now.tools_spelled(str) is now.tools
    others = [tool for tool in sent if tool.wire_name != "use_pack"]
    assert all(any(tool is one for one in now.tools) for tool in others)


def test_a_handle_and_a_turn_answer_in_the_targets_spelling():
    workspace = make_workspace(tools=TOOLS, packs=PACKS)
    handle = AgentHandle(workspace, "orchestrator")
    for one in (handle, handle.turn()):
        text = one.resolve("use_pack", {"pack": "p"}, spell).answer
        assert 'mcp__packbelt__use_pack(pack="p"' in text
        assert one.resolve("use_pack", {"pack": "p"}).answer == listing(handle.turn().belt, "p")


def test_a_prompt_spells_the_names_of_sent_tools_and_no_others():
    body = "Use `direct_one`, `use_pack` and `a_second`."
    workspace = make_workspace(
        tools=TOOLS, packs=PACKS, agents=[agent("orchestrator", delegates="*", body=body)]
    )
    belt = make_belt(workspace)
    said = render_prompt(belt, render_sections(belt, spell), spell)
    assert said.startswith("Use `mcp__packbelt__direct_one`, `mcp__packbelt__use_pack` and `a_second`.")


@given(worlds(), st.sampled_from((str, spell, lambda name: name[::-1])))
def test_law1_in_any_spelling_a_tool_is_called_in_either_form_and_listed_if_packed(world, spelled):
    belt = world.belt()
    opener = world.workspace.config.opener
    for i, tool in enumerate(belt.registry.tools):
        packed = belt.state(i) is State.PACKED
        pack_id = belt.registry.pack_of(i)
        if pack_id is None or belt.opener is None:
            continue
        forms = {tool.wire_name, spelled(tool.wire_name)}
        others = {one.wire_name for one in belt.registry.tools} - {tool.wire_name}
        for name in forms - others:
            said = admit(belt, opener, {"pack": pack_id, "tool": name}, spelled)
            plain = admit(belt, opener, {"pack": pack_id, "tool": tool.wire_name})
            assert type(said) is type(plain)
            assert getattr(said, "kind", None) == getattr(plain, "kind", None)
        if packed:
            text = admit(belt, opener, {"pack": pack_id}, spelled).answer
            assert f"{spelled(opener)}(pack=" in text
            assert tool.wire_name in text
