"""`packbelt import`: what it prints, what it exits with, and what it leaves alone."""

import json

import pytest

AGENT = "---\nname: {}\ndescription: D.\ntools: {}\n---\nx\n"
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def project(tmp_path):
    """A project with an agent, two servers of Cursor's, one of which cannot be taken."""
    root = tmp_path / "project"
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".claude/agents/one.md").write_text(AGENT.format("one", "Read, mcp__s__find"))
    (root / ".cursor").mkdir()
    servers = {
        "s": {"command": "x", "env": {"TOKEN": SECRET}},
        "old": {"type": "sse", "url": "https://x.example"},
    }
    (root / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1))
    return root


@pytest.fixture
def here(tmp_path):
    """An empty directory to import into."""
    path = tmp_path / "here"
    path.mkdir()
    return path


def test_the_rest_is_written_and_the_exit_code_says_that_something_was_refused(project, here, run):
    done = run(here, "import", project)
    assert done.exit_code == 1
    assert "refused" in done.stdout
    assert ".cursor/mcp.json:10" in done.stdout
    assert "mend: use the server's http address" in done.stdout
    assert "TOKEN" in done.stdout
    assert SECRET not in done.stdout
    assert sorted(path.name for path in here.rglob("*") if path.is_file()) == [
        ".mcp.json",
        "one.md",
        "packbelt.yaml",
    ]
    assert run(here, "check").exit_code == 0


def test_without_anything_refused_it_exits_0(project, here, run):
    assert run(here, "import", project, "--from", "claude-code").exit_code == 0


def test_json(project, here, run):
    done = run(here, "import", project, "--json")
    data = json.loads(done.stdout)
    assert done.exit_code == 1
    assert data["counts"] == {"mapped": 1, "approximated": 1, "left_out": 0, "refused": 1}
    assert data["files"] == [".claude/agents/one.md", ".mcp.json", "packbelt.yaml"]
    assert data["variables"] == {"TOKEN": ["s"]}
    items = {item["name"]: item for item in data["items"]}
    assert items["one"] == {
        "kind": "agent",
        "name": "one",
        "outcome": "mapped",
        "where": ".claude/agents/one.md:1",
        "client": "claude-code",
        "scope": "project",
        "became": ".claude/agents/one.md",
        "remarks": [],
    }
    assert items["old"]["remarks"][0]["mend"] == "use the server's http address"


def test_dry_run_writes_nothing_and_says_the_same(project, here, run):
    dry = json.loads(run(here, "import", project, "--dry-run", "--json").stdout)
    assert not list(here.iterdir())
    real = json.loads(run(here, "import", project, "--json").stdout)
    assert {**dry, "dry_run": False} == real


def test_a_file_in_the_way_stops_it_before_anything_is_written(project, here, run):
    (here / "packbelt.yaml").write_text("deny: []\n")
    (here / ".claude/agents").mkdir(parents=True)
    (here / ".claude/agents/one.md").write_text("mine")
    done = run(here, "import", project)
    assert (done.exit_code, done.stdout) == (2, "")
    assert ".claude/agents/one.md exists already, and nothing was written" in done.stderr
    assert not (here / ".mcp.json").exists()
    assert run(here, "import", project, "--force").exit_code == 1
    assert (here / ".claude/agents/one.md.orig").read_text() == "mine"


def test_into_names_the_directory(project, here, run):
    run(here, "import", project, "--into", "fleet")
    assert (here / "fleet/.claude/agents/one.md").is_file()
    assert run(here, "import", project, "--into", "a", "-w", "b").exit_code == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nowhere"], "there is no such path"),
        (["."], "nothing here is a file that can be imported"),
        (["x.txt"], "say whose it is"),
        (["x.txt", "--snapshot", "s.yaml"], "--snapshot is for commands that read"),
    ],
)
def test_bad_input(here, run, args, said):
    (here / "x.txt").write_text("x")
    done = run(here, "import", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_file(project, here, run):
    done = run(here, "import", project / ".claude/agents/one.md")
    assert done.exit_code == 0
    assert "one  one.md:1  → .claude/agents/one.md" in done.stdout


def test_many_are_cut_and_all_are_shown_when_asked_for(here, run, tmp_path):
    folder = tmp_path / "agents"
    folder.mkdir()
    for i in range(30):
        (folder / f"a{i:02}.md").write_text(AGENT.format(f"a{i:02}", "Read, mcp__none__x"))
    short = run(here, "import", folder, "--from", "claude-code", "--dry-run").stdout
    assert "and 18 more mapped; --all shows them" in short
    assert "30 settings could not be said" in short
    full = run(here, "import", folder, "--from", "claude-code", "--dry-run", "--all").stdout
    assert full.count("names server 'none', which nothing here has") == 30


def test_names_in_files_cannot_control_a_terminal(here, run, tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(
        json.dumps({"mcpServers": {"\u001b[31mred\u202e": {"type": "sse", "url": "https://x.example"}}})
    )
    done = run(here, "import", path)
    assert "\u001b" not in done.stdout
    assert "\u202e" not in done.stdout
