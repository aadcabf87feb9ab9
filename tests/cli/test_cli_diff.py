"""`packbelt diff`: directories and git revisions, what is said, and what makes it fail."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from small_project import FILES, write
from test_cli_terminal import PADDED

from packbelt.checks.worse import CONDITIONS
from packbelt.cli.diff_markdown import code

CI = Path(__file__).parent.parent.parent / "docs/examples/ci"
DENY = FILES["packbelt.yaml"].replace("deny: [shell]", "deny: [shell, clock]")
OPEN = FILES["packbelt.yaml"].replace("deny: [shell]", "deny: []")


def git(where, *args):
    """Git without anybody's settings, as an author of no name."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    done = subprocess.run(
        ["git", *who, *args], cwd=where, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def repo(fleet):
    """The fleet as the first commit of a repository, tagged `first`."""
    git(fleet, "init", "-q", "-b", "trunk")
    git(fleet, "add", "-A")
    git(fleet, "commit", "-q", "-m", "first")
    git(fleet, "tag", "first")
    return fleet


@pytest.fixture
def other(tmp_path):
    """The fleet in another directory, where a clock is denied too."""
    return write(tmp_path / "other", {**FILES, "packbelt.yaml": DENY})


def lost(said, agent="orchestrator"):
    return [change["wire_name"] for one in said["agents"] if one["agent"] == agent for change in one["lost"]]


# what is said ---------------------------------------------------------------------------------------------


def test_equal_directories(fleet, run):
    done = run(fleet, "diff", fleet, fleet)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == ". → .\n  no difference that packbelt knows of\n"


def test_lost_is_said_with_rule_and_place_and_once_for_all_agents(fleet, other, run):
    done = run(fleet, "diff", fleet, other)
    assert (done.exit_code, done.stderr) == (0, "")
    text = done.stdout
    assert "\nLost\n  clock  direct → denied\n      for orchestrator\n" in text
    assert "      workspace.deny, deny entry 'clock' matches, packbelt.yaml:3\n" in text
    assert "1 agent with moves only among tools kept from them anyway  (--all)\n" in text
    assert "mcp_agent" not in text.split("Lost")[0]
    assert "mcp_agent" in run(fleet, "diff", fleet, other, "--all").stdout.split("Lost")[0]


def test_widened_is_marked(fleet, tmp_path, run):
    opened = write(tmp_path / "opened", {**FILES, "packbelt.yaml": OPEN})
    text = run(fleet, "diff", fleet, opened).stdout
    assert "  shell  denied → direct  (widened)\n" in text
    assert "no more: workspace.deny, deny entry 'shell' matches, packbelt.yaml:3 of OLD\n" in text


def test_agents_that_come_and_go_are_said_with_their_tools(fleet, tmp_path, run):
    late = "---\nname: late\ndescription: Is late.\ntools: [clock]\n---\nx\n"
    files = {**FILES, "prompts/agents/late.md": late}
    del files["prompts/agents/mcp_agent.md"]
    text = run(fleet, "diff", fleet, write(tmp_path / "changed", files)).stdout
    assert "  late: new; it calls clock\n" in text
    assert "  mcp_agent: gone; it called " in text


def test_json(fleet, other, run_json):
    said = run_json(fleet, "diff", fleet, other)
    (one,) = (one for one in said["agents"] if one["agent"] == "orchestrator")
    (change,) = one["lost"]
    assert change == {
        "wire_name": "clock",
        "source": "native",
        "name": "clock",
        "before": "direct",
        "after": "denied",
        "cause": {
            "rule": "workspace.deny",
            "detail": "deny entry 'clock' matches",
            "where": "packbelt.yaml:3",
            "ended": False,
        },
        "widened": False,
    }
    assert one["cache"]["breaks_at"] == "clock"
    assert one["cache"]["prompt_stays"]
    assert one["tokens"]["delta"] == one["tokens"]["after"] - one["tokens"]["before"] < 0
    assert said["failed"] == []


