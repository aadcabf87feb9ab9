"""What Claude Code's command line does with its options: the rows that the adapter relies on, on its own wire."""

import re
import sys
import warnings
from pathlib import Path

import anyio
import claude_wire
import pytest

pytest.importorskip("claude_agent_sdk", exc_type=ImportError)

from claude_agent_sdk import (
    AgentDefinition,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
)
from claude_session import Probe, call, isolated, session

from packbelt.providers import target
from packbelt.providers.claude_agent_sdk import init_names

HERE = Path(__file__).parent
ALPHA, BETA = "mcp__probe__alpha", "mcp__probe__beta"
GONE = "No such tool available"
OWN = [one.name for one in target("claude-agent-sdk").builtins]


def run(options, *steps, **more):
    return anyio.run(lambda: session(options, *steps, **more))


def probed(*names, **options):
    probe = Probe(*(names or ("alpha", "beta")))
    return probe, isolated(mcp_servers=probe.server(), **options)


def hook(decide, seen=None, event="PreToolUse"):
    async def decided(given, call_id, context):
        if seen is not None:
            seen.append((given["tool_name"], given.get("agent_type")))
        decision = decide(given["tool_name"])
        if decision is None:
            return {}
        said = {"hookEventName": event, "permissionDecision": decision, "permissionDecisionReason": "because"}
        return {"hookSpecificOutput": said}

    return {event: [HookMatcher(hooks=[decided], on_failure="block")]}


# what is shown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"tools": []}, [ALPHA, BETA]),
        ({"tools": ["Read"]}, ["Read", ALPHA, BETA]),
        ({"tools": ["Read", ALPHA]}, ["Read", ALPHA, BETA]),
        ({"tools": ["Reed", "Read"]}, ["Read", ALPHA, BETA]),
        ({"tools": [], "allowed_tools": [ALPHA], "permission_mode": "bypassPermissions"}, [ALPHA, BETA]),
        ({"tools": [], "allowed_tools": [ALPHA], "permission_mode": "dontAsk"}, [ALPHA, BETA]),
        ({"tools": [], "disallowed_tools": [BETA]}, [ALPHA]),
        ({"tools": [], "disallowed_tools": ["mcp__probe"]}, []),
        ({"tools": [], "disallowed_tools": ["mcp__probe__*"]}, []),
        ({"tools": [], "disallowed_tools": [BETA], "allowed_tools": [BETA]}, [ALPHA]),
        ({"tools": [], "disallowed_tools": ["mcp__probe__Beta", "probe/beta"]}, [ALPHA, BETA]),
    ],
    ids=str,
)
def test_only_a_deny_in_its_own_spelling_takes_a_servers_tool_away(options, shown):
    seen = run(probed(**options)[1])
    assert seen.shown == [shown]
    assert sorted(init_names(seen.init[0])) == sorted(shown)


def test_every_tool_of_the_descriptor_exists_and_is_selected_by_its_name():
    seen = run(isolated(tools=OWN))
    assert sorted(seen.shown[0]) == sorted(OWN)
    assert sorted(init_names(seen.init[0])) == sorted(OWN)
    default = run(isolated(tools={"type": "preset", "preset": "claude_code"}))
    assert set(default.shown[0]) <= set(OWN)


def test_no_tools_and_no_servers_is_no_tool_at_all():
    seen = run(isolated(tools=[]))
    assert seen.shown == [[]]


def test_tools_are_sorted_by_name_and_names_are_mapped_and_one_of_129_letters_is_dropped():
    fits = "n" * (128 - len("mcp__probe__"))
    seen = run(probed("zeta", "alpha", "with.dot", "ü", fits, f"{fits}n", tools=[])[1])
    names = ["alpha", "zeta", "with_dot", "_", fits]
    assert set(seen.shown[0]) == {f"mcp__probe__{name}" for name in names}
    alone = run(probed("zeta", "alpha", "mid", tools=[])[1])
    assert alone.shown[0] == ["mcp__probe__alpha", "mcp__probe__mid", "mcp__probe__zeta"]


def test_a_description_is_cut_where_the_descriptor_says():
    longest = target("claude-agent-sdk").longest_description
    shown = []
    for length in (longest, longest + 1):
        probe = Probe("alpha", description="d" * length)
        seen = run(isolated(tools=[], mcp_servers=probe.server()))
        shown.append(seen.bodies[0]["tools"][0]["description"])
    assert shown[0] == "d" * longest
    assert shown[1].rstrip("d") != ""
    assert shown[1].startswith("d" * longest)


def test_two_servers_of_one_mapped_name_shadow_each_other():
    one, other = Probe("x"), Probe("x")
    options = isolated(
        tools=[],
        mcp_servers={**one.server("a.b"), **other.server("a_b")},
        permission_mode="bypassPermissions",
    )
    seen = run(options, [call("1", "mcp__a_b__x")])
    assert seen.shown[0] == ["mcp__a_b__x"]
    assert len(one.ran + other.ran) == 1


