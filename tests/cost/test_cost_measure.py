"""The figures of a dump."""

import json
import sys

import pytest
from cost_strategies import BELTS, TEXTS, TOOLS, plain
from hypothesis import given, settings
from hypothesis import strategies as st

from packbelt.catalog.forms import tool_line
from packbelt.catalog.tokens import count, encoder
from packbelt.cost import Cost, anthropic, line_tokens, measure, neutral, openai, scheme_of
from packbelt.cost.anthropic import function_line
from packbelt.cost.claude_families import FAMILIES
from packbelt.model import PackbeltError

METHODS = ("json", "openai", "anthropic")
SECTIONS = st.dictionaries(TEXTS, TEXTS, max_size=3)


@pytest.fixture
def twenty():
    return [plain(f"tool_{i}", f"Reads page {i}.", page={"type": "integer"}) for i in range(20)]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(belt=BELTS, packed=BELTS, sections=SECTIONS)
def test_the_lines_add_up_to_the_total(method, belt, packed, sections):
    cost = measure(belt, sections, [*belt, *packed], method=method)
    assert cost.lines == tuple((tool.wire_name, line_tokens(tool, method)) for tool in belt)
    assert cost.tools == sum(tokens for _, tokens in cost.lines) + cost.overhead
    assert cost.sections == sum(tokens for _, tokens in cost.section_lines)
    assert cost.total == cost.tools + cost.sections
    assert cost.if_unpacked >= cost.tools
    assert cost.low <= cost.total <= cost.high
    assert cost.verified is False


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(belt=BELTS, tool=TOOLS, position=st.integers(0, 6))
def test_a_tool_more_costs_more(method, belt, tool, position):
    position = min(position, len(belt))
    larger = [*belt[:position], tool, *belt[position:]]
    before, after = (measure(tools, {}, tools, method=method) for tools in (belt, larger))
    assert after.tools > before.tools
    assert after.low >= before.low
    assert after.high >= before.high
    if belt:
        assert after.tools - before.tools == line_tokens(tool, method)


@settings(max_examples=60, deadline=None)
@given(belt=BELTS)
def test_json_counts_the_form_that_it_names(belt):
    cost = measure(belt, {}, belt)
    assert cost.overhead == 0
    assert cost.tools == count("".join(tool.line for tool in belt))


@settings(max_examples=60, deadline=None)
@given(tool=TOOLS)
def test_anthropics_line_is_the_tools_own_content(tool):
    text = function_line(tool)
    assert text.startswith("<function>{")
    assert text.endswith("}</function>\n")
    # A tool holds no surrogates once it came from JSON; those made here are compared as they are.
    found = json.loads(text.removeprefix("<function>").removesuffix("</function>\n"))
    assert found == {
        "description": tool.description,
        "name": tool.wire_name,
        "parameters": json.loads(json.dumps(tool.input_schema, ensure_ascii=False)),
    }
    assert tool.line == tool_line(tool.wire_name, tool.description, tool.input_schema)


def test_json_has_the_fields_of_a_dump(twenty):
    cost = measure(twenty, {"routing": "Use it."}, twenty)
    data = cost.to_json()
    assert list(data) == [
        *("encoding", "method", "overhead", "tools", "sections", "total"),
        *("if_unpacked", "low", "high", "verified"),
    ]
    assert json.loads(json.dumps(data)) == data
    assert data["encoding"] == "o200k_base"
    assert data["method"] == f"json@{cost.date}"
    assert data["verified"] is False


