"""Recordings: the same requests get the same replies, and a request that changed gets none."""

import json
from dataclasses import replace

import pytest

from packbelt.evals import Recorder, Replay, ReplayError, Result, model_named
from packbelt.evals.models.cassette import Entry


@pytest.fixture
def kept(embedded, seed, play):
    entries = []
    report = play(embedded, seed, Recorder(model_named("bot:raw"), entries.append))
    return entries, report


def test_a_replay_gives_the_same_report_and_asks_nobody(embedded, seed, play, kept, tmp_path):
    entries, report = kept
    file = tmp_path / "kept.jsonl"
    file.write_text("".join(entry.to_line() for entry in entries))
    replayed = Replay.from_file(file)
    assert replayed.entries == tuple(entries)
    assert play(embedded, seed, replayed).cases == report.cases
    assert {entry.model for entry in entries} == {"bot:raw"}


@pytest.mark.parametrize(
    "change",
    [
        (lambda one: replace(one, config=replace(one.config, opener="open_pack")), "tools"),
        (lambda one: replace(one, agents={**one.agents, "orchestrator": replace(one.agents["orchestrator"], body="x")}), "prompt"),
    ],
)  # fmt: skip
def test_a_changed_request_is_the_eval_s_own_error_and_names_what_differs(change, embedded, seed, play, kept):
    change_of, part = change
    report = play(change_of(embedded), seed, Replay(kept[0]))
    assert {case.result for case in report.cases} == {Result.HARNESS_ERROR}
    assert all(f"the {part} sent is not what was recorded" in case.trace.error for case in report.cases)
    assert report.within.whole == 0


def test_a_changed_answer_of_a_tool_is_noticed_where_it_is_first_sent(embedded, seed, play, kept):
    told = replace(seed, cases=(replace(seed.cases[0], answers={"setup_skills": "Not found."}),))
    (case,) = play(embedded, told, Replay(kept[0])).cases
    assert "at reply number 2 the conversation sent is not what was recorded" in case.trace.error


def test_a_recording_that_ends_too_early_says_so(embedded, seed, play, kept):
    early = [entry for entry in kept[0] if entry.turn == 1]
    report = play(embedded, seed, Replay(early))
    assert all("has no reply number 2 for this case" in case.trace.error for case in report.cases)


@pytest.mark.parametrize(
    "line", ["x", "[]", "3", '{"model": "m", "case": "c", "repeat": 0, "turn": 1, "asked": 4, "reply": {}}']
)
def test_what_is_no_recording_is_refused_with_its_line(tmp_path, line):
    good = Entry("m", "c", 0, 1, {"tools": "t"}, {"content": "x"}).to_line()
    assert json.loads(good)["case"] == "c"
    (tmp_path / "x.jsonl").write_text(good + line + "\n")
    with pytest.raises(ReplayError, match=r"x\.jsonl:2: is no line of a recording"):
        Replay.from_file(tmp_path / "x.jsonl")
