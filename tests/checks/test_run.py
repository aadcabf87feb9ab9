from packbelt.catalog.snapshot import Snapshot
from packbelt.checks import CHECKS, Workbench, run
from packbelt.model import Code, Level

GRAVITY = [Level.ERROR, Level.WARNING, Level.NOTE]


def messy(agent):
    return {
        "packs/b.yaml": "id: b\naccess: owners\ntools: [{name: b_tool}, nobody_has]\n",
        "packs/a.yaml": "id: a\nowners: [ghost]\ntools: [{name: a}, {name: a_two}]\n",
        "prompts/agents/orchestrator.md": agent(
            "tools: [a]\ndelegates: [clerk, ghost]", "Use b_tool and a_two."
        ),
        "prompts/agents/clerk.md": agent("tools: [no_such_tool, another_one]"),
        "prompts/agents/broken.md": "---\ndescription: x\ntools: null\n---\n",
        "prompts/agents/mute.md": agent("tools: []"),
    }


def test_findings_are_sorted_by_gravity_file_and_line_and_each_stands_once(build, agent):
    found = run(build(messy(agent)))
    places = [
        (GRAVITY.index(f.level), f.where.file if f.where else "", f.where.line if f.where else 0, f.code)
        for f in found
    ]
    assert places == sorted(places)
    assert len(set(found)) == len(found)
    assert {Level.ERROR, Level.WARNING, Level.NOTE} == {one.level for one in found}


def test_the_same_workspace_gives_the_same_findings(build, agent):
    workspace = build(messy(agent))
    assert run(workspace) == run(workspace) == run(build(messy(agent)))


def test_an_agent_that_cannot_start_is_a_finding_with_every_reason_and_stops_no_check(build, find, agent):
    workspace = build(messy(agent))
    refused = find(workspace, Code.AGENT_REFUSED)
    assert len(refused) == 2
    assert all("agent 'clerk' cannot start" in found.message for found in refused)
    assert {
        text for found in refused for text in ("no_such_tool", "another_one") if text in found.message
    } == {
        "no_such_tool",
        "another_one",
    }
    (broken,) = find(workspace, Code.AGENT_BROKEN)
    assert broken.name == "broken"
    assert find(workspace, Code.AGENT_EMPTY)[0].name == "mute"


def test_a_root_that_cannot_start_leaves_its_reasons_and_no_traceback(build, find):
    workspace = build({"prompts/agents/orchestrator.md": "---\ndescription: x\ntools: null\n---\n"})
    assert [found.level for found in find(workspace, Code.AGENT_BROKEN)] == [Level.ERROR]
    assert find(workspace, Code.UNREACHABLE) == []


def test_what_belts_report_is_told_once_for_all_agents(build, find, agent):
    files = {f"prompts/agents/w{n}.md": agent() for n in range(3)}
    snapshot = Snapshot().connect("odd", [{"name": "a b", "inputSchema": {"type": "object"}}])
    (found,) = find(build(files), Code.WIRE_ALTERED, snapshot)
    assert found.level is Level.NOTE


def test_each_check_is_a_function_of_the_workbench_and_says_what_it_looks_for(build):
    bench = Workbench(build({}))
    assert len({check.__qualname__ + check.__module__ for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.__doc__
        assert [found.level for found in check(bench) if found.level is Level.ERROR] == []


def test_an_empty_workspace_has_no_error(build):
    assert [found for found in run(build({})) if found.level is Level.ERROR] == []
