import json
import subprocess
import sys
from pathlib import Path

import pytest

import packbelt.catalog
from packbelt.catalog import Snapshot, embedded_root, find_workspace, load
from packbelt.catalog.lock import lock_text
from packbelt.model import HANDOFF, Code, Origin, WorkspaceError


def agent(name: str, lines: str = "") -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n{lines}\n---\nBody\n"


def handoffs(workspace) -> dict[str, str | None]:
    return {tool.name: tool.target for tool in workspace.tools if tool.id.source == HANDOFF}


def test_a_small_workspace(write):
    root = write(
        {
            "packs/b.yaml": "tools: [use_helper, {name: zeta}]\n",
            "packs/a.yaml": "tools: [{name: alpha}]\n",
            "prompts/agents/orchestrator.md": agent("orchestrator", "delegates: [helper]"),
            "prompts/agents/helper.md": agent("helper", "handoff: use_helper"),
        }
    )
    workspace = load(root)
    assert list(workspace.packs) == ["a", "b"]
    assert [tool.wire_name for tool in workspace.tools] == ["alpha", "use_helper", "zeta"]
    assert handoffs(workspace) == {"use_helper": "helper"}
    assert (workspace.embedded, workspace.agents["helper"].origin) == (False, Origin.PROJECT)
    assert not workspace.diagnostics


def test_a_workspace_without_a_root_agent_has_an_implied_one(write):
    workspace = load(write({"prompts/agents/a.md": agent("a")}))
    root = workspace.agents["orchestrator"]
    assert (root.tools, root.delegates, root.file) == (None, "*", "")
    for section in ("connected_mcp_servers", "installed_skills", "capabilities", "routing"):
        assert f"{{{{ sections.{section} }}}}" in root.body
    assert "orchestrator" not in handoffs(workspace).values()


def test_a_broken_root_agent_is_not_replaced_by_an_implied_one(write):
    workspace = load(write({"prompts/agents/orchestrator.md": "---\nname: orchestrator\ntools: [\n---\n"}))
    assert set(workspace.broken) == {"orchestrator"}
    assert not workspace.agents
    assert not handoffs(workspace)


def test_the_root_agent_has_a_hand_off_only_where_somebody_names_it(write):
    files = {"prompts/agents/a.md": agent("a", "delegates: [orchestrator]")}
    assert handoffs(load(write(files))) == {"delegate_to_a": "a", "delegate_to_orchestrator": "orchestrator"}


@pytest.mark.parametrize(
    ("files", "first", "second"),
    [
        (
            {
                "prompts/agents/a.md": agent("a", "handoff: go"),
                "prompts/agents/b.md": agent("b", "handoff: go"),
            },
            "prompts/agents/a.md",
            "prompts/agents/b.md:4",
        ),
        (
            {"prompts/agents/a.md": agent("a", "handoff: go"), "packs/p.yaml": "tools:\n  - name: go\n"},
            "packs/p.yaml:2",
            "prompts/agents/a.md:4",
        ),
        ({"prompts/agents/a.md": agent("a", "handoff: use_pack")}, "the opener", "prompts/agents/a.md:4"),
        ({"prompts/agents/a.md": agent("a", "handoff: find_tools")}, "searches", "prompts/agents/a.md:4"),
    ],
)
def test_one_name_for_two_tools_fails_the_load_with_both_places(write, files, first, second):
    with pytest.raises(WorkspaceError) as caught:
        load(write(files))
    assert first in str(caught.value)
    assert str(caught.value.where) == second


def test_a_clash_costs_an_imported_agent_only_itself(write):
    root = write({"packs/p.yaml": "tools:\n  - name: delegate_to_a\n", ".claude/agents/a.md": agent("a")})
    workspace = load(root)
    assert set(workspace.broken) == {"a"}
    names = [tool.name for tool in workspace.tools]
    assert len(names) == len(set(names)) == 2


def test_one_agents_name_twice_in_one_folder_costs_the_later_file(write):
    workspace = load(
        write({"prompts/agents/a.md": agent("x", "tools: []"), "prompts/agents/b.md": agent("x")})
    )
    assert workspace.agents["x"].tools == ()
    (diagnostic,) = workspace.diagnostics
    assert diagnostic.code is Code.AGENT_BROKEN
    assert "prompts/agents/a.md" in diagnostic.message
    assert str(diagnostic.where) == "prompts/agents/b.md:1"


def test_breaking_a_file_does_not_put_a_wider_one_of_its_name_in_its_place(write):
    broken = agent("x", "tools: [").replace("\n---\nBody", "\n---\nBody")
    files = {
        "prompts/agents/a.md": broken,
        "prompts/agents/b.md": agent("x"),
        ".claude/agents/x.md": agent("x"),
    }
    workspace = load(write(files))
    assert set(workspace.broken) == {"x"}
    assert "x" not in workspace.agents


def test_the_nearer_of_two_places_wins_and_the_other_is_shown(write):
    root = write(
        {"prompts/agents/a.md": agent("a", "tools: []"), ".claude/agents/a.md": agent("a", "tools: Read")}
    )
    workspace = load(root)
    assert workspace.agents["a"].file == "prompts/agents/a.md"
    assert [(d.code, str(d.where)) for d in workspace.diagnostics] == [
        (Code.AGENT_SHADOWED, ".claude/agents/a.md:1")
    ]