# what runs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reads", "ran"),
    [
        ({}, "haven't granted it", []),
        ({"permission_mode": "dontAsk"}, "don't ask mode", []),
        ({"permission_mode": "bypassPermissions"}, "beta ran", ["beta"]),
        ({"permission_mode": "bypassPermissions", "disallowed_tools": [BETA]}, f"{GONE}: {BETA}", []),
        ({"allowed_tools": [ALPHA, BETA]}, "beta ran", ["beta"]),
        ({"allowed_tools": [BETA], "disallowed_tools": [BETA]}, GONE, []),
        ({"hooks": hook(lambda _: "deny"), "permission_mode": "bypassPermissions"}, "because", []),
        ({"hooks": hook(lambda _: "allow"), "permission_mode": "dontAsk"}, "beta ran", ["beta"]),
        ({"hooks": hook(lambda _: "allow"), "disallowed_tools": [BETA]}, GONE, []),
    ],
    ids=str,
)
def test_allow_lists_approve_and_never_deny_and_a_hooks_denial_holds_in_every_mode(options, reads, ran):
    allowed = {"allowed_tools": [ALPHA], **options}
    probe, made = probed(tools=[], **allowed)
    seen = run(made, [call("1", BETA)])
    assert reads in seen.read["1"]
    assert probe.ran == ran


def test_of_two_hooks_the_denial_wins():
    seen_by = []
    ours, theirs = hook(lambda _: "deny"), hook(lambda _: "allow", seen_by)
    for first, second in ((ours, theirs), (theirs, ours)):
        both = {"PreToolUse": [*first["PreToolUse"], *second["PreToolUse"]]}
        probe, options = probed(tools=[], hooks=both, permission_mode="bypassPermissions")
        seen = run(options, [call("1", BETA)])
        assert "because" in seen.read["1"]
        assert probe.ran == []
    assert len(seen_by) == 2


def test_a_hook_that_fails_blocks_in_every_mode():
    def broken(name):
        raise RuntimeError

    probe, options = probed(tools=[], hooks=hook(broken), permission_mode="bypassPermissions")
    seen = run(options, [call("1", ALPHA)])
    assert "blocking" in seen.read["1"]
    assert probe.ran == []


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"])
def test_a_hook_that_asks_reaches_can_use_tool_in_every_mode(mode):
    asked = []

    async def can_use_tool(name, arguments, context):
        asked.append((name, context.tool_use_id))
        return PermissionResultAllow() if name == ALPHA else PermissionResultDeny(message="a person said no")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that bypassPermissions shadows the callback
        probe, options = probed(
            tools=[], hooks=hook(lambda _: "ask"), can_use_tool=can_use_tool, permission_mode=mode
        )
        seen = run(options, [call("1", ALPHA), call("2", BETA)])
    assert asked == [(ALPHA, "1"), (BETA, "2")]
    assert "alpha ran" in seen.read["1"]
    assert seen.read["2"] == "a person said no"
    assert probe.ran == ["alpha"]


def test_an_unknown_name_reaches_no_hook_but_the_one_after_the_batch():
    before, after = [], []

    async def batch(given, call_id, context):
        after.extend(
            (one["tool_name"], one["tool_use_id"], one["tool_response"]) for one in given["tool_calls"]
        )
        return {
            "hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": "words of a hook"}
        }

    hooks = {**hook(lambda _: None, before), "PostToolBatch": [HookMatcher(hooks=[batch])]}
    probe, options = probed(tools=[], hooks=hooks, permission_mode="bypassPermissions")
    seen = run(options, [call("1", "mcp__probe__gamma"), call("2", "Read", file_path="x"), call("3", ALPHA)])
    assert [name for name, _ in before] == [ALPHA]
    assert [(name, id_) for name, id_, _ in after] == [
        ("mcp__probe__gamma", "1"),
        ("Read", "2"),
        (ALPHA, "3"),
    ]
    assert all(GONE in str(said) for _, id_, said in after if id_ in "12")
    assert seen.denials == []
    assert GONE in seen.read["1"]
    assert "words of a hook" in str(seen.bodies[-1]["messages"])
    assert probe.ran == ["alpha"]


def test_its_own_tool_that_is_not_selected_is_none():
    seen = run(
        isolated(tools=["Read"], permission_mode="bypassPermissions"),
        [call("1", "Write", file_path="x", content="")],
    )
    assert f"{GONE}: Write" in seen.read["1"]


def test_reading_runs_though_nothing_allows_it(tmp_path):
    (tmp_path / "a.txt").write_text("the words")
    options = isolated(tools=["Read"], permission_mode="dontAsk", cwd=tmp_path)
    assert "the words" in run(options, [call("1", "Read", file_path=str(tmp_path / "a.txt"))]).read["1"]