def test_the_figures_of_a_dump_are_tiktokens_of_the_forms_written_out(twenty):
    """What is sent in each of the three forms, spelled here by hand and counted by tiktoken itself."""
    encode = encoder("o200k_base").encode_ordinary
    schema = '{"type":"object","properties":{"page":{"type":"integer"}}}'
    ours, claude, typescript = [], [], "namespace functions {\n\n"
    for i in range(20):
        name, words = f'"name":"tool_{i}"', f'"description":"Reads page {i}."'
        ours.append(len(encode(f'{{{name},{words},"input_schema":{schema}}}\n')))
        function = f'<function>{{{words},{name},"parameters":{schema}}}</function>\n'
        claude.append((3 * len(encode(function)) + 1) // 2)  # at 150 %, half up
        typescript += f"// Reads page {i}.\ntype tool_{i} = (_: {{\npage?: integer,\n}}) => any;\n\n"
    section = len(encode("Use it.\n"))
    # 9 for a request with functions, less 4 for its system message; 354 as Anthropic documents it.
    low = len(encode(typescript + "} // namespace functions")) + 9 - 4 + section
    high = 354 + sum(claude) + (3 * section + 1) // 2
    data = measure(twenty[:5], {"routing": "Use it."}, twenty).to_json()
    assert (data["overhead"], data["tools"], data["sections"]) == (0, sum(ours[:5]), section)
    assert (data["total"], data["if_unpacked"]) == (sum(ours[:5]) + section, sum(ours))
    data = measure(twenty, {"routing": "Use it."}, twenty).to_json()
    assert (data["low"], data["high"]) == (low, high)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_states_its_id_its_date_and_what_it_counts(method, twenty):
    cost = measure(twenty, {}, twenty, method=method)
    assert cost.method.startswith(method)
    assert cost.method.endswith(f"@{cost.date}")
    assert len(cost.date) == len("2026-11")
    assert cost.date.replace("-", "").isdigit()
    assert len(cost.about) > 40


def test_no_tools_cost_nothing():
    for method in METHODS:
        cost = measure([], {}, [], method=method)
        assert (cost.overhead, cost.tools, cost.total, cost.if_unpacked, cost.low, cost.high) == (0,) * 6


def test_what_is_packed_counts_only_as_unpacked(twenty):
    cost = measure(twenty[:1], {}, twenty, method="anthropic")
    assert len(cost.lines) == 1
    assert cost.if_unpacked == measure(twenty, {}, twenty, method="anthropic").tools


def test_tk05_the_fixed_overhead_is_its_own_line(twenty):
    cost = measure(twenty, {}, twenty, method=anthropic("opus-4.7"))
    alone = [measure([tool], {}, [tool], method=anthropic("opus-4.7")) for tool in twenty]
    assert cost.overhead == 675
    assert sum(one.tools for one in alone) - cost.tools == 19 * 675
    assert cost.tools - cost.overhead == sum(one.tools - one.overhead for one in alone)


def test_tk08_sections_and_the_opener_are_counted(twenty):
    opener = plain("use_pack", "Open a pack: " + ", ".join(tool.name for tool in twenty))
    sections = {"routing": "Use `use_pack`.\n\n- pages", "capabilities": ""}
    cost = measure([opener], sections, twenty)
    assert dict(cost.lines)["use_pack"] == count(opener.line) > 60
    assert dict(cost.section_lines) == {"routing": count("Use `use_pack`.\n\n- pages\n"), "capabilities": 1}
    assert cost.total == count(opener.line) + count("Use `use_pack`.\n\n- pages\n") + 1


def test_json_band_spans_the_providers(twenty):
    sections = {"routing": "Use what fits. " * 40}
    cost = measure(twenty, sections, twenty)
    lean = measure(twenty, sections, twenty, method="openai")
    dear = measure(twenty, sections, twenty, method="anthropic")
    assert lean.total < cost.total < dear.total
    assert (cost.low, cost.high) == (lean.total, dear.total)


def test_openai_band_is_of_the_tools_alone(twenty):
    cost = measure(twenty, {"routing": "Use it."}, twenty, method="openai")
    bare = measure(twenty, {}, twenty, method="openai")
    assert cost.low - bare.low == cost.high - bare.high == cost.sections
    assert 0.84 * bare.tools < bare.low <= 0.85 * bare.tools
    assert 1.1 * bare.tools <= bare.high < 1.11 * bare.tools


def test_anthropic_scales_each_line_and_section():
    tool = plain("f", "Reads a page.")
    lines = count(function_line(tool))
    words = count("Use f.\n")
    old = measure([tool], {"s": "Use f."}, [tool], method=anthropic("opus-4.6"))
    new = measure([tool], {"s": "Use f."}, [tool], method=anthropic("opus-4.8"))
    assert (old.overhead, new.overhead) == (497, 290)
    assert abs(old.tools - 497 - 1.15 * lines) <= 0.5
    assert abs(new.tools - 290 - 1.5 * lines) <= 0.5
    assert abs(new.sections - 1.5 * words) <= 0.5
    assert new.low <= 0.9 * new.total < new.low + 1
    assert new.high >= 1.1 * new.total > new.high - 1


# Anthropic's documentation on tool use, newest table that was found (2026) and the one before it.
@pytest.mark.parametrize(
    ("family", "auto", "forced"),
    [
        ("opus-4.8", 290, 410),
        ("opus-4.7", 675, 804),
        ("sonnet-4.6", 497, 589),
        ("haiku-4.5", 496, 588),
        ("sonnet-4", 313, 315),
        ("sonnet-5", 354, 474),
        ("sonnet-3.7", 346, 313),
    ],
)
def test_documented_overheads(family, auto, forced):
    assert anthropic(family).overhead == auto
    assert anthropic(family, forced=True).overhead == forced
    assert FAMILIES[family].as_of in anthropic(family).about


def test_an_unknown_family_is_answered_with_the_known_ones():
    with pytest.raises(PackbeltError, match=r"'opus-9'.*opus-4\.8"):
        anthropic("opus-9")


def test_an_unknown_method_is_answered_with_the_known_ones():
    with pytest.raises(PackbeltError, match="json, openai, anthropic"):
        scheme_of("guess")


def test_the_encoding_can_be_chosen():
    tool = plain("f", "お誕生日おめでとう " * 5)
    for make in (neutral, openai):
        old, new = (measure([tool], {}, [tool], method=make(name)) for name in ("cl100k_base", "o200k_base"))
        assert (old.encoding, new.encoding) == ("cl100k_base", "o200k_base")
        assert old.tools > new.tools
    assert line_tokens(tool, neutral("cl100k_base")) == count(tool.line, "cl100k_base")


@pytest.mark.parametrize("method", METHODS)
def test_no_tool_is_kept_because_it_was_counted(method):
    tool = plain("f", "Reads a page, of which there are many. " * 20)
    held = [sys.getrefcount(each) for each in (tool, tool.line, tool.description)]
    first = line_tokens(tool, method)
    assert line_tokens(tool, method) == first
    assert [sys.getrefcount(each) for each in (tool, tool.line, tool.description)] == held


@pytest.mark.parametrize("method", METHODS)
def test_tools_of_one_shape_and_other_words_are_counted_apart(method):
    short, long = (plain("f", "Reads a page. " * 20 + more) for more in ("", "And another one. " * 9))
    assert line_tokens(short, method) < line_tokens(long, method)
    assert line_tokens(plain("f", "Reads a page. " * 20), method) == line_tokens(short, method)


def test_a_cost_is_a_value(twenty):
    assert measure(twenty, {}, twenty) == measure(list(twenty), {}, tuple(twenty))
    assert isinstance(hash(measure(twenty, {}, twenty)), int)
    assert isinstance(measure(twenty, {}, twenty), Cost)
