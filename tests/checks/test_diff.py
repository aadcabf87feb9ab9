"""`diff`: gained, lost and moved with the rule that did it, tokens, the cache's prefix, findings; `worse`."""

from textwrap import dedent

import pytest
from hypothesis import given, settings

import packbelt
from packbelt.catalog.load import load
from packbelt.catalog.registry import bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.checks.diff import diff
from packbelt.checks.difference import AgentDiff, Diff
from packbelt.checks.worse import CONDITIONS, conditions, worse
from packbelt.model import Code, PackbeltError, Rule, ServerStatus, State, Where
from packbelt.testing.strategies import worlds

BASE = {
    "packbelt.yaml": "opener: use_pack\n",
    "packs/files.yaml": """\
        id: files
        summary: Files of the project.
        exposure: direct
        tools:
          - {name: file_read, description: Reads a file., permission: read, input_schema: {type: object}}
          - {name: file_write, description: Writes a file., permission: write, input_schema: {type: object}}
          - {name: file_zip, description: Packs files., permission: write, input_schema: {type: object}}
        """,
    "prompts/agents/orchestrator.md": """\
        ---
        description: Sorts requests.
        delegates: [clerk]
        ---
        You sort requests.
        """,
    "prompts/agents/clerk.md": """\
        ---
        description: Files things.
        tools: [file_read]
        ---
        You file things.
        """,
}
SERVER = """\
    ---
    description: Files things.
    tools: [file_read, "weather/*"]
    ---
    You file things.
    """
WEATHER = {"mcpServers": {"weather": {"command": "weather"}}}
LISTED = [{"name": "forecast", "description": "Tells.", "inputSchema": {"type": "object"}}]


@pytest.fixture
def change(tmp_path):
    """The difference that other files make; None for a file that goes."""

    def write(where, files):
        for name, text in files.items():
            if text is not None:
                path = tmp_path / where / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(dedent(text), encoding="utf-8")
        return load(tmp_path / where)

    def compared(files, base=None, *, old=None, new=None):
        before = {**BASE, **(base or {})}
        return diff(write("old", before), write("new", {**before, **files}), old, new)

    return compared


def of(found, agent):
    return next(one for one in found.agents if one.agent == agent)


def only(changes):
    (one,) = changes
    return one


def edited(name, old, new, base=BASE):
    text = dedent(base[name])
    assert old in text
    return {name: text.replace(old, new)}


# tools ----------------------------------------------------------------------------------------------------


def test_the_same_files_differ_in_nothing(change):
    found = change({})
    assert found.empty
    assert found.differing == ()
    assert [one.agent for one in found.agents] == ["orchestrator", "clerk"]
    assert all(one.prefix.whole for one in found.agents)


def test_lost_names_the_deny_and_its_line(change):
    found = change({"packbelt.yaml": "opener: use_pack\ndeny: [file_read]\n"})
    for agent in ("orchestrator", "clerk"):
        one = only(of(found, agent).changes)
        assert (one.kind, one.tool, one.before, one.after) == (
            "lost",
            "file_read",
            State.DIRECT,
            State.DENIED,
        )
        assert (one.cause.rule, one.cause.where) == (Rule.WORKSPACE_DENY, Where("packbelt.yaml", 2))
        assert not one.ended
        assert not one.widened


def test_gained_names_the_entry_that_grants_it(change):
    found = change(edited("prompts/agents/clerk.md", "[file_read]", "[file_read, file_write]"))
    one = only(of(found, "clerk").changes)
    assert (one.kind, one.tool, one.before, one.after) == (
        "gained",
        "file_write",
        State.OFF_BELT,
        State.DIRECT,
    )
    assert (one.cause.rule, one.cause.where) == (Rule.AGENT_TOOLS, Where("prompts/agents/clerk.md", 3))
    assert one.widened
    assert not of(found, "orchestrator").differs


def test_gained_where_a_rule_ended_names_the_rule_of_old(change):
    found = change(
        {"packbelt.yaml": "opener: use_pack\n"},
        {"packbelt.yaml": "opener: use_pack\n\ndeny: [file_zip]\n"},
    )
    one = only(of(found, "orchestrator").changes)
    assert (one.kind, one.cause.rule, one.cause.where) == (
        "gained",
        Rule.WORKSPACE_DENY,
        Where("packbelt.yaml", 3),
    )
    assert one.ended
    assert one.widened
    away = only(of(found, "clerk").changes)  # it may not call it either way
    assert (away.kind, away.before, away.after) == ("moved", State.DENIED, State.OFF_BELT)
    assert not of(found, "clerk").felt


