"""The opener, its listing and the search; and the bugs of the real opener (tool_packs.md, section 6.2)."""

import json

import pytest

from packbelt.belt import FIND_TOOLS, Denial, admit, find_tools, index_lines, listing, resolve
from packbelt.catalog.workspace import Budget
from packbelt.model import Call, HandOff, HintClass, Refusal
from packbelt.model.text import LIMIT
from packbelt.testing import (
    agent,
    assert_belt,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    policy,
    schema,
    server_tool,
)

TOOLS = [
    native("z_first", "Does the first.", schema("query")),
    native("a_second", "Does\nthe second.", schema()),
    native("direct_one", "Is sent.", schema()),
    native("guarded", "Is dangerous.", permission="dangerous"),
]
PACK = pack(
    "p",
    ["z_first", "direct_one", "guarded", "a_second"],
    summary="A pack.",
    direct=["direct_one"],
    guide="First this, then that.",
)


@pytest.fixture
def belt():
    return make_belt(make_workspace(tools=TOOLS, packs=[PACK]))


def test_a_listing_is_summary_guide_and_the_packed_tools_in_the_order_of_the_pack(belt):
    assert listing(belt, "p") == (
        "p: A pack.\n\n"
        "First this, then that.\n\n"
        'Call: use_pack(pack="p", tool="<name>", arguments={...}), or the tool by its name.\n\n'
        "z_first: Does the first.\n"
        '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}\n\n'
        "a_second: Does the second.\n"
        '{"type":"object","properties":{},"required":[]}'
    )


@pytest.mark.parametrize("tool", [{}, {"tool": ""}, {"tool": None}])
def test_bug40_without_a_tool_or_with_an_empty_one_the_pack_is_listed(belt, tool):
    admitted = admit(belt, "use_pack", {"pack": "p", **tool})
    assert isinstance(admitted, Call)
    assert admitted.answer == listing(belt, "p")


@pytest.mark.parametrize("arguments", [{"query": "x"}, '{"query": "x"}'])
def test_arguments_are_an_object_or_the_json_of_one(belt, arguments):
    call = admit(belt, "use_pack", {"pack": "p", "tool": "z_first", "arguments": arguments})
    assert (call.tool.name, call.arguments) == ("z_first", {"query": "x"})
    assert admit(belt, "use_pack", json.dumps({"pack": "p", "tool": "a_second"})).arguments == {}


@pytest.mark.parametrize("arguments", ["junk{", "[1]", {"query": 3}, {}])
def test_arguments_are_validated_against_the_inner_schema(belt, arguments):
    denial = admit(belt, "use_pack", {"pack": "p", "tool": "z_first", "arguments": arguments})
    assert denial.kind is HintClass.INVALID_ARGUMENTS
    assert denial.name == "z_first"


def test_a_packed_tool_also_runs_by_its_exact_name(belt):
    """Bug 12: listings give names that can be called; bug 2: put away is not denied."""
    assert isinstance(admit(belt, "z_first", {"query": "x"}), Call)


def test_bug03_and_bug04_the_listing_and_the_gate_read_one_mask(belt):
    assert "guarded" not in listing(belt, "p")
    assert admit(belt, "use_pack", {"pack": "p", "tool": "guarded"}).kind is HintClass.OVER_CEILING


def test_bug05_a_ceiling_is_not_lost_behind_the_opener():
    packs = [pack("p", ["guarded", "a_second"])]
    belt = make_belt(make_workspace(tools=TOOLS, packs=packs, ceiling="read"))
    for called, arguments in (("guarded", {}), ("use_pack", {"pack": "p", "tool": "guarded"})):
        assert admit(belt, called, arguments).kind is HintClass.OVER_CEILING


def test_bug06_the_index_holds_only_packs_that_this_reader_can_use():
    packs = [pack("mine", ["a_second"], summary="Mine."), pack("theirs", ["guarded"], summary="Theirs.")]
    belt = make_belt(make_workspace(tools=TOOLS, packs=packs))
    assert index_lines(belt) == ["mine: Mine."]
    assert "Theirs" not in belt.opener.description


