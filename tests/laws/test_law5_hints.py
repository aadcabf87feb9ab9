"""Law 5, verified hints: every call that a hint proposes is put through the gate first. A hint proposes only
what this agent can reach. A name that does not exist is never answered with a permission word; a denied one
is never called unknown.
"""

from hypothesis import given
from hypothesis import strategies as st
from probes import PERMISSION_WORDS, UNKNOWN_WORDS, admits

from packbelt.belt import Denial, admit, hint, hint_for
from packbelt.belt.arguments import problem
from packbelt.model import Code, HintClass, State
from packbelt.testing.strategies import names, worlds

EXISTING = set(HintClass) - {HintClass.UNKNOWN, HintClass.AMBIGUOUS}


def packs_of(world):
    return [None, *world.workspace.packs, *(f"mcp:{name}" for name in world.snapshot.servers), "mcp_setup"]


@given(worlds(), names(), st.data())
def test_every_suggestion_is_admitted_and_fits_its_schema(world, name, data):
    belt = world.belt()
    pack = data.draw(st.sampled_from(packs_of(world)))
    asked = data.draw(st.sampled_from((name, *belt)) if len(belt) else st.just(name))
    given_ = data.draw(st.sampled_from(({}, {"query": "x"}, {"n": 1}, "junk", None, [1])))
    for told in (hint_for(belt, asked, pack), *_answers(belt, asked, pack, given_)):
        assert told.text
        assert len(told.suggestions) <= 3
        assert len(told.text.encode()) < 20_000
        for offer in told.suggestions:
            assert admits(belt, offer.tool, offer.arguments), (told, offer)
            tool = belt[offer.tool].tool
            assert not problem(tool.input_schema, offer.arguments)


def _answers(belt, name, pack, arguments):
    opener = belt.registry.workspace.config.opener
    calls = [(name, arguments), (opener, {"pack": pack, "tool": name, "arguments": arguments})]
    for called, given_ in calls:
        admitted = admit(belt, called, given_)
        if isinstance(admitted, Denial):
            yield hint(belt, admitted)


@given(worlds(), names(), st.data())
def test_a_name_that_does_not_exist_is_unknown_and_no_word_of_permission_falls(world, name, data):
    belt = world.belt()
    if name in belt:
        return
    told = hint_for(belt, name)
    assert told.kind in (HintClass.UNKNOWN, HintClass.AMBIGUOUS), told
    assert not PERMISSION_WORDS.search(_without_names(told.text, belt, name)), told.text
    pack = data.draw(st.sampled_from(packs_of(world)[1:]))
    mask = belt.registry.pack_mask(pack) or 0
    inside = {belt.registry.tools[i].name for i in range(mask.bit_length()) if mask >> i & 1}
    if name and name not in inside:
        told = hint_for(belt, name, pack)
        assert told.kind is HintClass.UNKNOWN
        assert not PERMISSION_WORDS.search(_without_names(told.text, belt, name)), told.text


def _without_names(text, belt, name):
    """A text without the names and the descriptions in it, which may be any words."""
    for one in (name, *(tool.wire_name for tool in belt.registry.tools)):
        text = text.replace(one, "") if one else text
    return text


@given(worlds())
def test_a_tool_that_exists_is_never_called_unknown(world):
    belt = world.belt()
    for i, tool in enumerate(belt.registry.tools):
        told = hint_for(belt, tool.wire_name)
        assert told.kind in EXISTING, told
        state = belt.state(i)
        if not state.callable:
            assert told.kind == state.value
            text = _without_names(told.text, belt, "")
            shown = [reason.detail for reason in belt.reasons(i)]
            for detail in (*shown, *(cut.detail for cut in belt.decision(i).cuts)):
                text = text.replace(detail, "")
            assert not UNKNOWN_WORDS.search(text), told.text
        elif state is State.PACKED:
            assert told.kind is HintClass.PACKED
        else:
            assert told.kind is HintClass.CALLABLE


@given(worlds(), names(), st.data())
def test_a_hint_names_the_tool_that_was_called(world, name, data):
    """Whoever reads it can tell which call failed (a long name is cut)."""
    belt = world.belt()
    asked = data.draw(st.sampled_from((name, *belt)))
    shown = hint_for(belt, asked).text
    if asked.isascii() and asked.isidentifier() and len(asked) < 70 and belt.registry.wire.get(asked) is None:
        assert asked in shown


@given(worlds())
def test_diagnostics_have_a_code_from_the_table(world):
    belt = world.belt()
    for one in (*belt.diagnostics, *belt.problems):
        assert one.code in Code
        assert one.message
