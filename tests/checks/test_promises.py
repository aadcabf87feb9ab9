import pytest

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Skill
from packbelt.checks import run
from packbelt.model import Code, Level, Where
from packbelt.turn import turn

DEV = """
    id: dev
    summary: Work on files.
    tools:
      - {name: shell, description: Runs a command.}
      - {name: file_read, description: Reads a file.}
      - {name: file_write, description: Writes a file.}
"""


@pytest.fixture
def fleet(agent):
    return {
        "packs/dev.yaml": DEV,
        "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: "*"'),
        "prompts/agents/reader.md": agent("tools: [file_read]"),
    }


def test_pt11_two_dozen_prompts_that_name_what_their_belts_lack_are_two_dozen_errors(build, agent):
    files = {
        "packs/dev.yaml": DEV,
        **{
            f"prompts/agents/worker{n}.md": agent(
                "tools: [file_read]", "Read with file_read.\n\nRun `shell`."
            )
            for n in range(24)
        },
    }
    broken = [found for found in run(build(files)) if found.code is Code.PROMISE_BROKEN]
    assert len(broken) == 24
    assert {(found.level, found.name) for found in broken} == {(Level.ERROR, "shell")}
    assert {str(found.where) for found in broken} == {f"prompts/agents/worker{n}.md:7" for n in range(24)}


def test_pt11_a_name_marked_as_not_available_here_is_no_promise(build, find, fleet, agent):
    fleet["prompts/agents/reader.md"] = agent(
        "tools: [file_read]", "Only read; `shell` is not available here."
    )
    assert find(build(fleet), Code.PROMISE_BROKEN) == []


def test_a_packed_tool_named_in_a_prompt_is_callable_and_no_broken_promise(build, find, fleet, agent):
    fleet["prompts/agents/orchestrator.md"] = agent(
        'tools: ["*"]', "Write with file_write, or use `use_pack`."
    )
    assert find(build(fleet), Code.PROMISE_BROKEN) == []


@pytest.mark.parametrize("name", ["use_pack", "find_tools"])
def test_a_prompt_that_names_an_opener_or_a_search_which_its_reader_has_not(build, find, fleet, agent, name):
    fleet["prompts/agents/reader.md"] = agent("tools: [file_read]", f"Call {name} first.")
    (found,) = find(build(fleet), Code.PROMISE_BROKEN)
    assert found.name == name


def test_a_reserved_tool_in_a_prompt_is_answered_with_its_hand_off(build, find, agent):
    files = {
        "packs/vault.yaml": "id: vault\naccess: owners\nowners: [keeper]\ntools: [{name: open_vault}]\n",
        "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: "*"', "Call open_vault."),
        "prompts/agents/keeper.md": agent('tools: ["pack:vault"]', "Call open_vault."),
    }
    (found,) = find(build(files), Code.PROMISE_BROKEN)
    assert found.where == Where("prompts/agents/orchestrator.md", 6)
    assert "reserved" in found.message
    assert "delegate_to_keeper" in found.mend


def test_a_member_without_a_tool_behind_it_is_no_promise_kept(build, find, fleet, agent):
    fleet["packs/dev.yaml"] = DEV + "      - file_move\n"
    fleet["prompts/agents/reader.md"] = agent("tools: [file_read]", "Move it with file_move.")
    (found,) = find(build(fleet), Code.PROMISE_BROKEN)
    assert "no tool is behind it" in found.message


def test_a_guide_and_a_summary_are_read_by_those_who_can_open_the_pack(build, find, fleet, agent):
    fleet["packs/dev.yaml"] = DEV.replace(
        "summary: Work on files.", "summary: Work on files; needs net_fetch."
    )
    fleet["packs/net.yaml"] = (
        "id: net\nguide: Then file_write it.\ntools: [{name: net_fetch}, {name: net_send}]\n"
    )
    fleet["prompts/agents/orchestrator.md"] = agent('tools: ["pack:dev"]\ndelegates: "*"')
    fleet["prompts/agents/net.md"] = agent('tools: ["pack:net"]')
    fleet["prompts/agents/both.md"] = agent('tools: ["pack:net", "pack:dev"]')
    guide, summary = sorted(find(build(fleet), Code.PROMISE_BROKEN), key=lambda found: found.name)
    assert (guide.level, guide.name, guide.where) == (Level.ERROR, "file_write", Where("packs/net.yaml", 2))
    assert "which net cannot call" in guide.message
    assert (summary.name, summary.where) == ("net_fetch", Where("packs/dev.yaml", 2))
    assert "which orchestrator cannot call" in summary.message