def test_bug07_one_dangerous_member_does_not_hide_the_opener():
    belt = make_belt(make_workspace(tools=TOOLS, packs=[pack("p", ["guarded", "a_second"])], ceiling="read"))
    assert belt.opener
    assert admit(belt, "use_pack", {"pack": "p"}).answer


def test_bug08_packed_hand_offs_are_reached_through_the_opener():
    people = [agent("orchestrator", delegates="*"), agent("helper", handoff="ask_helper")]
    belt = make_belt(make_workspace(packs=[pack("p", ["ask_helper"], summary="Unseen.")], agents=people))
    assert index_lines(belt) == ["p: hands off by ask_helper"]
    inner = {"pack": "p", "tool": "ask_helper", "arguments": {"request": "do it"}}
    assert resolve(belt, "use_pack", inner) == HandOff(belt["ask_helper"].tool, "helper", "do it")


def test_bug11_and_ad_identity_is_source_and_name():
    """A host's own `read_file` and a server's are two tools; a deny of one leaves the other."""
    snapshot = make_snapshot({"fs": ["read_file"]})
    belt = make_belt(make_workspace(tools=["read_file"], deny=["fs/read_file"]), snapshot)
    assert_belt(belt, direct=["read_file"], not_callable=["fs/read_file"])
    assert admit(belt, "read_file", {}).tool.id.source == "native"


def test_a_plain_name_inside_a_server_pack_is_that_servers_tool():
    workspace = make_workspace(tools=["read_file"], policies={"*": policy(exposure="packed")})
    belt = make_belt(workspace, make_snapshot({"fs": ["read_file"], "other": ["read_file"]}))
    inner = {"pack": "mcp:fs", "tool": "read_file"}
    assert admit(belt, "use_pack", inner).tool.id.source == "server:fs"
    assert admit(belt, "use_pack", {"pack": "mcp:fs", "tool": "mcp__other__read_file"}).kind == "wrong_pack"


def test_an_unknown_pack_gets_the_index(belt):
    refusal = resolve(belt, "use_pack", {"pack": "nope"})
    assert isinstance(refusal, Refusal)
    assert refusal.hint.kind is HintClass.UNKNOWN
    assert refusal.hint.text.endswith("Packs you can open:\n- p: A pack.")


def test_the_opener_has_no_enum_and_keeps_its_bytes_when_servers_come(belt):
    workspace = belt.registry.workspace
    packed = make_workspace(tools=TOOLS, packs=[PACK], policies={"*": policy(exposure="packed")})
    late = make_belt(packed, make_snapshot({"srv": ["a"]}))
    assert late.opener.line == belt.opener.line
    assert "enum" not in belt.opener.line
    assert "mcp:srv: 1 tool of MCP server srv: a" in index_lines(late)
    assert workspace.config.opener == belt.opener.name