def test_a_new_tool_is_gained_and_widens_nothing(change):
    extra = '  - {name: file_copy, description: "Copies.", permission: write, input_schema: {type: object}}\n'
    found = change({"packs/files.yaml": dedent(BASE["packs/files.yaml"]) + extra})
    one = only(of(found, "orchestrator").changes)
    assert (one.kind, one.before, one.cause.rule) == ("gained", State.UNKNOWN, Rule.DEFAULT_TOOLS)
    assert not one.widened
    assert found.tools_new == ("file_copy",)
    assert of(found, "clerk").changes == ()  # it is withheld from it: nothing it could call came or went


def test_a_tool_that_goes_is_lost_with_the_line_where_it_was(change):
    lines = dedent(BASE["packs/files.yaml"]).splitlines(keepends=True)
    found = change({"packs/files.yaml": "".join(line for line in lines if "file_zip" not in line)})
    one = only(of(found, "orchestrator").changes)
    assert (one.kind, one.tool, one.after) == ("lost", "file_zip", State.UNKNOWN)
    assert (one.cause.rule, one.cause.where) == (Rule.NO_SUCH_TOOL, Where("packs/files.yaml", 7))
    assert found.tools_gone == ("file_zip",)


def test_moved_between_direct_and_packed_names_what_no_longer_holds(change):
    packed = edited("packs/files.yaml", "exposure: direct", "exposure: packed\ndirect: [file_zip]")
    away = edited("packs/files.yaml", "exposure: direct", "exposure: packed")
    one = only(of(change(away, packed), "orchestrator").changes)
    assert (one.kind, one.tool, one.before, one.after) == ("moved", "file_zip", State.DIRECT, State.PACKED)
    assert (one.cause.rule, one.cause.where, one.ended) == (
        Rule.PACK_DIRECT,
        Where("packs/files.yaml", 4),
        True,
    )


def test_moved_the_other_way_names_what_holds_now(change):
    packed = edited("packs/files.yaml", "exposure: direct", "exposure: packed\ndirect: [file_zip]")
    away = edited("packs/files.yaml", "exposure: direct", "exposure: packed")
    one = only(of(change(packed, away), "orchestrator").changes)
    assert (one.before, one.after, one.cause.rule, one.ended) == (
        State.PACKED,
        State.DIRECT,
        Rule.PACK_DIRECT,
        False,
    )


def test_a_hand_off_that_is_granted_is_a_tool_gained(change):
    found = change(
        {"prompts/agents/orchestrator.md": BASE["prompts/agents/orchestrator.md"]},
        edited("prompts/agents/orchestrator.md", "delegates: [clerk]", "delegates: []"),
    )
    one = only(of(found, "orchestrator").changes)
    assert (one.tool, one.kind, one.cause.rule) == ("delegate_to_clerk", "gained", Rule.AGENT_DELEGATES)
    assert one.widened


def test_a_definition_that_changed_is_named(change):
    files = edited("packs/files.yaml", "Reads a file.", "Reads all of a file.")
    assert change(files).tools_changed == ("file_read",)


def test_a_permission_that_changed_is_named(change):
    files = edited("packs/files.yaml", "Reads a file., permission: read", "Reads a file., permission: write")
    assert change(files).tools_changed == ("file_read",)


# servers and what is connected ----------------------------------------------------------------------------


@pytest.fixture
def weather():
    """Files with a server, the snapshot where it is connected, and the one where it is down."""
    import json

    files = {".mcp.json": json.dumps(WEATHER), "prompts/agents/clerk.md": SERVER}
    up = Snapshot().connect("weather", LISTED)
    return files, up, up.mark("weather", ServerStatus.FAILED, "it broke")


def test_a_server_that_comes_up_gains_and_widens_nothing(change, weather):
    files, up, down = weather
    one = only(of(change({}, files, old=down, new=up), "clerk").changes)
    assert (one.kind, one.tool, one.cause.rule, one.ended) == (
        "gained",
        "mcp__weather__forecast",
        Rule.SERVER_FAILED,
        True,
    )
    assert not one.widened


def test_a_server_that_fails_is_lost_to_those_who_had_it(change, weather):
    files, up, down = weather
    one = only(of(change({}, files, old=up, new=down), "clerk").changes)
    assert (one.kind, one.after, one.cause.rule) == ("lost", State.UNAVAILABLE, Rule.SERVER_FAILED)


def test_a_server_that_comes_up_and_is_opened_widens(change, weather):
    files, up, down = weather
    closed = {
        **files,
        "packbelt.yaml": "servers:\n  weather: {access: owners, owners: [orchestrator]}\n",
    }
    one = only(of(change({"packbelt.yaml": "opener: use_pack\n"}, closed, old=down, new=up), "clerk").changes)
    assert (one.kind, one.before) == ("gained", State.UNAVAILABLE)
    assert one.widened


