import os
from pathlib import Path

import pytest

from packbelt.catalog import load
from packbelt.catalog.text import MAX_FILE, read_text
from packbelt.model import Code, WorkspaceError

AGENT = "---\nname: a\ndescription: Does a.\ntools: []\n---\nBody\n"


def test_fm08_bom_and_crlf_read_like_the_plain_file(write):
    agent = "---\r\nname: a\r\ndescription: Does a.\r\ntools: [x]\r\n---\r\nBody\r\nmore\r\n"
    root = write(
        {
            "packbelt.yaml": b"\xef\xbb\xbforchestrator: a\r\n",
            "prompts/agents/a.md": b"\xef\xbb\xbf" + agent.encode(),
            "packs/p.yaml": b"\xef\xbb\xbfid: p\r\ntools: [x]\r\n",
        }
    )
    workspace = load(root)
    assert workspace.orchestrator == "a"
    assert workspace.agents["a"].body == "Body\nmore"
    assert str((workspace.agents["a"].tools or ())[0].where) == "prompts/agents/a.md:4"
    assert workspace.packs["p"].members == ("x",)
    assert not workspace.diagnostics


def test_not_utf8_names_the_line(write):
    root = write({"packs/p.yaml": b"id: p\nsummary: \xff\n"})
    with pytest.raises(WorkspaceError, match=r"packs/p\.yaml:2: is not UTF-8; save it as UTF-8"):
        load(root)


def test_a_file_may_have_one_mebibyte_and_no_more(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"x" * MAX_FILE)
    assert len(read_text(path, "f")) == 1 << 20
    path.write_bytes(b"x" * (MAX_FILE + 1))
    with pytest.raises(WorkspaceError, match="f: has more than 1,048,576 bytes"):
        read_text(path, "f")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "f")
    with pytest.raises(WorkspaceError, match="not a regular file"):
        read_text(tmp_path / "f", "f")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "s").mkdir(parents=True)
    (folder / "a.md").write_text(AGENT)
    (folder / "p.yaml").write_text("id: p\n")
    (folder / ".mcp.json").write_text('{"mcpServers": {}}')
    (folder / "s" / "SKILL.md").write_text("---\nname: s\ndescription: S.\n---\n")
    return folder


@pytest.mark.parametrize(
    ("link", "target"), [("packs/p.yaml", "p.yaml"), (".mcp.json", ".mcp.json"), ("packbelt.yaml", "p.yaml")]
)
def test_a_link_out_of_the_workspace_fails_the_load(write, outside, link, target):
    root = write({"prompts/agents/b.md": AGENT, "packs/q.yaml": "id: q\n"})
    (root / link).unlink(missing_ok=True)
    (root / link).symlink_to(outside / target)
    with pytest.raises(WorkspaceError, match="leads out of the workspace"):
        load(root)


def test_a_link_out_of_the_workspace_breaks_one_agent_and_one_skill(write, outside):
    root = write({"prompts/agents/b.md": AGENT.replace("name: a", "name: b"), "skills/t/x": ""})
    (root / "prompts/agents/orchestrator.md").write_text(AGENT.replace("name: a", "name: orchestrator"))
    (root / "prompts/agents/a.md").symlink_to(outside / "a.md")
    (root / "skills/s").symlink_to(outside / "s")
    workspace = load(root)
    assert set(workspace.broken) == {"a"}
    assert "b" in workspace.agents
    assert not workspace.skills
    assert {d.code for d in workspace.diagnostics} == {Code.AGENT_BROKEN, Code.SKILL_BROKEN}
    assert all("leads out" in d.message for d in workspace.diagnostics)


def test_a_folder_of_agents_outside_is_an_error_since_nobody_knows_what_it_restricts(write, outside):
    root = write({"prompts/x": ""})
    (root / "prompts/agents").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="prompts/agents: is a link"):
        load(root)


def test_links_inside_are_followed_once_even_in_a_circle(write):
    root = write({".claude/agents/team/a.md": AGENT, "shared/c.md": AGENT.replace("name: a", "name: c")})
    (root / ".claude/agents/team/loop").symlink_to(root / ".claude/agents")
    (root / ".claude/agents/c.md").symlink_to(root / "shared/c.md")
    workspace = load(root)
    assert {"a", "c"} <= set(workspace.agents)
    assert not workspace.diagnostics
