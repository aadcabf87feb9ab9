"""claude-agent-sdk: what its fields say, and which tools of its own are on a belt. No SDK is needed."""

import pytest
from hypothesis import given
from proofs import proves

import packbelt
from packbelt.belt import Scope
from packbelt.belt.hints import hint_for
from packbelt.catalog.claude_tools import BUILTIN
from packbelt.model import CODES, AgentRefusedError, Code, HintClass, State
from packbelt.providers import Axis, CompileError, TargetError, compile_belt, target, with_builtins
from packbelt.providers.claude_agent_sdk import init_names
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, pack
from packbelt.testing.strategies import worlds
from packbelt.turn import Turn

TARGET = "claude-agent-sdk"
OWN = [one.name for one in target(TARGET).builtins]
READING = [one.name for one in target(TARGET).builtins if str(one.permission) == "read"]


def form_of(workspace, snapshot=None, who="orchestrator", **options):
    return Turn(make_belt(workspace, snapshot, who)).compile(TARGET, **options)


def one_agent(*, natives=(), servers=(), **keys):
    config = {key: keys.pop(key) for key in ("deny", "approve", "ceiling", "default_tools") if key in keys}
    packs = keys.pop("packs", ())
    return make_workspace(
        tools=list(natives),
        agents=[agent("orchestrator", **keys)],
        servers=list(servers),
        packs=list(packs),
        **config,
    )


# its own tools --------------------------------------------------------------------------------------------


def test_ad01_ad26_absent_and_empty_and_a_list_of_its_own_tools_never_collapse():
    seen = {
        str(tools): form_of(one_agent(tools=tools)).kwargs["tools"]
        for tools in (None, [], ["Read"], ["Write", "Read"], ["*"])
    }
    assert seen == {
        "None": OWN,
        "[]": [],
        "['Read']": ["Read"],
        "['Write', 'Read']": ["Read", "Write"],
        "['*']": OWN,
    }
    assert form_of(one_agent(default_tools="none")).kwargs["tools"] == []


@pytest.mark.parametrize(
    ("keys", "gone"),
    [
        ({"disallowed_tools": ["Bash"]}, {"Bash"}),
        ({"deny": ["Bash"]}, {"Bash"}),
        ({"deny": ["Task*"]}, {name for name in OWN if name.startswith("Task")}),
        ({"deny": ["*"]}, set(OWN)),
        ({"ceiling": "read"}, set(OWN) - set(READING)),
        ({"ceiling": "none"}, set(OWN)),
        ({"tools": ["Bash", "Read"], "disallowed_tools": ["Bash"]}, set(OWN) - {"Read"}),
    ],
)
def test_ad03_denies_globs_and_ceilings_of_every_place_bind_its_own_tools(keys, gone):
    form = form_of(one_agent(**keys))
    assert set(form.kwargs["tools"]) == set(OWN) - gone
    assert set(form.kwargs["disallowed_tools"]) == gone
    assert set(form.kwargs["allowed_tools"]) == set(OWN) - gone


def test_what_spawns_and_the_snapshot_cut_binds_its_own_tools():
    workspace = make_workspace(agents=[agent("orchestrator", delegates=["low"]), agent("low")])
    below = Scope("orchestrator").spawn("low", deny=["Bash"], tools=["Bash", "Read", "Edit"], ceiling="read")
    assert form_of(workspace, None, below).kwargs["tools"] == ["Read"]
    denied = packbelt.Snapshot.from_data({"deny": ["Re*"]})
    assert set(OWN) - set(form_of(workspace, denied).kwargs["tools"]) == {"Read", "ReportFindings"}


def test_a_call_of_its_own_tool_that_is_denied_is_not_called_unknown():
    belt, _ = with_builtins(make_belt(one_agent(deny=["Bash"]), None, "orchestrator"), TARGET)
    found = hint_for(belt, "Bash")
    assert found.kind is HintClass.DENIED


def test_its_own_tools_are_known_only_when_compiling_for_it():
    workspace = one_agent(natives=["a"], tools=["a", "Read"])
    turn = packbelt.turn(workspace, None, "orchestrator")
    assert "Read" not in turn.belt
    (note,) = turn.diagnostics
    assert note.code is Code.AGENT_BUILTIN
    assert [tool["name"] for tool in turn.compile("anthropic").kwargs["tools"]] == ["a"]
    assert turn.compile(TARGET).kwargs["tools"] == ["Read"]


@pytest.mark.parametrize("key", ["tools", "disallowed_tools"])
def test_a_name_that_is_not_one_of_them_still_refuses_the_start(key):
    with pytest.raises(AgentRefusedError, match="Reed"):
        packbelt.turn(one_agent(**{key: ["Reed"]}), None, "orchestrator")


