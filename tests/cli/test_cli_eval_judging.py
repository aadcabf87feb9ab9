"""`packbelt eval --compare / --baseline / --fail-on / --junit / --html`: what is judged, written and exited with."""

import json
import subprocess
from xml.etree import ElementTree as ET

import pytest
from small_project import write

SMALL = {
    "packbelt.yaml": "orchestrator: lead\n",
    "packs/keep.yaml": "id: keep\nsummary: Keeps things.\ntools: [to_keeper]\ndirect: [to_keeper]\n",
    "prompts/agents/lead.md": "---\nname: lead\ndescription: Leads.\ndelegates: [keeper]\n---\nLead.\n",
    "prompts/agents/keeper.md": "---\nname: keeper\ndescription: Keeps what it is given.\nhandoff: to_keeper\n---\nKeep.\n",
    "evals/keep.yaml": "cases:\n"
    + "".join(
        f"  - {{id: keep-{n}, request: Keep number {n}., expect: [to_keeper], tags: [keep]}}\n"
        for n in range(8)
    )
    + "  - {id: thanks, request: Thank you., expect: none}\n",
}
BROKEN = {**SMALL, "packs/keep.yaml": "id: keep\nsummary: Keeps things.\ntools: [to_keeper]\n"}
"""The hand-off is put away, so that a bot that opens no pack does not find it."""


@pytest.fixture
def good(tmp_path):
    return write(tmp_path / "good", SMALL)


@pytest.fixture
def bad(tmp_path):
    return write(tmp_path / "bad", BROKEN)


WEB = ("--model", "bot:web")


def test_rates_stand_with_their_intervals(run, good):
    done = run(good, "eval", *WEB)
    assert (done.exit_code, done.stderr) == (0, "")
    # 9 of 9: Wilson's lower end is 70.1 % (scipy.stats.binomtest(9, 9).proportion_ci(method="wilson"))
    assert "bot:web, promoted      9  100 % (70 to 100)  100 % (70 to 100)  0 % of 1" in done.stdout


def test_another_workspace_is_compared_on_the_same_cases(run, good, bad):
    done = run(bad, "eval", *WEB, "--compare", good, "--fail-on", "worse")
    assert done.exit_code == 1
    # 8 to 0: 2 / 2**8
    assert "0 : 8  0.0078  worse" in done.stdout
    assert "lost keep/keep-0, keep/keep-1" in done.stdout
    turned = run(good, "eval", *WEB, "--compare", bad, "--fail-on", "worse")
    assert turned.exit_code == 0
    assert "8 : 0  0.0078  better" in turned.stdout


def test_a_git_revision_is_compared(run, good):
    for args in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", good, *args], check=True)
    (good / "packs/keep.yaml").write_text(BROKEN["packs/keep.yaml"])
    done = run(good, "eval", *WEB, "--compare", "HEAD", "--json")
    (found,) = json.loads(done.stdout)["judgement"]["comparisons"]
    assert (found["before"], found["pairings"][0]["finding"], found["pairings"][0]["contrast"]["pairs"]) == (
        "HEAD",
        "worse",
        9,
    )


def test_a_results_file_is_compared(run, good, bad, tmp_path):
    kept = tmp_path / "kept.jsonl"
    assert run(good, "eval", *WEB, "--results", kept).exit_code == 0
    done = run(bad, "eval", *WEB, "--compare", kept)
    assert done.exit_code == 1
    assert "worse" in done.stdout


def test_cases_whose_tools_the_other_side_lacks_are_left_out_and_said(run, good, tmp_path):
    small = {**SMALL, "prompts/agents/keeper.md": "---\nname: keeper\ndescription: Keeps.\nhandoff: keeping\n---\nKeep.\n",
             "packs/keep.yaml": "id: keep\nsummary: Keeps.\ntools: [keeping]\ndirect: [keeping]\n", "evals/keep.yaml": "cases: [{id: thanks, request: Thank you., expect: none}]\n"}  # fmt: skip
    done = run(good, "eval", *WEB, "--compare", write(tmp_path / "other", small))
    assert done.stderr == "packbelt: 8 cases not played there: it lacks their agents or tools\n"
    assert "on one side only: keep/keep-0" in done.stdout