def test_a_server_without_words_of_its_own_is_told_by_its_tools_and_a_listing_names_them_once():
    packed = make_workspace(policies={"*": policy(exposure="packed")})
    names = [f"{n:03}".ljust(LIMIT // 10, "x") for n in range(14)]
    belt = make_belt(packed, make_snapshot({"srv": names, "tame": ["`<b>`\nrun"]}))
    lines = dict(line.split(": ", 1) for line in index_lines(belt))
    assert lines["mcp:srv"] == f"14 tools of MCP server srv: {', '.join(names[:10])} and 4 more"
    assert not set("`<>\n") & set(lines["mcp:tame"])
    assert listing(belt, "mcp:srv").startswith("mcp:srv: 14 tools of MCP server srv\n\nCall: ")


def test_a_server_says_of_itself_what_it_does_on_one_harmless_line():
    workspace = make_workspace(policies={"*": policy(exposure="packed")})
    snapshot = make_snapshot({"srv": ["a"]}, instructions={"srv": "# Weather\n<b>only</b> `here`"})
    line = index_lines(make_belt(workspace, snapshot))[0]
    assert "\n" not in line
    assert not set("<>`") & set(line)
    assert "Weather" in line


def test_a_reserved_pack_is_not_listed_and_opening_it_leads_to_the_hand_off():
    packs = [pack("p", ["a_second"], access="owners", owners=["boss"]), pack("q", ["z_first"])]
    people = [agent("orchestrator", delegates="*"), agent("boss", tools=["*"])]
    belt = make_belt(make_workspace(tools=TOOLS, packs=packs, agents=people))
    assert [line.partition(":")[0] for line in index_lines(belt)] == ["q"]
    denial = admit(belt, "use_pack", {"pack": "p"})
    assert isinstance(denial, Denial)
    assert denial.kind is HintClass.RESERVED
    refusal = resolve(belt, "use_pack", {"pack": "p"})
    assert [offer.tool for offer in refusal.hint.suggestions] == ["delegate_to_boss"]


def wide_tools(count, letters):
    wide = {"field": {"type": "string", "description": "x" * letters}}
    return [
        server_tool(f"t{i:03}", f"Does it {i}.", {"type": "object", "properties": wide}) for i in range(count)
    ]


def opened(tools, query=None):
    workspace = make_workspace(budget=Budget(server_tokens=1))
    belt = make_belt(workspace, make_snapshot({"s": tools}))
    asked = {"pack": "mcp:s", **({"arguments": {"query": query}} if query else {})}
    return admit(belt, "use_pack", asked).answer


def test_a_short_listing_has_every_schema():
    text = opened(wide_tools(5, 100))
    assert text.count('"field"') == 5
    assert "more;" not in text


def test_a_long_listing_keeps_every_name_on_a_line_of_its_own_and_stays_short():
    text = opened(wide_tools(400, 3000))
    names = [line.partition(":")[0] for line in text.splitlines() if line.startswith("mcp__s__t")]
    assert names == [f"mcp__s__t{i:03}" for i in range(400)]
    assert text.count('"field"') == 5
    assert "395 more;" in text
    assert len(text) < 40_000


def test_a_query_lists_what_fits_with_its_schema():
    text = opened(wide_tools(400, 3000), query="t399")
    assert "mcp__s__t399: Does it 399.\n{" in text
    assert "mcp__s__t001" not in text
    assert "No tool of it fits." in opened(wide_tools(3, 10), query="zebra")


def test_find_tools_finds_by_what_a_tool_does_and_an_exact_name_first():
    tools = [
        native("invoice_create", "Writes a bill to a customer."),
        native("invoice_list", "Shows all bills."),
        native("weather", "Tells the forecast for a city."),
    ]
    packs = [pack("p", [tool.name for tool in tools], exposure="deferred")]
    belt = make_belt(make_workspace(tools=tools, packs=packs))
    assert [tool.name for tool in find_tools(belt, "forecast for Rome")] == ["weather"]
    assert find_tools(belt, "invoice_list")[0].name == "invoice_list"
    assert {t.name for t in find_tools(belt, "bill invoices")} == {"invoice_create", "invoice_list"}
    answer = admit(belt, FIND_TOOLS, {"query": "forecast"}).answer
    assert "weather: Tells the forecast for a city." in answer
    assert admit(belt, FIND_TOOLS, {"query": "qqqq zzzz"}).answer.startswith("No tool fits.")


def test_bug31_what_the_search_finds_can_be_called_and_nothing_else_is_found():
    tools = [
        native("open_it", "Opens the door."),
        native("break_it", "Opens by force.", permission="dangerous"),
    ]
    packs = [pack("p", ["open_it", "break_it"], exposure="deferred")]
    belt = make_belt(make_workspace(tools=tools, packs=packs))
    assert [tool.name for tool in find_tools(belt, "opens")] == ["open_it"]
    assert isinstance(admit(belt, "open_it", {}), Call)


def test_bug32_the_opener_is_dispatched_where_it_is_advertised(belt):
    assert belt.opener in belt.tools
    assert isinstance(admit(belt, belt.opener.wire_name, {"pack": "p"}), Call)


def test_bug26b_an_agent_without_tools_gets_no_opener():
    workspace = make_workspace(tools=TOOLS, packs=[PACK], agents=[agent("orchestrator", tools=[])])
    belt = make_belt(workspace)
    assert belt.tools == ()
    assert belt.opener is None


def test_another_name_for_the_opener():
    belt = make_belt(make_workspace(tools=TOOLS, packs=[PACK], opener="open_box"))
    assert belt.opener.name == "open_box"
    assert "open_box(pack=" in listing(belt, "p")
    assert admit(belt, "use_pack", {"pack": "p"}).kind is HintClass.UNKNOWN
