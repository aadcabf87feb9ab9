"""The results file: what was played stays played, whatever ends the run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from packbelt.evals import (
    Bench,
    Condition,
    Header,
    Job,
    Local,
    Result,
    Results,
    ResultsError,
    read_results,
    run_trials,
)
from packbelt.evals.identity import workspace_digest

ROOT = Path(__file__).parents[2]
REPEATS = 12


@pytest.fixture(scope="module")
def bench():
    return Bench(Job(suite="seed"))


@pytest.fixture
def written(bench, tmp_path):
    """A file of two of the seed's five cases, and the trials."""
    file, trials = tmp_path / "kept.jsonl", bench.trials([Condition("bot:raw")])
    with Results.open(file, Header.of(bench)) as results:
        run_trials(bench.job, trials[:2], Local(bench=bench), results)
    return file, trials


def begun(file, repeats=REPEATS):
    """A child process that plays the seed into a file, once it has kept a few plays; and how it is begun."""
    words = ["eval", "seed", "--repeat", str(repeats), "--results", str(file), "-w", str(ROOT)]
    command = [sys.executable, "-m", "packbelt", *words]
    environ = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environ)
    while not file.exists() or file.read_bytes().count(b"\n") < 4:
        assert child.poll() is None
        time.sleep(0.002)
    return child, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)


def timeless(played):
    return [replace(one, seconds=0) for one in played]


def test_a_run_that_is_killed_goes_on_where_it_was_and_ends_as_if_it_had_not_been(tmp_path):
    file = tmp_path / "kept.jsonl"
    child, go_on = begun(file)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    kept = file.read_bytes()
    whole = 1 + 5 * REPEATS
    assert 4 <= kept.count(b"\n") < whole
    go_on()
    assert file.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert file.read_bytes().count(b"\n") == whole
    bench = Bench(Job(ROOT, suite="seed"))
    trials = bench.trials([Condition()], REPEATS)
    header, played = read_results(file)
    assert header == Header.of(bench)
    assert timeless(played) == timeless(run_trials(bench.job, trials, Local(bench=bench)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process could catch")
def test_a_run_that_is_told_to_end_closes_what_it_has_open(tmp_path):
    file = tmp_path / "kept.jsonl"
    child, _ = begun(file, 500)
    child.terminate()
    assert child.wait() == 143
    kept = file.read_bytes()
    assert kept.endswith(b"\n")
    assert len(read_results(file)[1]) == kept.count(b"\n") - 1 < 2500


def test_a_line_that_was_cut_off_is_dropped_and_its_trial_played_again(bench, written):
    file, trials = written
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    assert [one.trial for one in read_results(file)[1]] == [trials[0]]
    with Results.open(file, Header.of(bench)) as results:
        assert results.missing(trials) == trials[1:]
        played = run_trials(bench.job, trials, Local(bench=bench), results)
    assert file.read_bytes().startswith(whole[: whole[:-1].rfind(b"\n") + 1])
    assert timeless(read_results(file)[1]) == timeless(played)
    assert len(played) == 5


def test_a_file_whose_header_was_cut_off_begins_anew(bench, tmp_path):
    file = tmp_path / "kept.jsonl"
    file.write_bytes(b'{"packbelt":"0.')
    with Results.open(file, Header.of(bench)) as results:
        assert results.played == ()
    assert read_results(file) == (Header.of(bench), ())


@pytest.mark.parametrize("content", [b'{"precious": 1}', b"notes"])
def test_a_file_that_is_something_else_is_left_as_it_is_though_it_ends_without_a_line(
    bench, tmp_path, content
):
    file = tmp_path / "mine.json"
    file.write_bytes(content)
    with pytest.raises(ResultsError, match=r"mine\.json:1: is no results file"):
        Results.open(file, Header.of(bench))
    assert file.read_bytes() == content


def test_a_file_that_another_run_writes_to_is_refused_and_free_when_that_has_ended(bench, tmp_path):
    file = tmp_path / "kept.jsonl"
    child, _ = begun(file, 500)
    with pytest.raises(ResultsError, match=r"kept\.jsonl: is being written by another run; wait for it, or"):
        Results.open(file, Header.of(Bench(Job(ROOT, suite="seed"))))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    with Results.open(file, Header.of(bench)) as results:
        assert len(results.played) >= 3
    assert [one.name for one in tmp_path.iterdir()] == ["kept.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_a_full_disk_ends_a_run_with_one_line_and_what_was_kept_is_gone_on_with(bench, tmp_path):
    file = tmp_path / "kept.jsonl"
    words = ["eval", "seed", "--results", str(file), "-w", str(ROOT)]
    limited = (
        "import resource, sys; size = 7000; resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); "
        "from packbelt.cli import main; sys.exit(main())"
    )
    environ = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], check=False, capture_output=True, text=True, env=environ
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"packbelt: error: {file}: cannot be used (File too large); name another file\n"
    trials = bench.trials([Condition()])
    with Results.open(file, Header.of(bench)) as results:
        assert 0 < len(results.played) < len(trials)
        run_trials(bench.job, trials, Local(bench=bench), results)
    assert len(read_results(file)[1]) == len(trials)


def test_outcomes_are_those_of_the_traces_whatever_the_file_says(bench, written):
    file, _ = written
    before = read_results(file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[1:]:
        assert line["report"]["verdict"]["result"] == "reached"
        line["report"]["verdict"]["result"] = "looped"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_results(file) == before


def test_what_the_eval_itself_failed_in_is_played_again_and_the_last_play_counts(bench, tmp_path):
    class Broken:
        name = "bot:raw"

        def begin(self, *_):
            raise RuntimeError("the endpoint is gone")

    file, broken = tmp_path / "kept.jsonl", Bench(bench.job, lambda _: Broken())
    trials = bench.trials([Condition("bot:raw")])
    with Results.open(file, Header.of(bench)) as results:
        played = run_trials(bench.job, trials, Local(bench=broken), results)
    assert {one.report.result for one in played} == {Result.HARNESS_ERROR}
    with Results.open(file, Header.of(bench)) as results:
        assert results.missing(trials) == trials
        run_trials(bench.job, trials, Local(bench=bench), results)
    played = read_results(file)[1]
    assert [one.trial for one in played] == list(trials)
    assert {one.report.result for one in played} == {Result.REACHED}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packbelt": "0"}, "another version of packbelt"),
        ({"suites": ("seed", "other")}, "other suites"),
        ({"cases": "sha256:0"}, "other cases, or they were changed"),
        ({"workspace": "sha256:0"}, "another workspace, or it was changed"),
    ],
)
def test_a_file_of_another_run_is_refused_and_left_as_it_is(bench, written, change, said):
    file, _ = written
    before = file.read_bytes()
    with pytest.raises(ResultsError, match=f"was written for {said}; name another file, or move this one"):
        Results.open(file, replace(Header.of(bench), **change))
    assert file.read_bytes() == before


def test_a_line_in_the_middle_that_is_no_result_is_named(bench, written, tmp_path):
    file, _ = written
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b'{"trial": 7}\n' + lines[2])
    with pytest.raises(ResultsError, match=r"kept.jsonl:2: is no result"):
        Results.open(file, Header.of(bench))
    file.write_bytes(b"[1]\n")
    with pytest.raises(
        ResultsError, match=r"kept.jsonl:1: is no results file; name a file that --results wrote"
    ):
        read_results(file)
    with pytest.raises(ResultsError, match="cannot be used"):
        read_results(tmp_path / "none.jsonl")
    with pytest.raises(ResultsError, match="cannot be used"):
        Results.open(tmp_path / "no" / "folder.jsonl", Header.of(bench))


