"""A server's tool by another name than its wire name: what is said, and what people's commands find."""

import pytest

from packbelt.belt import Scope, belt_of, hint_for
from packbelt.catalog.registry import bind
from packbelt.model import Code
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace


@pytest.fixture
def belt():
    workspace = make_workspace(agents=[agent("orchestrator", inline=["every.thing"])])
    snapshot = make_snapshot(
        {"git": ["git_log"], "orchestrator.every.thing": ["echo"]},
        status={"dies": "failed"},
        errors={"dies": "exited with 3: no API key"},
    )
    return make_belt(workspace, snapshot, "orchestrator")


@pytest.mark.parametrize(
    ("said", "server"),
    [
        ("mcp__every_thing__echo", "orchestrator.every.thing"),
        ("every.thing/echo", "orchestrator.every.thing"),
        ("orchestrator.every.thing/echo", "orchestrator.every.thing"),
        ("git/git_log", "git"),
    ],
)
def test_another_spelling_is_answered_with_the_name_and_nothing_is_executed(belt, said, server):
    wire = next(tool.wire_name for tool in belt.tools if tool.id.server == server)
    hint = hint_for(belt, said)
    assert hint.kind == "unknown"
    assert f"it is called {wire}." in hint.text
    assert [one.tool for one in hint.suggestions] == [wire]


@pytest.mark.parametrize("said", ["dies/x", "mcp__dies__x"])
def test_a_failed_server_says_why_in_either_spelling(belt, said):
    hint = hint_for(belt, said)
    assert hint.kind == "unavailable"
    assert "exited with 3: no API key" in hint.text


def test_a_tool_that_is_not_callable_is_not_named_so():
    workspace = make_workspace(agents=[agent("orchestrator", tools=["git/git_log"])])
    belt = make_belt(workspace, make_snapshot({"git": ["git_log", "git_reset"]}), "orchestrator")
    assert "mcp__git__git_reset" not in hint_for(belt, "git/git_reset").text


def test_people_name_an_agents_own_server_as_its_file_does(belt):
    assert belt.find("every.thing/echo").tool.id.server == "orchestrator.every.thing"
    assert belt.find("every.thing/nothing") is None


@pytest.mark.parametrize("key", ["deny", "approve"])
def test_a_glob_of_a_spawn_that_matches_nothing_is_told_all_the_way_down(belt, key):
    child = Scope("orchestrator").spawn("orchestrator", **{key: ["git/gti_*"]})
    below = child.spawn("orchestrator")
    for scope in (child, below):
        found = belt_of(bind(belt.registry.workspace, belt.registry.snapshot), scope)
        (note,) = [one for one in found.diagnostics if one.code is Code.DENY_UNMATCHED]
        assert "git/gti_*" in note.message