def test_two_loads_of_the_same_files_are_the_same(write):
    files = {f"prompts/agents/{name}.md": agent(name) for name in "cab"} | {
        "prompts/agents/orchestrator.md": agent("orchestrator"),
        "prompts/agents/z.md": "junk",
        "skills/x/SKILL.md": "junk",
    }
    root = write(files)
    one, two = load(root), load(root)
    assert (one.agents, one.tools, one.diagnostics) == (two.agents, two.tools, two.diagnostics)
    assert list(one.agents) == ["a", "b", "c", "orchestrator"]


@pytest.mark.parametrize(
    "files",
    [["packbelt.yaml"], [".mcp.json"], [".claude/agents/a.md"], ["packs/p.yaml", "prompts/agents/a.md"]],
)
def test_what_makes_a_workspace(tmp_path, monkeypatch, files):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"mcpServers": {}}' if name == ".mcp.json" else "")
    below = tmp_path / "some" / "folder"
    below.mkdir(parents=True)
    assert find_workspace(below) == tmp_path.resolve()
    monkeypatch.chdir(below)
    if files != ["packs/p.yaml", "prompts/agents/a.md"]:
        assert load().root == tmp_path.resolve()


def test_half_of_packs_and_prompts_makes_none(tmp_path):
    (tmp_path / "packs").mkdir()
    with pytest.raises(WorkspaceError, match=r"is no workspace; one has packbelt\.yaml, \.mcp\.json"):
        load(tmp_path)
    with pytest.raises(WorkspaceError, match="is no directory"):
        load(tmp_path / "missing")


def test_a_persons_own_agents_make_no_workspace_of_every_folder_below_home(tmp_path, monkeypatch):
    (tmp_path / ".claude" / "agents").mkdir(parents=True)
    (tmp_path / "code").mkdir()
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert find_workspace(tmp_path) == tmp_path.resolve()
    assert find_workspace(tmp_path / "code") != tmp_path.resolve()


def test_without_a_workspace_the_embedded_one_is_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["packbelt.catalog.load"], "find_workspace", lambda: None)
    workspace = load()
    assert workspace.embedded
    assert workspace.root == embedded_root()
    assert all(found.origin is Origin.EMBEDDED for found in workspace.agents.values())


def test_a_workspace_has_the_embedded_templates_under_its_own(write, tmp_path, monkeypatch):
    home = tmp_path / "embedded"
    for name in ("routing", "capabilities"):
        path = home / "prompts" / "sections" / f"{name}.j2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("embedded")
    (home / "packs").mkdir()
    monkeypatch.setattr(sys.modules["packbelt.catalog.load"], "embedded_root", lambda: home)
    root = write({"prompts/sections/routing.j2": "mine", "prompts/sections/capabilities.j2": b"\xff"})
    workspace = load(root)
    assert {name: (t.source, t.origin) for name, t in workspace.templates.items()} == {
        "routing": ("mine", Origin.PROJECT)
    }
    assert [d.code for d in workspace.diagnostics] == [Code.TEMPLATE_BROKEN]


def test_the_lock_is_read_back(write):
    snapshot = Snapshot().connect("s", [{"name": "x"}, {"name": "y"}])
    text = lock_text(snapshot)
    workspace = load(write({"packbelt.lock": text}))
    assert workspace.lock == {"s": {tool.name: tool.digest for tool in snapshot.servers["s"].tools}}
    assert load(write({"packbelt.lock": lock_text(Snapshot())})).lock == {}


@pytest.mark.parametrize(
    "text", ["", "{}", '{"version": 2, "servers": {}}', '{"version": 1, "servers": {"s": {"x": "md5:0"}}}']
)
def test_a_broken_lock_is_no_missing_lock(write, text):
    with pytest.raises(WorkspaceError, match=r"packbelt\.lock"):
        load(write({"packbelt.lock": text}))


def test_no_lock_is_none(write):
    assert load(write({})).lock is None


def test_nothing_heavy_is_imported_before_files_are_read():
    code = (
        "import sys, json, packbelt.catalog; packbelt.catalog.Snapshot(); "
        "print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "mcp", "jinja2", "rapidfuzz", "tiktoken", "jsonschema"} & set(
        json.loads(done.stdout)
    )


def test_the_public_names_are_sorted_and_there():
    names = packbelt.catalog.__all__
    assert names == sorted(names)
    assert all(getattr(packbelt.catalog, name) for name in names)
    assert callable(packbelt.catalog.load)


@pytest.mark.parametrize("name", ["packbelt.yaml", "packbelt.lock", ".mcp.json", "packs/files.yaml"])
def test_a_link_that_cannot_be_followed_is_a_problem_of_its_file(write, name):
    root = write({"prompts/agents/a.md": "---\nname: a\ndescription: Does it.\n---\nYou do.\n"})
    (root / "packs").mkdir()
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to("x" * 300)  # longer than a name may be
    try:
        said = [f"{one.where}: {one.message}" for one in load(root).diagnostics]
    except WorkspaceError as problem:
        said = [str(problem)]
    assert [line for line in said if name in line and "cannot be read" in line]


def test_a_directory_that_nobody_can_have_is_none():
    for name in ("x" * 300, "a\0b"):
        with pytest.raises(WorkspaceError, match="is no directory"):
            load(name)