# late tools and sub-agents --------------------------------------------------------------------------------


def test_a_server_in_this_process_is_listed_once_in_a_session():
    probe, options = probed(tools=[], permission_mode="bypassPermissions")

    async def arrive(place):
        probe.names.append("late")

    seen = run(
        options, [call("1", ALPHA)], [call("2", "mcp__probe__late")], [], prompts=("go", "again"), then=arrive
    )
    assert all(shown == [ALPHA, BETA] for shown in seen.shown)
    assert GONE in seen.read["2"]
    assert probe.ran == ["alpha"]


@pytest.mark.parametrize(
    ("denied", "shows", "ran"),
    [([], True, ["alpha", "late"]), (["mcp__growing__late"], False, ["alpha"])],
    ids=str,
)
def test_a_server_of_its_own_may_add_a_tool_and_only_a_deny_keeps_it_out(tmp_path, denied, shows, ran):
    log = tmp_path / "log"
    server = {"command": sys.executable, "args": ["-S", str(HERE / "growing_server.py"), str(log)]}
    options = isolated(
        tools=[],
        mcp_servers={"growing": server},
        disallowed_tools=denied,
        permission_mode="bypassPermissions",
    )
    alpha = [call("1", "mcp__growing__alpha")]
    seen = run(options, [], alpha, [], [call("2", "mcp__growing__late")], prompts=("wait", "go", "more"))
    assert ("mcp__growing__late" in seen.shown[-1]) is shows
    assert log.read_text().split() == ran


def test_a_server_that_fails_is_said_only_at_the_start():
    options = isolated(tools=[], mcp_servers={"dead": {"type": "stdio", "command": "/nowhere/server"}})
    seen = run(options)
    assert seen.text == "done"
    assert {one["name"]: one["status"] for one in seen.init[-1]["mcp_servers"]}["dead"] != "connected"


def test_a_sub_agents_list_is_an_allow_list_and_the_sessions_denies_and_hooks_bind_it():
    seen_by = []
    agents = {
        "helper": AgentDefinition(
            description="Helps.", prompt="You help.", tools=[ALPHA, BETA, "Write"], background=False
        )
    }
    probe = Probe("alpha", "beta", "gamma")
    options = isolated(
        tools=["Agent"],
        mcp_servers=probe.server(),
        agents=agents,
        disallowed_tools=[BETA],
        hooks=hook(lambda _: None, seen_by),
        permission_mode="bypassPermissions",
    )
    start = call("1", "Agent", description="d", prompt="p", subagent_type="helper", run_in_background=False)
    seen = run(options, [start], [call("2", ALPHA), call("3", BETA), call("4", "mcp__probe__gamma")])
    assert seen.shown[1] == [ALPHA]
    assert (ALPHA, "helper") in seen_by
    read = claude_wire.read(seen.bodies[2])
    assert "alpha ran" in read["2"]
    assert GONE in read["3"]
    assert GONE in read["4"]
    assert probe.ran == ["alpha"]


# what a result becomes ------------------------------------------------------------------------------------


def test_the_calls_id_and_the_size_of_a_result_travel_in_meta():
    """`claudecode/toolUseId` says which call it is; `anthropic/maxResultSizeChars` keeps a long result whole."""
    import mcp_types as t
    from mcp.server.lowlevel import Server

    ids, long = [], "word " * 40_000

    async def listed(ctx, params):
        schema = {"type": "object", "properties": {}}
        long_ = t.Tool(name="long", input_schema=schema, _meta={"anthropic/maxResultSizeChars": 500_000})
        return t.ListToolsResult(
            tools=[long_, t.Tool(name="cut", input_schema=schema), t.Tool(name="both", input_schema=schema)]
        )

    async def called(ctx, params):
        ids.append(params.meta["claudecode/toolUseId"])
        if params.name == "both":
            return t.CallToolResult(
                content=[t.TextContent(type="text", text="words")], structured_content={"k": 1}
            )
        return t.CallToolResult(content=[t.TextContent(type="text", text=long)])

    server = {
        "probe": {
            "type": "sdk",
            "name": "probe",
            "instance": Server("probe", on_list_tools=listed, on_call_tool=called),
        }
    }
    options = isolated(tools=[], mcp_servers=server, permission_mode="bypassPermissions")
    calls = [call("1", "mcp__probe__long"), call("2", "mcp__probe__cut"), call("3", "mcp__probe__both")]
    seen = run(options, calls)
    assert sorted(ids) == ["1", "2", "3"]
    assert seen.read["1"] == long
    assert re.search(r"too large|persisted", seen.read["2"])
    assert seen.read["3"] == '{"k":1}'
