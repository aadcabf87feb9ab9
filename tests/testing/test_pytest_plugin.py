"""The pytest plugin in pytest runs of its own, found by its entry point as an installed one is."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from plugin_project import FILES, write

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with a workspace in `agents/`; pytest finds the plugin by installed metadata."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    site = pytester.mkdir("site")
    metadata = site / "packbelt_as_installed-1.dist-info"
    metadata.mkdir()
    points = "".join(f"{name} = {target}\n" for name, target in declared.items())
    (metadata / "entry_points.txt").write_text(f"[pytest11]\n{points}")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: packbelt-as-installed\nVersion: 1\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(ROOT / "src")]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    write(pytester.path / "agents", FILES)
    pytester.makeini("[pytest]\npackbelt_workspace = agents\npackbelt_snapshot_file = agents/now.yaml\n")
    return pytester


OTHERS = ("randomly", "xdist", "benchmark", "langsmith_plugin", "hypothesispytest", "anyio", "cacheprovider")
"""Plugins that are not what is tested, and cost a second for each run."""


def run(project, *options, beside=()):
    off = [word for name in OTHERS if name not in beside for word in ("-p", f"no:{name}")]
    return project.runpytest_subprocess(*off, *options)


def edit(project, file, before, after):
    path = project.path / "agents" / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_fixtures_pass_where_the_belt_is_as_said(project):
    project.makepyfile("""
        def test_belt(belt, workspace):
            assert belt("lead")["file_read"].state == "packed"
            assert belt().agent == workspace.orchestrator == "lead"
            assert belt("worker")["mcp__weather__get_forecast"].state == "direct"
            assert "mcp__weather__get_forecast" not in belt("worker", snapshot="agents/nothing.yaml")

        def test_asserted(assert_belt, assert_reachable):
            assert_belt("lead", direct=["ask_worker"], packed=["file_read"], not_callable=["registry_search"])
            assert_reachable("registry_search", via="handoff", through="worker")
            assert_reachable("pack:files", agent="lead")
    """)
    run(project).assert_outcomes(passed=2)


def test_failures_are_the_reasons_and_nothing_else(project):
    project.makepyfile("""
        def test_belt(assert_belt):
            assert_belt("lead", direct=["file_read"], not_callable=["ask_worker"])

        def test_reachable(assert_reachable):
            assert_reachable("shell")

        def test_no_pack(assert_reachable):
            assert_reachable("pack:nowhere")
    """)
    result = run(project)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines([
        "*the belt of 'lead' is not as it should be:",
        "  file_read should be direct, and is packed:",
        "    because exposure of pack 'files' is packed *pack.exposure* (packs/files.yaml*)",
        "  ask_worker should not be callable, and is direct:",
    ])  # fmt: skip
    result.stdout.fnmatch_lines(["*shell should be reachable, and is denied:", "*(packbelt.yaml:*"])
    result.stdout.fnmatch_lines(["*there is no pack 'nowhere'; there are: files, integrations*"])
    result.stdout.no_fnmatch_line("*plugin.py*")


def test_a_workspace_that_cannot_be_read_is_said_in_a_line(project):
    project.makeini("[pytest]\npackbelt_workspace = nowhere\n")
    project.makepyfile("def test_it(belt): belt()")
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nowhere: is no directory; *packbelt_workspace*"])
    result.stdout.no_fnmatch_line("During handling of*")  # the line stands once


def test_without_a_setting_it_is_rootdirs_workspace(project):
    project.makeini("[pytest]\n")
    write(project.path, FILES)
    project.makepyfile("def test_it(belt): assert belt().agent == 'lead'")
    run(project).assert_outcomes(passed=1)


KEEPS = """
    def test_kept(packbelt_snapshot):
        packbelt_snapshot()