# approval -------------------------------------------------------------------------------------------------


def test_an_approval_that_ends_widens(change):
    found = change(
        {"packbelt.yaml": "opener: use_pack\n"},
        {"packbelt.yaml": "opener: use_pack\napprove: [file_write]\n"},
    )
    one = of(found, "orchestrator")
    assert (one.unasked, one.asked, one.changes) == (("file_write",), (), ())
    assert one.widened == ("file_write",)
    assert not of(found, "clerk").differs  # it may not call it


def test_an_approval_that_begins_widens_nothing(change):
    found = change({"packbelt.yaml": "opener: use_pack\napprove: [file_write]\n"})
    one = of(found, "orchestrator")
    assert (one.unasked, one.asked, one.widened) == ((), ("file_write",), ())


# cost and cache -------------------------------------------------------------------------------------------


def test_tokens_are_those_of_the_two_turns(change, tmp_path):
    one = of(change({"packbelt.yaml": "opener: use_pack\ndeny: [file_zip]\n"}), "orchestrator")
    costs = [packbelt.turn(load(tmp_path / side), None, "orchestrator").cost for side in ("old", "new")]
    assert (one.tokens, one.tokens_now) == (costs[0].total, costs[1].total)
    assert one.delta == -dict(costs[0].lines)["file_zip"]


def test_the_prefix_ends_at_a_tool_that_goes(change, tmp_path):
    found = change({"packbelt.yaml": "opener: use_pack\ndeny: [file_write]\n"})
    prefix = of(found, "orchestrator").prefix
    cost = packbelt.turn(load(tmp_path / "old"), None, "orchestrator").cost
    names = [name for name, _ in cost.lines]
    assert names == ["delegate_to_clerk", "file_read", "file_write", "file_zip"]
    assert (prefix.kept, prefix.sent, prefix.breaks_at) == (2, 4, "file_write")
    assert prefix.kept_tokens == sum(tokens for _, tokens in cost.lines[:2])
    assert prefix.sent_tokens == sum(tokens for _, tokens in cost.lines)


def test_the_prefix_ends_at_a_tool_that_comes_between(change):
    found = change(
        {"packbelt.yaml": "opener: use_pack\n"}, {"packbelt.yaml": "opener: use_pack\ndeny: [file_write]\n"}
    )
    prefix = of(found, "orchestrator").prefix
    assert (prefix.kept, prefix.sent, prefix.breaks_at) == (2, 3, "file_write")


def test_a_tool_at_the_end_leaves_all_that_was_sent(change):
    found = change(
        {"packbelt.yaml": "opener: use_pack\n"}, {"packbelt.yaml": "opener: use_pack\ndeny: [file_zip]\n"}
    )
    prefix = of(found, "orchestrator").prefix
    assert (prefix.kept, prefix.sent, prefix.breaks_at) == (3, 3, "file_zip")
    assert prefix.kept_tokens == prefix.sent_tokens
    assert not prefix.whole


def test_a_prompt_that_changes_leaves_the_tools(change):
    prefix = of(change(edited("prompts/agents/clerk.md", "You file", "You always file")), "clerk").prefix
    assert (prefix.kept, prefix.breaks_at, prefix.prompt_stays, prefix.whole) == (1, None, False, False)


# agents ---------------------------------------------------------------------------------------------------


def test_an_agent_that_comes_gains_all_it_can_call(change):
    found = change({"prompts/agents/late.md": BASE["prompts/agents/clerk.md"]})
    one = of(found, "late")
    assert (one.before, one.after, one.tokens, one.prefix) == ("absent", "starts", None, None)
    assert [(change.tool, change.kind, change.before) for change in one.changes] == [
        ("file_read", "gained", None)
    ]
    assert one.widened == ()


def test_an_agent_that_goes_loses_all_it_could_call(change):
    found = change({"prompts/agents/clerk.md": None})
    one = of(found, "clerk")
    assert (one.before, one.after, one.tokens_now) == ("starts", "absent", None)
    assert [(change.tool, change.kind, change.after) for change in one.changes] == [
        ("file_read", "lost", None)
    ]


@pytest.mark.parametrize(
    "entry", ["null", "[nowhere/x]"], ids=["its file does not load", "an entry means nothing"]
)
def test_an_agent_that_cannot_start_loses_all_and_says_why(change, entry):
    found = change(edited("prompts/agents/clerk.md", "[file_read]", entry))
    one = of(found, "clerk")
    assert (one.before, one.after) == ("starts", "refused")
    assert one.refused[0].where == Where("prompts/agents/clerk.md", 3)
    assert [change.kind for change in one.changes] == ["lost"]
    assert one.changes[0].cause.where == Where("prompts/agents/clerk.md", 3)


