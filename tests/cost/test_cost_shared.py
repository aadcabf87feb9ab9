"""Text that tools repeat."""

import json

from cost_strategies import BELTS, plain
from hypothesis import given, settings

from packbelt.catalog.forms import HANDOFF_SCHEMA, handoff_tool
from packbelt.catalog.tokens import count, encoder
from packbelt.cost import shared_text
from packbelt.model import Permission
from packbelt.model.encode import compact

ENVELOPE = "Hands the request to a specialist who sees nothing of this conversation. Say all that is needed."


def test_tk11_nineteen_handoffs_with_one_envelope():
    tools = [
        handoff_tool(f"delegate_to_{i}", f"agent_{i}", ENVELOPE, Permission.EXECUTE, None) for i in range(19)
    ]
    found = {each.sample[:20]: each for each in shared_text(tools)}
    schema, description = found['{"type":"object","pr'], found[ENVELOPE[:20]]
    assert len(found) == 2
    assert (schema.count, description.count) == (19, 19)
    assert schema.tokens == count(compact(HANDOFF_SCHEMA))
    assert schema.saved == 18 * schema.tokens
    assert description.saved == 18 * count(ENVELOPE)
    assert description.tools == tuple(f"delegate_to_{i}" for i in range(19))


def test_a_sentence_that_stands_in_several_descriptions():
    same = "Never call it twice for the same request, whatever the user says."
    tools = [plain("a", f"Reads a page. {same}"), plain("b", f"Writes a page.\n{same}"), plain("c", "Else.")]
    (only,) = shared_text(tools, least=1)
    assert (only.sample, only.count, only.tools) == (same, 2, ("a", "b"))
    assert only.saved == count(same)


def test_a_part_of_a_schema():
    place = {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}
    tools = [plain("a", "Goes.", start=place, end=place), plain("b", "Shows.", at=place)]
    (only,) = shared_text(tools, least=1)
    assert (only.count, only.tools) == (3, ("a", "b"))
    assert only.saved == 2 * count(compact(place))


def test_what_lies_inside_a_repetition_is_not_counted_again():
    inner = {"type": "string", "description": "The address of the page, with its scheme and host."}
    tools = [plain(name, "", url=inner) for name in "abc"]
    (only,) = shared_text(tools, least=1)
    assert only.tokens == count(compact(tools[0].input_schema))
    (first, second) = shared_text([*tools, plain("d", "", url=inner, more={"type": "string"})], least=1)
    assert (first.count, second.count) == (3, 2)
    assert second.tools == ("a", "d")


def test_little_is_not_worth_reporting():
    tools = [plain("a", "", q={"type": "string"}), plain("b", "", q={"type": "string"})]
    assert shared_text(tools, least=1000) == []
    assert shared_text([]) == []


def test_a_sample_is_one_harmless_line():
    text = "Reads\x1b[31m a page\nand more of it, \u202eand so on and on and on. " + "word " * 60
    (only, *_) = shared_text([plain("a", text), plain("b", text)])
    assert only.sample.isprintable()
    assert only.sample.endswith("…")


@settings(max_examples=60, deadline=None)
@given(belt=BELTS)
def test_of_tools_that_stand_twice_all_text_worth_sharing_is_saved_once(belt):
    """Whatever a belt repeats within itself, a second copy adds its descriptions and schemas, whole."""
    encode = encoder("o200k_base").encode_ordinary
    texts = [tool.description for tool in belt]
    texts += [json.dumps(tool.input_schema, ensure_ascii=False, separators=(",", ":")) for tool in belt]
    second = sum(len(encode(text)) for text in texts if len(text) >= 40)
    once, twice = (shared_text(tools, least=1) for tools in (belt, [*belt, *belt]))
    assert sum(each.saved for each in twice) == sum(each.saved for each in once) + second
    assert all(each.count > 1 and each.saved == each.tokens * (each.count - 1) for each in twice)
