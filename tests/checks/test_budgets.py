from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.tokens import count
from packbelt.checks import run
from packbelt.model import Code, Level, Where


def test_a_tool_over_budget_is_a_warning_with_both_figures(build, find):
    words = " ".join(["word"] * 60)
    files = {
        "packbelt.yaml": "budget: {tool_tokens: 50}\n",
        "packs/dev.yaml": f"id: dev\ntools:\n  - {{name: long, description: {words}}}\n  - {{name: short}}\n",
    }
    workspace = build(files)
    (found,) = find(workspace, Code.OVER_BUDGET)
    line = next(tool.line for tool in workspace.tools if tool.name == "long")
    assert (found.level, found.name, found.where) == (Level.WARNING, "long", Where("packs/dev.yaml", 3))
    assert f"costs {count(line)} tokens, over the budget of 50" in found.message


def test_the_dear_tools_of_a_server_are_one_warning_with_the_dearest_first(build, find):
    words = " ".join(["word"] * 60)
    listed = [
        {"name": f"t{n}", "description": words * n, "inputSchema": {"type": "object"}} for n in range(4)
    ]
    snapshot = Snapshot().connect("wordy", listed)
    workspace = build({"packbelt.yaml": "budget: {tool_tokens: 70}\n"})
    (found,) = find(workspace, Code.OVER_BUDGET, snapshot)
    dearest = count(snapshot.servers["wordy"].tools[3].line)
    assert (
        f"3 of 4 tools of server 'wordy' cost more tokens than the budget of 70 a tool: t3 {dearest}, t2 "
        in (found.message)
    )


def test_tk11_an_envelope_that_nineteen_hand_offs_repeat_is_reported_with_what_it_costs(build, find, agent):
    files = {f"prompts/agents/w{n}.md": agent("tools: []") for n in range(19)}
    notes = [found for found in find(build(files), Code.TEXT_SHARED) if "19 places" in found.message]
    (found,) = notes
    assert found.level is Level.NOTE
    assert "delegate_to_w0" in found.message
    assert "15 more" in found.message


def test_what_little_is_repeated_is_not_worth_a_note(build, find, agent):
    files = {f"prompts/agents/w{n}.md": agent("tools: []") for n in range(2)}
    assert find(build(files), Code.TEXT_SHARED) == []


def test_the_text_is_told_of_the_belt_that_repeats_it_most_and_once(build, agent):
    files = {f"prompts/agents/w{n}.md": agent('tools: []\ndelegates: "*"') for n in range(12)}
    shared = [found for found in run(build(files)) if found.code is Code.TEXT_SHARED]
    assert [found.name for found in shared] == ["orchestrator"]


def test_the_mend_of_a_dear_server_does_not_say_to_pack_what_is_packed(build, find):
    listed = [{"name": "t", "description": "word " * 90, "inputSchema": {"type": "object"}}]
    snapshot = Snapshot().connect("wordy", listed)
    config = "budget: {tool_tokens: 70}\nservers: {wordy: {exposure: %s}}\n"
    (sent,) = find(build({"packbelt.yaml": config % "direct"}), Code.OVER_BUDGET, snapshot)
    (away,) = find(build({"packbelt.yaml": config % "packed"}), Code.OVER_BUDGET, snapshot)
    assert "pack the server" in sent.mend
    assert "pack the server" not in away.mend


def test_a_pack_that_costs_more_than_it_saves_is_noted_with_both_figures(build, find):
    small = {"packs/dev.yaml": "id: dev\ntools:\n  - {name: a, description: Does a.}\n"}
    many = "".join(f"  - {{name: t{n}, description: {'word ' * 40}}}\n" for n in range(20))
    large = {"packs/dev.yaml": f"id: dev\ntools:\n{many}"}
    (found,) = find(build(small), Code.PACKED_AT_A_LOSS)
    assert found.level is Level.NOTE
    assert find(build(large), Code.PACKED_AT_A_LOSS) == []
