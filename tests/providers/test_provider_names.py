"""Names in a target: a reversible table, and what cannot be said refused with both sides named."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from targets_built import APIS, BUILT, left_out, lenient, sent

from packbelt.model import Code
from packbelt.providers import CompileError, compile_belt, target
from packbelt.providers.names import name_all
from packbelt.providers.plan import plan
from packbelt.providers.target import NameRule
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, native
from packbelt.testing.strategies import worlds

each = pytest.mark.parametrize("name", BUILT)
NARROW = replace(target("anthropic"), names=NameRule(re.compile(r"p_[a-z_]+"), 12, "p_"))
"""A target that takes little: lower case, and twelve letters with its prefix."""


def belt_of(*tools, **more):
    return make_belt(
        make_workspace(tools=tools, agents=[agent("orchestrator")], **more), None, "orchestrator"
    )


@given(world=worlds())
def test_names_are_reversible_and_fit_the_rule(world):
    belt = world.belt()
    for name in BUILT:
        form, rule = lenient(belt, name), target(name).names
        shown = form.names.shown
        assert len(set(shown.values())) == len(shown)
        for wire_name, said in shown.items():
            if said != target(name).search:  # the target's own tool: spoken of, never called by us
                assert form.names.unspell(said) == wire_name, name
        for said in form.enforcement.plan:
            assert rule.pattern.fullmatch(said), name
            assert len(said) <= rule.longest


@given(
    spelled=st.lists(
        st.tuples(
            st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True),
            st.one_of(st.none(), st.from_regex(r"[a-zA-Z_]{1,14}", fullmatch=True)),
        ),
        max_size=8,
        unique_by=lambda pair: pair[0],
    )
)
def test_each_tool_that_cannot_be_named_and_no_other_is_left_out(spelled):
    tools = [native(wire_name) for wire_name, _ in spelled]
    table = {wire_name: said and "p_" + said for wire_name, said in spelled}
    expected, taken = [], set()
    for wire_name, said in table.items():
        if said and len(said) <= 12 and re.fullmatch("p_[a-z_]+", said) and said not in taken:
            expected.append(wire_name)
            taken.add(said)
    names, kept, diagnostics = name_all(NARROW, tools, lambda tool: table[tool.wire_name], strict=False)
    assert [tool.wire_name for tool in kept] == expected
    assert dict(names.shown) == {wire_name: table[wire_name] for wire_name in expected}
    assert {names.unspell(names.spell(wire_name)) for wire_name in expected} == set(expected)
    lost = [one.name for one in diagnostics]
    assert lost == [wire_name for wire_name in table if wire_name not in expected]
    assert all(one.code is Code.TARGET_NAME for one in diagnostics)
    if lost:
        with pytest.raises(CompileError) as caught:
            name_all(NARROW, tools, lambda tool: table[tool.wire_name], strict=True)
        assert caught.value.name == lost[0]


@pytest.mark.parametrize(
    ("mapped", "both_sides"),
    [
        (lambda _: None, [r"native:web_search", r"no counterpart in Anthropic"]),
        (lambda _: "p_far_too_long", [r"native:web_search", r"'p_far_too_long'", r"14 letters of 12"]),
        (lambda _: "p_Web", [r"native:web_search", r"'p_Web'", r"p_\[a-z_\]\+"]),
        (lambda _: "p_same", [r"native:web_search", r"native:fetch", r"'p_same'"]),
    ],
    ids=["absent", "long", "illegal", "collision"],
)
def test_a_refusal_names_both_sides_and_the_mend(mapped, both_sides):
    tools = [native("fetch"), native("web_search")]
    table = {"fetch": "p_same", "web_search": mapped(None)}
    with pytest.raises(CompileError) as caught:
        name_all(NARROW, tools, lambda tool: table[tool.wire_name], strict=True)
    for side in both_sides:
        assert re.search(side, str(caught.value))
    assert "strict=False" in str(caught.value)


def test_a_name_that_gemini_does_not_take_is_left_out_alone():
    belt = belt_of("9lives", "cat", "-dash")
    with pytest.raises(CompileError, match=r"native:-dash would be '-dash' in Gemini API"):
        compile_belt(belt, "gemini")
    form = lenient(belt, "gemini")
    assert sent(form) == ["cat"]
    assert left_out(form) == {"9lives", "-dash"}
    assert sent(compile_belt(belt, "anthropic")) == [tool.wire_name for tool in belt.tools]


def test_a_packed_tool_needs_no_name_where_the_opener_calls_it():
    from packbelt.testing import pack

    belt = belt_of("9lives", "cat", packs=[pack("odd", ["9lives"])])
    form = compile_belt(belt, "gemini")
    assert sent(form) == ["use_pack", "cat"]
    assert form.diagnostics == ()


@each
def test_a_name_that_is_none_stays_itself(name):
    form = lenient(belt_of("cat"), name)
    assert form.names.unspell("no_such_tool") == "no_such_tool"
    assert form.names.spell("no_such_tool") == "no_such_tool"


@pytest.mark.parametrize("name", APIS)
def test_the_plan_refuses_nothing_that_fits(name):
    snapshot = make_snapshot({"gh": ["search", "a b", "x" * 90]})
    workspace = make_workspace(agents=[agent("orchestrator")], servers=["gh"])
    belt = make_belt(workspace, snapshot, "orchestrator")
    made = plan(belt, target(name), strict=True)
    assert len(made.tools) == 3
    assert all(len(said) <= target(name).names.longest for said in made.shown)
