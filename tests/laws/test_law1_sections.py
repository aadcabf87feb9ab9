"""Law 1, one truth, in the words of a prompt: what a section names as callable is callable in just that way."""

import re

from hypothesis import given

from packbelt.model import State
from packbelt.prompt import render_sections
from packbelt.testing.strategies import worlds

TICKED = re.compile(r"`([^`\n]+)`")
THROUGH = re.compile(r"`([^`\n]+)` with pack `([^`\n]+)`(?: and tool `([^`\n]+)`)?")


@given(worlds())
def test_what_a_section_names_can_be_called_in_just_that_way(world):
    belt = world.belt()
    rendered = render_sections(belt)
    assert not [one for one in rendered.diagnostics if one.level == "error"]
    for text in rendered.texts.values():
        for opener, pack, tool in THROUGH.findall(text):
            assert belt.opener
            assert opener == belt.opener.wire_name
            held = belt.registry.pack_mask(pack) & belt.packed
            assert held, pack
            if tool:
                assert belt[tool].state is State.PACKED
                assert belt[tool].pack == pack
        inside = {name for found in THROUGH.findall(text) for name in found[1:]}
        for name in set(TICKED.findall(text)) - inside:
            if name in world.workspace.packs:
                continue  # a line of the index, which names the pack
            line = next(line for line in text.splitlines() if f"`{name}`" in line)
            if "Hands off with tool" in line:
                pack = line.partition("`")[2].partition("`")[0]
                assert (belt[name].state, belt[name].pack) == (State.PACKED, pack)
            elif belt[name].state is State.DEFERRED:
                assert belt.finder.wire_name in line
            else:
                assert belt[name].state is State.DIRECT, (name, line)


@given(worlds())
def test_the_packs_of_the_capabilities_section_are_those_of_the_opener(world):
    belt = world.belt()
    text = render_sections(belt).texts.get("capabilities", "")
    named = set(re.findall(r"^- `([^`]+)`:", text, re.MULTILINE))
    held = {belt.registry.pack_of(i) for i in range(len(belt.registry.tools)) if belt.packed >> i & 1}
    assert named == held & set(world.workspace.packs)