def test_a_description_may_name_what_its_own_agent_calls_and_nothing_else_that_its_reader_cannot(
    build, find, fleet, agent
):
    fleet["prompts/agents/orchestrator.md"] = agent('tools: []\ndelegates: "*"')
    told = agent("tools: [file_read]").replace("Does its job.", "Reads with file_read, never by file_write.")
    fleet["prompts/agents/reader.md"] = told
    (found,) = find(build(fleet), Code.PROMISE_BROKEN)
    assert (found.level, found.name) == (Level.ERROR, "file_write")
    assert found.where == Where("prompts/agents/reader.md", 2)


def test_a_tools_description_that_sends_its_reader_elsewhere_is_a_warning(build, find, fleet):
    fleet["packs/dev.yaml"] = DEV.replace("Reads a file.", "Reads a file; run `shell` to list.")
    (found,) = find(build(fleet), Code.PROMISE_BROKEN)
    assert (found.level, found.name) == (Level.WARNING, "shell")
    assert "which reader cannot call" in found.message


def test_a_skill_that_wants_a_tool_which_no_agent_with_the_skill_has(build, find, fleet, agent):
    fleet["prompts/agents/orchestrator.md"] = agent("tools: [file_read]\ndelegates: []")
    skill = Skill("copy", "Copies with file_read and file_write.", "skills/copy")
    (found,) = find(build(fleet), Code.PROMISE_BROKEN, Snapshot(skills=(skill,)))
    assert (found.level, found.name) == (Level.WARNING, "file_write")


def test_the_words_of_an_imported_agent_are_a_warning(build, find, fleet):
    fleet[".claude/agents/helper.md"] = (
        "---\nname: helper\ndescription: Helps.\ntools: file_read\n---\nRun `shell`.\n"
    )
    (found,) = find(build(fleet), Code.PROMISE_BROKEN)
    assert (found.level, found.name) == (Level.WARNING, "shell")
    assert found.where == Where(".claude/agents/helper.md", 6)


def test_a_section_template_that_names_a_tool_by_hand_is_held_to_every_readers_belt(
    build, find, fleet, agent
):
    fleet["prompts/sections/routing.j2"] = "## Routing\n\nRun `shell` first.\n"
    fleet["prompts/agents/orchestrator.md"] = agent('tools: ["*"]\ndelegates: "*"', "{{ sections.routing }}")
    fleet["prompts/agents/reader.md"] = agent("tools: [file_read]", "{{ sections.routing }}")
    found = find(build(fleet), Code.PROMISE_BROKEN)
    where = Where("prompts/sections/routing.j2", 3)
    assert {(one.level, one.name, one.where) for one in found} == {(Level.ERROR, "shell", where)}
    packed, lacking = sorted(found, key=lambda one: one.message)
    assert "as 'orchestrator' reads it" in packed.message  # it is put away for him: the way is the opener
    assert "'use_pack'" in packed.message
    assert "as 'reader' reads it" in lacking.message
    assert "does not grant it" in lacking.message


def test_a_section_template_that_says_what_the_belt_says_keeps_its_promise(build, find, fleet, agent):
    fleet["prompts/sections/routing.j2"] = (
        "{% if way('shell') %}\nRun {{ way('shell') }} first.\n{% endif %}\n"
    )
    fleet["prompts/agents/orchestrator.md"] = agent('tools: ["*"]\ndelegates: "*"', "{{ sections.routing }}")
    fleet["prompts/agents/reader.md"] = agent("tools: [file_read]", "{{ sections.routing }}")
    assert find(build(fleet), Code.PROMISE_BROKEN) == []


def test_words_that_sections_quote_are_not_taken_for_theirs(build, agent):
    files = {
        "packs/vault.yaml": "id: vault\nsummary: The vault.\naccess: owners\nowners: [keeper]\ntools: [{name: open_vault}]\n",
        "prompts/agents/orchestrator.md": agent('tools: ["*"]\ndelegates: "*"'),
        "prompts/agents/keeper.md": agent('tools: ["pack:vault"]').replace(
            "Does its job.", "Opens by open_vault."
        ),
    }
    skill = Skill("open_vault", "Calls open_vault.", "skills/open_vault")
    snapshot = Snapshot(skills=(skill,)).connect("bank", [{"name": "pay"}], instructions="Call open_vault.")
    workspace = build(files)
    assert "open_vault" in turn(workspace, snapshot, "orchestrator").prompt
    assert [found for found in run(workspace, snapshot) if found.level is Level.ERROR] == []
