from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Code, Level, Where


def test_an_agent_that_nobody_hands_to_is_found_with_the_cut(build, find, agent):
    files = {
        "prompts/agents/orchestrator.md": agent("tools: []\ndelegates: [clerk]"),
        "prompts/agents/clerk.md": agent("tools: []\ndelegates: [deputy]"),
        "prompts/agents/deputy.md": agent("tools: []"),
        "prompts/agents/lonely.md": agent("tools: []"),
    }
    (found,) = find(build(files), Code.AGENT_UNUSED)
    assert (found.level, found.name, found.where.file) == (
        Level.WARNING,
        "lonely",
        "prompts/agents/lonely.md",
    )
    assert "delegates" in found.message
    assert find(build(files), Code.AGENT_UNUSED, Snapshot(disabled_agents=("lonely",))) == []


def test_imported_agents_under_the_implied_orchestrator_are_in_use(build, find):
    files = {".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.\n"}
    assert find(build(files), Code.AGENT_UNUSED) == []


def test_an_agent_that_can_call_nothing_is_a_warning(build, find, agent):
    files = {
        "packs/dev.yaml": "id: dev\ntools: [{name: lint}]\n",
        "prompts/agents/mute.md": agent("tools: []"),
        "prompts/agents/worker.md": agent("tools: [lint]"),
    }
    (found,) = find(build(files), Code.AGENT_EMPTY)
    assert (found.level, found.name, found.where) == (
        Level.WARNING,
        "mute",
        Where("prompts/agents/mute.md", 3),
    )


def test_a_template_that_no_prompt_has_a_place_for(build, find, agent):
    files = {
        "prompts/sections/routing.j2": "Route well.\n",
        "prompts/sections/roouting.j2": "Route ill.\n",
        "prompts/agents/orchestrator.md": agent("tools: []", "You.\n\n{{ sections.routing }}"),
    }
    (found,) = find(build(files), Code.TEMPLATE_UNUSED)
    assert (found.level, found.where) == (Level.WARNING, Where("prompts/sections/roouting.j2"))


def test_imported_agents_without_a_known_tool_are_one_note(build, find):
    files = {
        f".claude/agents/a{n}.md": f"---\nname: a{n}\ndescription: x\ntools: Read\n---\n" for n in range(12)
    }
    (found,) = find(build(files), Code.AGENT_EMPTY)
    assert found.level is Level.NOTE
    assert "12 agents" in found.message


def test_an_agent_whose_servers_are_not_connected_yet_is_a_note(build, find):
    files = {".mcp.json": '{"mcpServers": {"weather": {"command": "weather-mcp"}}}'}
    (found,) = find(build(files), Code.AGENT_EMPTY)
    assert (found.level, found.name) == (Level.NOTE, "orchestrator")
    assert "not connected" in found.message