def test_a_baseline_is_written_kept_to_and_fallen_short_of(run, good, tmp_path):
    file = tmp_path / "baseline.json"
    missing = run(good, "eval", *WEB, "--baseline", file)
    assert missing.exit_code == 2
    assert "write it with --update-baseline" in missing.stderr
    assert run(good, "eval", *WEB, "--baseline", file, "--update-baseline").exit_code == 0
    before = file.read_text()
    kept = run(good, "eval", *WEB, "--baseline", file)
    assert (kept.exit_code, "no regression" in kept.stdout) == (0, True)
    (good / "packs/keep.yaml").write_text(BROKEN["packs/keep.yaml"])
    short = run(good, "eval", *WEB, "--baseline", file)
    assert short.exit_code == 1
    assert "regression keep/keep-0 (bot:web, promoted): answered_without_tool 1" in short.stdout
    assert file.read_text() == before
    assert run(good, "eval", *WEB, "--baseline", file, "--fail-on", "error").exit_code == 0
    (good / "evals/keep.yaml").write_text("cases: [{id: other, request: Keep it., expect: [to_keeper]}]\n")
    nothing = run(good, "eval", *WEB, "--baseline", file)
    assert nothing.exit_code == 2
    assert "the baseline has none of these cases" in nothing.stderr


def test_the_floor_is_held_against_the_lower_end(run, good):
    assert run(good, "eval", *WEB, "--fail-on", "floor:0.7").exit_code == 0
    done = run(good, "eval", *WEB, "--fail-on", "floor:0.71")
    assert done.exit_code == 1
    assert "floor:0.71: bot:web, promoted (0.701)" in done.stdout


def test_beside_a_mutation_score_stands_why_the_run_failed_and_what_it_was_compared_with(run, good, bad):
    done = run(good, "eval", *WEB, "--mutate", "all", "--compare", bad, "--fail-on", "failed")
    assert done.exit_code == 1
    assert "failed: bot:web, promoted, repack-handoffs (8)" in done.stdout
    assert "8 : 0" in done.stdout
    assert "rates, a case" not in done.stdout


def test_junit_and_html_are_written(run, good, bad, tmp_path):
    junit, html = tmp_path / "out/junit.xml", tmp_path / "out/page.html"
    assert run(bad, "eval", *WEB, "--junit", junit, "--html", html, "--compare", good).exit_code == 1
    root = ET.parse(junit).getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("9", "8", "0")
    page = html.read_text()
    assert page.startswith("<!doctype html>")
    assert '<strong class="bad">worse</strong>' in page


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--fail-on", "regression"], "--fail-on regression needs a --baseline FILE to compare with"),
        (["--fail-on", "worse"], "--fail-on worse needs --compare OLD"),
        (["--fail-on", "floor:8"], "'floor:8' is no floor; write a share from 0 to 1: floor:0.8"),
        (["--fail-on", "regressed"], "'regressed' is no condition"),
        (["--compare", "nowhere"], "'nowhere' is no directory"),
    ],
)
def test_what_cannot_be_judged_is_one_line_and_exit_2(run, good, args, said):
    done = run(good, "eval", *args)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_ev10_a_case_that_nobody_could_win_is_refused_before_anything_is_played(run, good):
    lead = good / "prompts/agents/lead.md"
    lead.write_text(lead.read_text().replace("delegates: [keeper]", "delegates: []"))
    done = run(good, "eval")
    assert done.exit_code == 2
    assert "case 'keep-0' expects 'to_keeper', which agent 'lead' cannot call (off_belt)" in done.stderr


def test_the_json_holds_the_judgement(run, good):
    data = json.loads(run(good, "eval", *WEB, "--layout", "all", "--json").stdout)["judgement"]
    assert [one["condition"]["layout"] for one in data["assessments"]] == ["promoted", "packed", "flat"]
    assert data["coverage"]["hand_offs"]["cases"] == {"to_keeper": 8}
    assert [len(one["pairings"]) for one in data["comparisons"]] == [3]
    assert data["matrices"][0][0]["rows"] == ["handoff:to_keeper", "none"]