"""


def test_belts_are_kept_and_held(project):
    project.makepyfile(KEEPS)
    first = run(project)
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(["*the belt of 'lead' is not the one that was kept:", "  none was"])
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)
    kept = (project.path / "belts/lead.yaml").read_text()
    assert "direct:\n  ask_worker: pack.direct\n" in kept
    assert "packed:\n  file_read: pack.exposure\n  file_write: pack.exposure, approved by a person\n" in kept
    assert "reserved:\n  mcp__weather__get_forecast: pack.access\n  registry_search: pack.access\n" in kept
    assert "refused: " in (project.path / "belts/broken.yaml").read_text()
    before = {path.name: path.read_bytes() for path in (project.path / "belts").iterdir()}
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    assert {path.name: path.read_bytes() for path in (project.path / "belts").iterdir()} == before


def test_a_difference_says_what_was_lost_gained_and_moved_and_by_which_rule(project):
    project.makepyfile(KEEPS)
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    edit(project, "packs/integrations.yaml", "access: owners\n", "")
    edit(project, "packs/files.yaml", "summary:", "direct: [file_read]\nsummary:")
    edit(project, "packbelt.yaml", "approve: [file_write]", "approve: []")
    edit(
        project,
        "prompts/agents/worker.md",
        "description:",
        "disallowed_tools: [registry_search]\ndescription:",
    )
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*the belt of 'lead' is not the one that was kept:",
        "  gained",
        "    registry_search  reserved → packed: rule pack.access applies no more",
        "  moved",
        "    file_read        packed → direct: pack 'files' promotes it [[]pack.direct[]] (packs/files.yaml:2)",
        "  without a person's yes now",
        "    file_write",
        "*the belt of 'worker' is not the one that was kept:",
        "  lost",
        "    registry_search  direct → denied: entry 'registry_search' of its `disallowed_tools` matches *(prompts/agents/worker.md:3)",
        "*the belts are kept in belts; pytest --packbelt-update keeps them as they are now",
    ])  # fmt: skip
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)


def test_agents_that_come_and_go(project):
    project.makepyfile(KEEPS)
    run(project, "--packbelt-update")
    (project.path / "agents/prompts/agents/worker.md").rename(project.path / "agents/prompts/agents/hand.md")
    edit(project, "prompts/agents/hand.md", "name: worker", "name: hand")
    edit(project, "prompts/agents/lead.md", "worker", "hand")
    for pack in ("integrations",):
        edit(project, f"packs/{pack}.yaml", "worker", "hand")
    edit(project, "packbelt.yaml", "worker", "hand")
    result = run(project)
    result.stdout.fnmatch_lines(["*the belt of 'hand' is not*", "  none was", "*the agent 'worker' is gone*"])
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    assert not (project.path / "belts/worker.yaml").exists()
    run(project).assert_outcomes(passed=1)


def test_one_agent_and_a_name_of_its_own(project):
    project.makepyfile("""
        def test_offline(packbelt_snapshot):
            packbelt_snapshot("worker", snapshot="agents/nothing.yaml", name="offline")
    """)
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)
    assert [path.name for path in (project.path / "belts/offline").iterdir()] == ["worker.yaml"]


def test_only_what_was_kept_is_cleared_away(project):
    project.makepyfile("def test_kept(packbelt_snapshot): packbelt_snapshot()")
    (project.path / "belts").mkdir()
    mine = project.path / "belts/mine.yaml"
    mine.write_text("colour: {of: leather}\n")
    run(project, "--packbelt-update").assert_outcomes(passed=1)
    assert mine.read_text() == "colour: {of: leather}\n"
    run(project).assert_outcomes(passed=1)


def test_nothing_is_kept_outside_nor_of_nobody(project):
    project.makepyfile("""
        def test_name(packbelt_snapshot): packbelt_snapshot("lead", name="../../other")
        def test_agent(packbelt_snapshot): packbelt_snapshot("../nobody")
    """)
    before = set(project.path.parent.rglob("*.yaml"))
    done = run(project, "--packbelt-update")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["*'../../other' leads out of belts/*", "*no agent*'../nobody'*"])
    assert set(project.path.parent.rglob("*.yaml")) == before


def test_beside_xdist_and_in_any_order(project):
    for number in range(4):
        project.makepyfile(**{
            f"test_{number}": "def test_kept(packbelt_snapshot): packbelt_snapshot()\n"
            "def test_belt(assert_belt): assert_belt('lead', direct=['ask_worker'])\n"
        })  # fmt: skip
    for options in (["--packbelt-update"], []):
        run(project, "-n", "2", *options, beside=("xdist", "randomly")).assert_outcomes(passed=8)


def test_a_fixture_of_that_name_for_something_else_is_said_in_a_line(project):
    project.makepyfile("""
        import pytest

        @pytest.fixture
        def workspace(tmp_path): return tmp_path

        def test_own(workspace): assert workspace.is_dir()
        def test_belts(assert_belt): assert_belt("lead", direct=["ask_worker"])
    """)
    done = run(project)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["a fixture `workspace` of this project's own gives PosixPath, *rename*"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_fixtures_of_the_users_own_win(project):
    project.makepyfile("""
        import pytest

        @pytest.fixture
        def workspace(tmp_path):
            return tmp_path

        def test_theirs(workspace, tmp_path):
            assert workspace == tmp_path
    """)
    run(project).assert_outcomes(passed=1)


def test_who_uses_it_not_pays_nothing(project):
    project.makepyfile("""
        import sys

        def test_nothing_is_imported():
            mine = sorted(name for name in sys.modules if name.partition(".")[0] == "packbelt")
            assert mine == ["packbelt", "packbelt._version", "packbelt.testing", "packbelt.testing.plugin"]
    """)
    run(project).assert_outcomes(passed=1)


def test_loading_the_plugin_imports_pytest_alone():
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import packbelt.testing.plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [
        "packbelt",
        "packbelt._version",
        "packbelt.testing",
        "packbelt.testing.plugin",
    ]
