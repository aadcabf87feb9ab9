"""Law 1, one truth: for every scope and tool, sent <=> direct; listed by the opener <=> packed; named as
callable in a section, listing or hint => callable in just that way; the gate admits <=> callable.
"""

from hypothesis import given
from hypothesis import strategies as st
from probes import admits, fitting, listed_names, of_state, reached

from packbelt.belt import FIND_TOOLS, Denial, admit, decide, find_tools, hint_for, index_lines, listing
from packbelt.belt.rules import TABLE
from packbelt.model import State
from packbelt.testing.strategies import names, worlds


@given(worlds())
def test_sent_if_and_only_if_direct(world):
    belt = world.belt()
    own = {tool.wire_name for tool in (belt.opener, belt.finder) if tool}
    sent = [tool.wire_name for tool in belt.tools]
    assert len(sent) == len(set(sent))
    direct = {belt.registry.tools[i].wire_name for i in of_state(belt, State.DIRECT)}
    assert set(sent) - own == direct
    assert bool(belt.opener) == bool(of_state(belt, State.PACKED))
    assert bool(belt.finder) == bool(of_state(belt, State.DEFERRED))


@given(worlds())
def test_listed_by_the_opener_if_and_only_if_packed(world):
    belt = world.belt()
    opener = world.workspace.config.opener
    packs = {*world.workspace.packs, *(f"mcp:{name}" for name in belt.registry.servers)}
    packed = {
        belt.registry.tools[i].wire_name: belt.registry.pack_of(i) for i in of_state(belt, State.PACKED)
    }
    listed = {}
    for pack in packs:
        admitted = admit(belt, opener, {"pack": pack})
        if pack in packed.values():
            assert admitted.answer == listing(belt, pack)
            names = listed_names(belt, admitted.answer.partition("\n\n")[2])
            listed |= dict.fromkeys(names, pack)
        else:
            assert isinstance(admitted, Denial)
    assert listed == packed


@given(worlds())
def test_the_index_names_the_packs_that_hold_something_packed(world):
    belt = world.belt()
    holding = {belt.registry.pack_of(i) for i in of_state(belt, State.PACKED)}
    for pack in {*world.workspace.packs, *(f"mcp:{s}" for s in belt.registry.servers)}:
        heads = [line for line in index_lines(belt) if line.startswith(f"{pack}:")]
        if not pack.startswith("mcp:") or pack.isascii():
            shown = len(pack) <= 80 and "\n" not in pack  # longer names are cut for prompts
            assert not shown or bool(heads) == (pack in holding), pack
    if belt.opener:
        text = belt.opener.description
        for pack in world.workspace.packs:
            assert (f"\n- {pack}: " in text) == (pack in holding)


@given(worlds())
def test_the_gate_admits_if_and_only_if_callable(world):
    """By wire name, and through the opener by wire name and by plain name."""
    belt = world.belt()
    opener = world.workspace.config.opener
    for i, tool in enumerate(belt.registry.tools):
        given_ = fitting(tool)
        may = belt.state(i).callable
        assert admits(belt, tool.wire_name, given_) == may, str(tool.id)
        pack = belt.registry.pack_of(i)
        if pack is None:
            continue
        for name in (tool.wire_name, tool.name):
            inner = {"pack": pack, "tool": name, "arguments": given_}
            through = reached(belt, opener, inner)
            if name == tool.wire_name:
                assert through == (name if may and belt.opener else None), str(tool.id)
            elif name not in belt:  # a plain name that is another tool's wire name means that one
                assert through in (None, tool.wire_name), str(tool.id)


@given(worlds())
def test_a_state_is_the_decision(world):
    belt = world.belt()
    for i, tool in enumerate(belt.registry.tools):
        decision = decide(world.workspace, world.snapshot, world.scope, tool.id)
        assert decision.state is belt.state(i)
        assert decision.reasons, str(tool.id)
        assert decision == belt.at(i).decision


@given(worlds())
def test_explaining_one_tool_gives_what_the_fold_gives(world):
    """Asking each row alone about one bit gives just the reasons that were built from the folded masks."""
    belt = world.belt()
    for i in range(len(belt.registry.tools)):
        alone = {
            state: tuple(
                reason for row in rows if row.mask(belt._ask) >> i & 1 for reason in row.reasons(belt._ask, i)
            )
            for state, rows in TABLE
        }
        first = next(state for state, _ in TABLE if alone[state])
        assert belt.state(i) is first
        assert belt.reasons(i) == alone[first]
        rules = {row.rule for rows_state, rows in TABLE if rows_state is first for row in rows}
        assert {reason.rule for reason in alone[first]} <= rules


@given(worlds(), st.lists(names(), max_size=4))
def test_what_hints_and_searches_name_is_callable(world, asked):
    belt = world.belt()
    packs = [None, *world.workspace.packs, "mcp:github", "no such pack"]
    for name in [*asked, *(tool.wire_name for tool in belt.registry.tools[:6])]:
        for pack in packs[:4]:
            for offer in hint_for(belt, name, pack).suggestions:
                assert admits(belt, offer.tool, offer.arguments), offer
    for tool in find_tools(belt, " ".join(asked) or "search", limit=20):
        assert belt[tool.wire_name].state in (State.PACKED, State.DEFERRED)
    if belt.finder:
        assert admits(belt, FIND_TOOLS, {"query": "search"})


@given(worlds(), names())
def test_a_guessed_name_is_never_executed(world, name):
    """Only exact wire names run; inside a pack also a plain name that one member has."""
    belt = world.belt()
    if name not in belt:
        assert isinstance(admit(belt, name, {}), Denial)
    for pack in (*world.workspace.packs, *(f"mcp:{s}" for s in belt.registry.servers)):
        inner = {"pack": pack, "tool": name, "arguments": {}}
        ended = reached(belt, world.workspace.config.opener, inner)
        if ended is not None:
            tool = belt[ended]
            assert tool.pack == pack
            assert name in (ended, tool.tool.name)