def test_a_namesake_is_refused_and_names_both():
    natives = one_agent(natives=["Read"])
    with pytest.raises(CompileError, match=r"Claude Agent SDK's own tool Read is called like native:Read"):
        form_of(natives)
    form = form_of(natives, strict=False)
    assert form.kwargs["tools"] == [name for name in OWN if name != "Read"]
    assert "mcp__packbelt__Read" in form.enforcement.plan
    assert form.kwargs["disallowed_tools"] == ["Read"]
    assert [one.name for one in form.diagnostics] == ["Read"]
    handoffs = make_workspace(agents=[agent("orchestrator", delegates=["w"]), agent("w", handoff="Write")])
    with pytest.raises(CompileError, match=r"own tool Write is called like handoff:Write"):
        form_of(handoffs)


@given(world=worlds())
def test_law1_knowing_its_own_tools_moves_nothing_and_each_is_shown_or_denied(world):
    belt = world.belt()
    form, plain = Turn(belt).compile(TARGET, strict=False), compile_belt(belt, TARGET, strict=False)
    assert [name for name in form.enforcement.plan if name not in OWN] == list(plain.enforcement.plan)
    known, left_out = with_builtins(belt, TARGET, strict=False)
    mine = set(OWN) - {one.name for one in left_out}
    assert {*form.kwargs["tools"], *form.kwargs["disallowed_tools"]} == set(OWN)
    assert mine.issuperset(form.kwargs["tools"])
    for name in mine:
        assert (known[name].state is State.DIRECT) is (name in form.kwargs["tools"])
        assert name not in belt
    assert [known[name].state for name in belt] == [belt[name].state for name in belt]


def test_every_one_of_them_is_known_to_the_files():
    assert set(OWN) <= BUILTIN
    assert len(OWN) == len(set(OWN))
    assert Code.AGENT_BUILTIN in CODES


# the gateway ----------------------------------------------------------------------------------------------


@proves(TARGET, Axis.VISIBLE, Axis.AUTO_APPROVED)
def test_the_fields_go_together():
    workspace = one_agent(
        natives=["note", "pay"],
        servers=["s"],
        tools=["note", "pay", "s/x", "Read", "Bash"],
        approve=["pay", "Bash"],
    )
    form = form_of(workspace, make_snapshot({"s": ["x", "y"]}))
    assert form.kwargs == {
        "tools": ["Bash", "Read"],
        "disallowed_tools": [name for name in OWN if name not in ("Bash", "Read")],
        "allowed_tools": ["Read", "mcp__packbelt__note", "mcp__packbelt__mcp__s__x"],
        "permission_mode": "default",
        "strict_mcp_config": True,
        "setting_sources": [],
        "env": {"CLAUDE_CODE_SIMPLE": "0", "ENABLE_TOOL_SEARCH": "false"},
        "system_prompt": {"type": "custom", "prompt": form.system, "snapshot": False},
    }
    assert [tool.wire_name for tool in form.tools] == ["note", "pay", "mcp__s__x"]
    assert set(form.enforcement.plan) == {
        "Bash",
        "Read",
        *map("mcp__packbelt__{}".format, ("note", "pay", "mcp__s__x")),
    }
    assert form.names.unspell("mcp__packbelt__note") == "note"
    assert form.enforcement.residue == ()


def test_an_empty_belt_is_written_out():
    form = form_of(one_agent(natives=["a"], tools=[]))
    assert (form.kwargs["tools"], form.kwargs["allowed_tools"], form.tools) == ([], [], ())
    assert form.kwargs["disallowed_tools"] == OWN
    form.enforcement.verify([])


def test_prompt_and_opener_speak_its_spelling():
    packs = [pack("box", ["weigh"], exposure="packed", summary="Things.")]
    form = form_of(one_agent(natives=["weigh"], packs=packs, tools=["pack:box"]))
    assert "`mcp__packbelt__use_pack`" in form.system
    (opener,) = form.tools
    assert opener.wire_name == "use_pack"
    assert "`use_pack`" not in form.system


def test_nm09_the_limit_counts_the_prefix():
    long = "x" * 64
    assert form_of(one_agent(natives=[long], tools=[long])).enforcement.plan == (f"mcp__packbelt__{long}",)
    server = "s" * 60
    assert servers_form({server: ["t" * 61]}, [f"{server}/*"]).enforcement.plan == (
        f"mcp__{server}__{'t' * 61}",
    )
    with pytest.raises(CompileError, match="129 letters of 128"):
        servers_form({server: ["t" * 62]}, [f"{server}/*"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"way": "both"}, "'both' is no way"),
        ({"server": "my server"}, "'my server' is no name"),
        ({"mode": 1}, "no option 'mode'"),
    ],
)
def test_options_that_are_none_are_refused(options, words):
    with pytest.raises(TargetError, match=words):
        form_of(one_agent(), **options)