def test_json_of_an_agent_that_is_new_has_no_cache_and_no_delta(fleet, tmp_path, run_json):
    late = "---\nname: late\ndescription: Is late.\ntools: [clock]\n---\nx\n"
    said = run_json(
        fleet, "diff", fleet, write(tmp_path / "changed", {**FILES, "prompts/agents/late.md": late})
    )
    (one,) = (one for one in said["agents"] if one["agent"] == "late")
    assert (one["cache"], one["tokens"]["delta"], one["gained"][0]["before"]) == (None, None, None)


def test_one_snapshot_is_for_both_sides(fleet, other, run_json):
    said = run_json(fleet, "diff", fleet, other, "--snapshot", "now.yaml")
    assert said["tools"] == {"new": [], "gone": [], "changed": []}


def test_an_old_snapshot_is_for_old(fleet, run_json):
    (fleet / "then.yaml").write_text("servers: {}\n")
    said = run_json(fleet, "diff", fleet, fleet, "--old-snapshot", "then.yaml", "--snapshot", "now.yaml")
    assert said["tools"]["new"] == ["mcp__weather__get_forecast"]
    gained = {one["agent"]: [change["wire_name"] for change in one["gained"]] for one in said["agents"]}
    assert gained["mcp_agent"] == ["mcp__weather__get_forecast"]


def test_markdown(fleet, other, run):
    done = run(fleet, "diff", fleet, other, "--markdown", "--fail-on", "lost")
    lines = done.stdout.splitlines()
    assert done.exit_code == 1
    assert lines[0].startswith("### packbelt: `.` → `")
    assert lines[2] == "- **fails on** `lost: orchestrator (1)`"
    head = lines.index("| agent | lost | gained | moved | tokens | | cache keeps |")
    assert lines[head + 2].startswith("| `orchestrator` | 1 | 0 | 0 | ")
    assert all(line.count("|") == 8 for line in lines[head : head + 3])
    why = "`workspace.deny, deny entry 'clock' matches`, `packbelt.yaml:3`"
    assert f"- `clock`: direct → denied for `orchestrator`; {why}" in lines


def test_markdown_of_nothing(fleet, run):
    assert "No difference" in run(fleet, "diff", fleet, fleet, "--markdown").stdout


@pytest.mark.parametrize("hostile", ["`@everyone`", "a|b", "x\n\n# head", "``<script>``"])
def test_in_markdown_a_name_cannot_leave_its_code_span(hostile):
    span = code(hostile)
    assert span[0] == span[-1] == "`"
    assert not set("`|\n") & set(span[1:-1])


def test_in_markdown_a_servers_words_stay_in_code_spans(fleet, run):
    listed = "tools:\n      - {name: 'x` @everyone', description: D., inputSchema: {type: object}}"
    (fleet / "then.yaml").write_text(f"servers:\n  weather:\n    status: connected\n    {listed}\n")
    done = run(
        fleet, "diff", fleet, fleet, "--snapshot", "then.yaml", "--old-snapshot", "now.yaml", "--markdown"
    )
    bare = "".join(part for line in done.stdout.splitlines() for part in line.split("`")[::2])
    assert "everyone" in done.stdout
    assert "everyone" not in bare


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_of_80_columns_no_line_is_longer_or_padded(fleet, other):
    import pty
    import re

    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PACKBELT")}
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "packbelt", "diff", str(fleet), str(other), "--all", "--fail-on", "lost"],
        env | {"TERM": "xterm-256color", "COLUMNS": "80"},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 1)],
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # how a pseudo-terminal says that the other end is closed
        pass
    os.close(ours)
    os.waitpid(pid, 0)
    lines = seen.decode().replace("\r", "").splitlines()
    assert len(lines) > 10
    assert [line for line in lines if PADDED.search(line)] == []
    assert [line for line in lines if len(re.sub(r"\x1b\[[0-9;]*m", "", line)) > 80] == []


