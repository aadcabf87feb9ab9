from dataclasses import replace

from packbelt.model import Code, Level, Where

PACK = """
    id: files
    summary: Files.
    owners: [clerk]
    tools:
      - {name: file_read, description: Reads a file.}
      - file_wrote
"""


def test_a_member_without_a_tool_is_named_with_its_line_and_is_only_a_warning(build, find, agent):
    workspace = build({"packs/files.yaml": PACK, "prompts/agents/clerk.md": agent()})
    (found,) = find(workspace, Code.MEMBER_UNKNOWN)
    assert (found.level, found.name, found.where) == (
        Level.WARNING,
        "file_wrote",
        Where("packs/files.yaml", 6),
    )
    assert "register it in Python" in found.mend


def test_a_member_that_the_host_registers_is_no_finding(build, find, agent):
    def file_wrote(path: str) -> str:
        """Writes a file."""
        return path

    workspace = build({"packs/files.yaml": PACK, "prompts/agents/clerk.md": agent()}, tools=[file_wrote])
    assert find(workspace, Code.MEMBER_UNKNOWN) == []


def test_a_misspelt_member_gets_its_near_miss(build, find, agent):
    workspace = build(
        {
            "packs/files.yaml": PACK.replace("file_wrote", "delegate_to_clark"),
            "prompts/agents/clerk.md": agent(),
        }
    )
    (found,) = find(workspace, Code.MEMBER_UNKNOWN)
    assert "did you mean 'delegate_to_clerk'" in found.mend


def test_a_name_in_two_packs_of_a_workspace_made_in_python_is_an_error(build, find, agent):
    workspace = build({"packs/files.yaml": PACK, "prompts/agents/clerk.md": agent()})
    twin = replace(workspace.packs["files"], id="twin", members=("file_read",))
    (found,) = find(replace(workspace, packs={**workspace.packs, "twin": twin}), Code.TOOL_DUPLICATE)
    assert found.level is Level.ERROR
    assert "'files' and 'twin'" in found.message


def test_an_owner_and_a_carrier_that_are_no_agents_are_errors_with_line_and_near_miss(build, find, agent):
    pack = "id: files\nowners:\n  - clerc\ncarriers:\n  - nobody_at_all\ntools: [{name: file_read}]\n"
    workspace = build({"packs/files.yaml": pack, "prompts/agents/clerk.md": agent()})
    owner, carrier = find(workspace, Code.OWNER_UNKNOWN)
    assert (owner.where, owner.mend) == (Where("packs/files.yaml", 3), "did you mean 'clerk'?")
    assert (carrier.name, carrier.where) == ("nobody_at_all", Where("packs/files.yaml", 5))
    assert {owner.level, carrier.level} == {Level.ERROR}


def test_an_owner_of_a_server_that_is_no_agent_is_said_once_for_the_entry_that_says_it(build, find, agent):
    config = 'servers:\n  "*": {owners: [clerc]}\n  github: {exposure: packed}\n'
    workspace = build({"packbelt.yaml": config, "prompts/agents/clerk.md": agent()})
    (found,) = find(workspace, Code.OWNER_UNKNOWN)
    assert "server '*'" in found.message


def test_an_owner_whose_file_is_broken_is_an_agent_nonetheless(build, find):
    workspace = build({"packs/files.yaml": PACK, "prompts/agents/clerk.md": "---\ntools: null\n---\n"})
    assert find(workspace, Code.OWNER_UNKNOWN) == []
    assert find(workspace, Code.AGENT_BROKEN)


def test_an_owner_who_can_call_none_of_its_pack_is_found_and_worse_where_the_pack_is_reserved(
    build, find, agent
):
    files = {"packs/files.yaml": PACK, "prompts/agents/clerk.md": agent("tools: []")}
    (found,) = find(build(files), Code.OWNER_IDLE)
    assert (found.level, found.name, found.where) == (Level.WARNING, "clerk", Where("packs/files.yaml", 3))
    assert "pack:files" in found.mend
    files["packs/files.yaml"] = PACK.replace("owners:", "access: owners\n    owners:")
    (found,) = find(build(files), Code.OWNER_IDLE)
    assert found.level is Level.ERROR


def test_an_owner_of_nothing_but_the_hand_off_to_himself_is_no_finding(build, find, agent):
    pack = "id: tasks\nowners: [clerk]\ntools: [delegate_to_clerk]\n"
    workspace = build({"packs/tasks.yaml": pack, "prompts/agents/clerk.md": agent("tools: []")})
    assert find(workspace, Code.OWNER_IDLE) == []


def test_a_reserved_pack_without_an_owner_has_no_way_in(build, find):
    pack = "id: vault\naccess: owners\ntools: [{name: open_vault}]\n"
    (found,) = find(build({"packs/vault.yaml": pack}), Code.PACK_NO_WAY_IN)
    assert (found.level, found.where) == (Level.ERROR, Where("packs/vault.yaml", 2))
    open_pack = build({"packs/vault.yaml": pack.replace("owners\n", "open\n")})
    assert find(open_pack, Code.PACK_NO_WAY_IN) == []


def test_a_pack_called_as_a_tool_is_a_note(build, find):
    pack = "id: goals\ntools: [{name: goals}, {name: goal_get}]\n"
    (found,) = find(build({"packs/goals.yaml": pack}), Code.PACK_IS_TOOL)
    assert (found.level, found.where) == (Level.NOTE, Where("packs/goals.yaml", 1))


def test_a_pack_that_no_agent_can_use_is_found_with_the_reason_and_one_that_is_off_is_not(build, find, agent):
    files = {
        "packs/files.yaml": "id: files\ntools: [{name: file_read}]\n",
        "prompts/agents/orchestrator.md": agent("tools: []"),
    }
    (found,) = find(build(files), Code.PACK_UNUSED)
    assert (found.level, found.name) == (Level.WARNING, "files")
    assert "`tools` is []" in found.message
    assert find(build(files), Code.UNREACHABLE) == []  # said once
    files["packs/files.yaml"] += "exposure: 'off'\n"
    assert find(build(files), Code.PACK_UNUSED) == []