# servers of its own ---------------------------------------------------------------------------------------


def servers_form(servers, tools, **options):
    workspace = one_agent(servers=list(servers), tools=tools)
    return form_of(workspace, make_snapshot(servers), way="servers", **options)


def test_names_are_claudes_own_mapping_and_the_rest_is_denied_in_it():
    tools = ["my server.v2/with.dot"]
    form = servers_form({"my server.v2": ["with.dot", "ü"], "other": ["x"]}, tools)
    assert form.enforcement.plan == ("mcp__my_server_v2__with_dot",)
    assert form.kwargs["disallowed_tools"] == [*OWN, "mcp__other", "mcp__my_server_v2___"]


def test_ad17_what_bypass_would_run_is_refused():
    """Allow-only and bypassPermissions: all that is shown would run."""
    with pytest.raises(CompileError, match=r"bypassPermissions.* adds later"):
        servers_form({"srv": ["a", "b"]}, ["Read", "srv/a"], permission_mode="bypassPermissions")
    asked = one_agent(tools=["Bash"], approve=["Bash"])
    with pytest.raises(CompileError, match=r"bypassPermissions.*must approve builtin:Bash"):
        form_of(asked, permission_mode="bypassPermissions")
    form = servers_form({"srv": ["a", "b"]}, ["Read", "srv/a"])
    assert form.kwargs["tools"] == ["Read"]
    assert "mcp__srv__b" in form.kwargs["disallowed_tools"]
    assert form.kwargs["permission_mode"] == "default"
    gated = form_of(
        one_agent(natives=["pay"], tools=["pay"], approve=["pay"]), permission_mode="bypassPermissions"
    )
    assert gated.kwargs["allowed_tools"] == []  # the gate asks, whatever the mode


@pytest.mark.parametrize(
    ("servers", "tools", "left"),
    [
        ({"a.b": ["x"], "a_b": ["x"]}, ["a.b/x"], ()),
        ({"s": ["search.a", "search_a", "ok"]}, ["s/*"], ("mcp__s__ok",)),
    ],
)
def test_nm03_names_that_collide_in_its_mapping_are_refused_and_name_both(servers, tools, left):
    with pytest.raises(CompileError, match=r"server:\S+ and server:\S+ would both be"):
        servers_form(servers, tools)
    form = servers_form(servers, tools, strict=False)
    assert form.enforcement.plan == left
    assert form.diagnostics


def test_what_is_no_servers_tool_does_not_exist_there():
    workspace = one_agent(natives=["web_search"], servers=["s"], tools=["web_search", "s/x"])
    snapshot = make_snapshot({"s": ["x"]})
    with pytest.raises(CompileError, match=r"native:web_search .* has no counterpart in Claude Agent SDK"):
        form_of(workspace, snapshot, way="servers")
    form = form_of(workspace, snapshot, way="servers", strict=False)
    assert form.enforcement.plan == ("mcp__s__x",)
    assert [one.name for one in form.diagnostics] == ["web_search"]


def test_a_whole_server_is_denied_only_where_no_longer_name_suffers():
    form = servers_form({"a": ["x"], "a__b": ["y"], "c": ["z"]}, ["a__b/y"])
    assert form.enforcement.plan == ("mcp__a__b__y",)
    assert form.kwargs["disallowed_tools"] == [*OWN, "mcp__c", "mcp__a__x"]


def test_claude_calls_one_of_its_tools_otherwise_in_what_it_says_it_has():
    assert init_names({"tools": ["Task", "Read"]}) == ["Agent", "Read"]


# hand-offs ------------------------------------------------------------------------------------------------


def test_hand_offs_are_tools_or_its_own_sub_agents():
    def fleet(tools):
        return make_workspace(
            agents=[agent("orchestrator", delegates=["w"], tools=tools), agent("w", handoff="ask_w")]
        )

    run, agents = (form_of(fleet(["Agent"]), handoffs=way) for way in ("run", "agents"))
    assert run.enforcement.plan == ("Agent", "mcp__packbelt__ask_w")
    assert agents.enforcement.plan == ("Agent",)
    assert agents.kwargs["allowed_tools"] == ["Agent"]
    assert agents.tools == ()
    assert agents.system.endswith("with one of these as its `subagent_type`: ask_w.")
    assert agents.names.spell("ask_w") == "ask_w"
    with pytest.raises(CompileError, match=r"'Agent', which is not on the belt"):
        form_of(fleet([]), handoffs="agents")
    with pytest.raises(CompileError, match=r"handoffs='agents'.*way='gateway'"):
        form_of(fleet(["Agent"]), handoffs="agents", way="servers")
    with pytest.raises(TargetError, match="no way to hand off"):
        form_of(fleet(["Agent"]), handoffs="both")