# conditions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "exit_code"),
    [("", 0), ("lost", 1), ("gained", 0), ("widened,cost:+5%", 0), ("cost:+5%,lost", 1), ("moved", 1)],
)
def test_exit_code(fleet, other, run, asked, exit_code):
    done = run(fleet, "diff", fleet, other, "--fail-on", asked)
    assert done.exit_code == exit_code
    assert ("\nFails on\n" in done.stdout) is bool(exit_code)


def test_what_fails_is_in_the_json(fleet, other, run):
    done = run(fleet, "diff", fleet, other, "--fail-on", "lost,errors", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["failed"] == [{"on": "lost", "of": ["orchestrator (1)"]}]


def test_help_names_every_condition(run, tmp_path):
    text = run(tmp_path, "diff", "--help").stdout
    named = [line.split()[0] for line in text.split("--fail-on:\n")[1].split("\n\n")[0].splitlines()]
    assert set(CONDITIONS) <= {name.partition(":")[0] for name in named}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--fail-on", "lots"], "'lots' is no condition"),
        (["--fail-on", "cost:5%"], "write cost:+5%"),
        (["--markdown", "--json"], "choose one"),
        (["--old-snapshot", "missing.yaml"], "missing.yaml"),
        (["--snapshot", "missing.yaml"], "missing.yaml"),
    ],
)
def test_bad_input_is_one_line(fleet, run, args, words):
    done = run(fleet, "diff", fleet, fleet, *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


# revisions ------------------------------------------------------------------------------------------------


def every_file(root):
    """All files of a directory, git's own among them, with their bytes and times."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def test_a_revision_against_the_working_tree_touches_nothing(repo, run_json):
    (repo / "packbelt.yaml").write_text(DENY)
    (repo / "untracked.txt").write_text("mine")
    git(repo, "add", "packbelt.yaml")
    (repo / "packs/core.yaml").write_text(FILES["packs/core.yaml"] + "\n# unstaged\n")
    before = every_file(repo)
    said = run_json(repo, "diff", "first")
    assert lost(said) == ["clock"]
    assert (said["old"], said["new"]) == ("first", ".")
    assert every_file(repo) == before


def test_two_revisions_whatever_the_working_tree_says(repo, run_json):
    (repo / "packbelt.yaml").write_text(DENY)
    git(repo, "commit", "-q", "-a", "-m", "second")
    (repo / "packbelt.yaml").write_text("{ broken")
    assert lost(run_json(repo, "diff", "HEAD~1", "trunk")) == ["clock"]


def test_no_temporary_directory_is_left(repo, run, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert run(repo, "diff", "first", "HEAD").exit_code == 0
    (repo / "packs/core.yaml").write_text("{ broken")
    git(repo, "commit", "-q", "-a", "-m", "broken")
    assert run(repo, "diff", "first", "HEAD").exit_code == 2
    assert list(temporary.iterdir()) == []


def test_a_workspace_in_a_folder_of_its_repository(tmp_path, run_json):
    root = write(tmp_path / "project", {f"agents/{name}": text for name, text in FILES.items()})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    (root / "agents/packbelt.yaml").write_text(DENY)
    assert lost(run_json(root, "diff", "HEAD", "-w", "agents")) == ["clock"]
    assert lost(run_json(root, "diff", "HEAD", "agents", "-w", "agents")) == ["clock"]
    assert lost(run_json(root / "agents", "diff", "HEAD")) == ["clock"]
    assert lost(run_json(root / "agents/packs", "diff", "HEAD")) == ["clock"]


def test_attributes_filters_and_hooks_have_no_part_in_it(repo, run_json, tmp_path):
    ran = tmp_path / "ran"
    hook = repo / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change"):
        (hook.parent / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hook.parent / name).chmod(0o755)
    attributes = "packs/core.yaml export-ignore\npackbelt.yaml filter=evil\n"
    git(repo, "config", "filter.evil.smudge", f"touch {ran}; cat")
    (repo / ".gitattributes").write_text(attributes)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "attributes")
    ran.unlink()  # committing ran them
    assert run_json(repo, "diff", "HEAD")["agents"] == []
    assert not ran.exists()


def test_links_and_large_files_are_what_they_are_on_disk(repo, run_json):
    (repo / "more.yaml").write_text(
        "id: more\nsummary: S.\ntools: [{name: more, description: D., input_schema: {type: object}}]\n"
    )
    (repo / "packs/more.yaml").symlink_to("../more.yaml")
    (repo / "prompts/agents/out.md").symlink_to("../../../elsewhere.md")
    (repo.parent / "elsewhere.md").write_text("---\ndescription: D.\n---\nx\n")
    (repo / "prompts/agents/large.md").write_text("---\ndescription: D.\n---\n" + "x" * (1 << 20))
    (repo / "prompts/agents/huge.md").write_text("x" * (9 << 20))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "links")
    said = run_json(repo, "diff", "HEAD")
    assert (said["agents"], said["findings"]) == ([], {"new": [], "vanished": []})
    said = run_json(repo, "diff", "first", "HEAD")
    assert "more" in said["tools"]["new"]
    told = [one["message"] for one in said["findings"]["new"]]
    assert any("leads out of the workspace" in message for message in told)
    assert any("has more than 1,048,576 bytes" in message for message in told)


def test_where_a_revision_has_no_workspace_all_is_new(tmp_path, run):
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "empty")
    write(root, FILES)
    done = run(root, "diff", "HEAD", "--json", "--fail-on", "widened,lost")
    assert done.exit_code == 0
    assert done.stderr == "packbelt: HEAD has no workspace in .: compared with an empty one\n"
    said = {one["agent"]: one["before"] for one in json.loads(done.stdout)["agents"]}
    assert said["orchestrator"] == said["mcp_agent"] == "absent"


def test_a_workspace_that_goes_is_lost(repo, run):
    git(repo, "rm", "-q", "-r", ".")
    git(repo, "commit", "-q", "-m", "all gone", "--allow-empty")
    done = run(repo, "diff", "first", "HEAD", "-w", repo, "--fail-on", "lost", "--json")
    assert done.exit_code == 1
    assert lost(json.loads(done.stdout)) != []


def test_neither_side_has_a_workspace(tmp_path, run):
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "empty")
    done = run(tmp_path, "diff", "HEAD", "HEAD")
    assert done.exit_code == 2
    assert "neither HEAD nor HEAD has a workspace" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("revision", ["nowhere", "--output=made", "-h1", "first:packs", "HEAD^{tree}", ""])
def test_what_is_no_revision_is_one_line(repo, run, revision):
    done = run(repo, "diff", "--", revision)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{revision!r} is no directory, and no git revision" in done.stderr
    assert not (repo / "made").exists()


def test_outside_a_repository_a_revision_is_one_line(fleet, run, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(fleet.parent))
    done = run(fleet, "diff", "main")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is in no git repository" in done.stderr


def test_without_git_directories_still_work(fleet, other, run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(fleet, "diff", fleet, other).exit_code == 0
    done = run(fleet, "diff", "main")
    assert done.exit_code == 2
    assert "git cannot be run" in done.stderr


def test_what_is_a_directory_and_a_revision_is_the_directory(repo, run_json):
    write(repo / "first", {**FILES, "packbelt.yaml": DENY})
    assert lost(run_json(repo, "diff", repo, "first")) == ["clock"]
    assert run_json(repo, "diff", "refs/tags/first")["agents"] == []


def test_without_new_there_must_be_a_workspace_here(tmp_path, fleet, run):
    done = run(tmp_path, "diff", fleet)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no workspace here" in done.stderr


# the files for CI -----------------------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path):
    """Run a line of a shell where `packbelt` is this one."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "packbelt").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m packbelt "$@"\n')
    (bin_ / "packbelt").chmod(0o755)

    def call(where, line, **environ):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PACKBELT", "GIT_"))}
        env |= {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", **environ}
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", line],
            cwd=where,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.fixture
def clean(repo):
    """The repository without the agents that cannot start."""
    files = ("prompts/agents/broken.md", "prompts/agents/refused.md")
    git(repo, "rm", "-q", *files)
    (repo / "prompts/agents/orchestrator.md").write_text(
        FILES["prompts/agents/orchestrator.md"].replace(", broken", "")
    )
    git(repo, "commit", "-q", "-a", "-m", "clean")
    return repo


def steps():
    workflow = yaml.safe_load((CI / "github-workflow.yml").read_text())
    return {step["name"]: step["run"] for step in workflow["jobs"]["belts"]["steps"] if "run" in step}


def test_the_workflow_is_one_and_only_reads():
    workflow = yaml.safe_load((CI / "github-workflow.yml").read_text())
    assert set(workflow) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` so
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["steps"][0]["with"]["fetch-depth"] == 0
    assert set(steps()) == {"install", "check", "diff"}
    assert "${{" not in "".join(
        steps().values()
    )  # what others named reaches a shell by the environment alone


def test_the_lines_of_the_workflow_run(clean, shell, tmp_path):
    summary = tmp_path / "summary.md"
    env = {"BASE": git(clean, "rev-parse", "HEAD").strip(), "GITHUB_STEP_SUMMARY": str(summary)}
    assert shell(clean, steps()["check"]).returncode == 0
    assert shell(clean, steps()["diff"], **env).returncode == 0
    assert "No difference" in summary.read_text()
    (clean / "packbelt.yaml").write_text(DENY)
    done = shell(clean, steps()["diff"], **env)
    assert (done.returncode, done.stderr) == (1, "")
    assert "**fails on** `lost: orchestrator (1)`" in summary.read_text()


def hooks():
    (repo,) = yaml.safe_load((CI / "pre-commit-config.yaml").read_text())["repos"]
    assert repo["repo"] == "local"
    return {hook["id"]: hook for hook in repo["hooks"]}


def test_the_hooks_of_pre_commit_run(clean, shell):
    assert set(hooks()) == {"packbelt-check", "packbelt-diff"}
    for hook in hooks().values():
        assert (hook["language"], hook["pass_filenames"]) == ("system", False)
        assert shell(clean, hook["entry"]).returncode == 0
    (clean / "packbelt.yaml").write_text(DENY)
    assert shell(clean, hooks()["packbelt-diff"]["entry"]).returncode == 1


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("packbelt.yaml", True),
        ("packbelt.lock", True),
        (".mcp.json", True),
        ("packs/core.yaml", True),
        ("prompts/agents/x.md", True),
        (".claude/agents/x.md", True),
        ("src/packs.py", False),
        ("README.md", False),
    ],
)
def test_the_hooks_run_for_files_that_matter(name, matters):
    import re

    for hook in hooks().values():
        assert bool(re.search(hook["files"], name)) is matters


def test_the_plain_hook_lets_a_good_commit_through_and_stops_a_bad_one(clean, shell):
    hook = clean / ".git/hooks/pre-commit"
    hook.write_text((CI / "pre-commit").read_text())
    hook.chmod(0o755)
    commit = "git -c user.name=nobody -c user.email=nobody@localhost commit -q -a -m more"
    (clean / "packs/core.yaml").write_text(FILES["packs/core.yaml"] + "# a comment\n")
    done = shell(clean, commit)
    assert done.returncode == 0, done.stderr
    (clean / "packbelt.yaml").write_text(DENY)
    done = shell(clean, commit)
    assert done.returncode != 0
    assert "lost: orchestrator (1)" in done.stdout + done.stderr


def test_the_plain_hook_lets_the_first_commit_through(fleet, shell):
    for name in ("broken", "refused"):
        (fleet / f"prompts/agents/{name}.md").unlink()
    agent = fleet / "prompts/agents/orchestrator.md"
    agent.write_text(agent.read_text().replace(", broken", ""))
    git(fleet, "init", "-q")
    hook = fleet / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text((CI / "pre-commit").read_text())
    hook.chmod(0o755)
    git(fleet, "add", "-A")
    done = shell(fleet, "git -c user.name=nobody -c user.email=nobody@localhost commit -q -m first")
    assert done.returncode == 0, done.stdout + done.stderr