def test_the_digest_of_a_workspace_is_of_what_it_says_and_not_of_where_it_lies(tmp_path):
    for part in ("packbelt.yaml", "packs", "prompts", "evals"):
        source = ROOT / part
        shutil.copytree(source, tmp_path / part) if source.is_dir() else shutil.copy(source, tmp_path / part)
    here, there = Bench(Job(ROOT)), Bench(Job(tmp_path))
    assert Header.of(here) == Header.of(there)
    pack = tmp_path / "packs" / "skills.yaml"
    pack.write_text(pack.read_text().replace("direct: [setup_skills, run_skill]", "direct: [setup_skills]"))
    assert workspace_digest(Bench(Job(tmp_path)).workspace) != workspace_digest(there.workspace)
    suite = tmp_path / "evals" / "seed.yaml"
    suite.write_text(suite.read_text().replace("Install a code review skill", "Install a review skill"))
    assert Header.of(Bench(Job(tmp_path))).cases != Header.of(there).cases


def test_what_a_model_says_is_kept_whatever_letters_it_has(bench, tmp_path):
    class Odd:
        name = "odd"

        def begin(self, *_):
            return self

        async def reply(self, _):
            return {"role": "assistant", "content": "a\ud800b\u2028c\nd\x00é"}

    file, odd = tmp_path / "kept.jsonl", Bench(bench.job, lambda _: Odd())
    with Results.open(file, Header.of(bench)) as results:
        played = run_trials(bench.job, bench.trials([Condition("odd")]), Local(bench=odd), results)
    assert {one.report.result for one in played} == {Result.ANSWERED_WITHOUT_TOOL}
    assert read_results(file)[1] == played