# findings -------------------------------------------------------------------------------------------------


def test_findings_that_come_and_go(change):
    bad = edited("packs/files.yaml", "exposure: direct", "exposure: direct\nowners: [nobody]")
    assert [one.code for one in change(bad).found] == [Code.OWNER_UNKNOWN]
    back = change({"packs/files.yaml": BASE["packs/files.yaml"]}, bad)
    assert [one.code for one in back.mended] == [Code.OWNER_UNKNOWN]
    assert back.found == ()


def test_a_finding_whose_line_moved_is_no_new_one(change):
    bad = edited("packs/files.yaml", "exposure: direct", "exposure: direct\nowners: [nobody]")
    moved = {"packs/files.yaml": "# a comment\n" + bad["packs/files.yaml"]}
    assert change(moved, bad).empty


# on worlds that nobody thought of -------------------------------------------------------------------------


@settings(max_examples=40)
@given(worlds(), worlds())
def test_lost_and_gained_are_what_the_two_belts_say(one, other):
    found = diff(one.workspace, other.workspace, one.snapshot, other.snapshot)
    for each in found.agents:
        before, after = (_callable(world, each.agent) for world in (one, other))
        assert {change.id for change in each.of("lost")} == before - after
        assert {change.id for change in each.of("gained")} == after - before
        assert all(change.id not in before ^ after for change in each.of("moved"))
        assert set(each.widened) <= {
            *(change.tool for change in each.of("gained")),
            *each.unasked,
        }


@settings(max_examples=20)
@given(worlds())
def test_nothing_differs_from_itself(world):
    assert diff(world.workspace, world.workspace, world.snapshot, world.snapshot).empty


def _callable(world, agent):
    try:
        belt = packbelt.turn(world.workspace, world.snapshot, agent).belt
    except PackbeltError:
        return set()
    return {belt.registry.tools[i].id for i in bits(belt.callable)}


# what is worse --------------------------------------------------------------------------------------------


def costing(before, now):
    return Diff((AgentDiff("clerk", "starts", "starts", tokens=before, tokens_now=now),))


@pytest.mark.parametrize(
    ("limit", "now", "fails"),
    [
        ("cost:+5%", 105, False),
        ("cost:+5%", 106, True),
        ("cost:+0%", 100, False),
        ("cost:+0%", 101, True),
        ("cost:+2.5%", 102, False),
        ("cost:+2.5%", 103, True),
        ("cost:+20", 120, False),
        ("cost:+20", 121, True),
        ("cost:+5%", 10, False),
    ],
)
def test_a_limit_of_cost_is_still_fine(limit, now, fails):
    assert bool(worse(costing(100, now), conditions(limit))) is fails


def test_any_cost_is_too_much_in_percent_of_nothing():
    assert worse(costing(0, 1), conditions("cost:+500%"))[0].of == ("clerk (+1 token)",)


@pytest.mark.parametrize(
    "text", ["cost", "cost:5%", "cost:+", "cost:+x%", "cost:-5%", "loss", "lost widened"]
)
def test_what_is_no_condition_is_refused_with_a_mend(text):
    with pytest.raises(PackbeltError) as error:
        conditions(text)
    assert error.value.mend


def test_every_condition_of_the_table_is_one():
    names = ",".join(name if name != "cost" else "cost:+5%" for name in CONDITIONS)
    assert [one.name for one in conditions(names)] == list(CONDITIONS)
    assert worse(Diff(()), conditions(names)) == ()


def test_conditions_say_of_whom_they_hold(change):
    found = change(
        {
            "packbelt.yaml": "opener: use_pack\ndeny: [file_zip]\n",
            "prompts/agents/clerk.md": dedent(BASE["prompts/agents/clerk.md"]).replace(
                "[file_read]", "[file_read, file_write]"
            ),
            "packs/files.yaml": dedent(BASE["packs/files.yaml"]) + "owners: [nobody]\n",
        }
    )
    held = worse(found, conditions("lost, gained,widened,moved,errors"))
    assert {one.condition.name: one.of for one in held} == {
        "lost": ("orchestrator (1)",),
        "gained": ("clerk (1)",),
        "widened": ("clerk (1)",),
        "moved": ("clerk (1)",),
        "errors": ("1 new",),
    }


@pytest.mark.parametrize("empty", [True, False], ids=["with nothing to lose", "with tools"])
def test_an_agent_that_cannot_start_any_more_is_lost(change, empty):
    base = edited("prompts/agents/clerk.md", "[file_read]", "[]") if empty else {}
    broken = edited("prompts/agents/clerk.md", "[file_read]", "null")
    held = worse(change(broken, base), conditions("lost"))
    assert "clerk (cannot start)" in held[0].of
