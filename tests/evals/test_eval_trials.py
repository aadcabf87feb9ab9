"""Trials: what a grid holds, and how this process plays it."""

import pickle

import anyio
import pytest

from packbelt.evals import Bench, Condition, Job, Local, Result, Trial, grid, run_trials
from packbelt.evals.judge import assess
from packbelt.evals.models import call, say
from packbelt.model import PackbeltError, WorkspaceError


@pytest.fixture(scope="module")
def bench():
    return Bench(Job(suite="seed"))


def test_a_grid_is_every_case_under_every_condition_so_often():
    one, two = Condition("a"), Condition("a", "packed")
    trials = grid([("s", "x"), ("s", "y")], [one, two], 2)
    assert len(set(trials)) == len(trials) == 8
    assert trials[:3] == (Trial("s", "x", one, 0), Trial("s", "x", one, 1), Trial("s", "y", one, 0))
    assert {trial.condition for trial in trials[4:]} == {two}


def test_plays_come_in_the_order_of_the_trials_and_say_what_was_played(bench):
    trials = bench.trials([Condition("bot:raw", layout) for layout in ("promoted", "packed")], 2)
    played = run_trials(bench.job, trials, Local(bench=bench))
    assert [one.trial for one in played] == list(trials)
    assert all(one.trial.case == one.report.id and one.seconds > 0 for one in played)
    assert [(one.condition.layout, one.outcomes) for one in assess(played)] == [
        ("promoted", {Result.REACHED: 10}),
        ("packed", {Result.RAW_TOOL: 10}),
    ]


def test_a_bench_of_its_own_job_plays_a_trial_alike_wherever_it_stands(bench):
    trial = bench.trials([Condition()])[0]
    (here,) = run_trials(bench.job, [trial], Local(bench=bench))
    other = Bench(pickle.loads(pickle.dumps(bench.job)))
    there = [pickle.loads(pickle.dumps(other.play(trial))) for _ in range(2)]
    other.close()
    assert [one.report for one in there] == [here.report] * 2


class Waiting:
    """A model that answers when as many cases ask it as it says, and keeps how many were under way at most."""

    def __init__(self, concurrency, together):
        if concurrency:
            self.concurrency = concurrency
        self.name, self.together = "waiting", together
        self.begun, self.repeats = [], []
        self.here = self.most = 0
        self.full = anyio.Event()

    def begin(self, case, repeat=0):
        self.begun.append(case.case.id)
        self.repeats.append(repeat)
        return self

    async def reply(self, _):
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here >= self.together:
            self.full.set()
        await self.full.wait()
        self.here -= 1
        return say("Done.")


@pytest.mark.parametrize(("jobs", "concurrency", "most"), [(3, 8, 3), (8, 2, 2), (8, None, 1)])
def test_as_many_cases_are_under_way_as_the_model_allows_and_no_more_than_jobs(jobs, concurrency, most):
    model = Waiting(concurrency, most)
    bench = Bench(Job(suite="seed"), lambda _: model)
    trials = bench.trials([Condition("waiting")], 2)
    played = run_trials(bench.job, trials, Local(jobs, bench))
    assert model.most == most
    assert sorted(model.repeats) == [0] * 5 + [1] * 5
    assert [one.trial for one in played] == list(trials)


def test_who_stops_taking_plays_ends_what_is_under_way():
    class Never:
        name, concurrency, ended = "never", 4, 0

        def begin(self, case, repeat=0):
            return _Mind(self, first=case.case.id == "skill-find-install-run" and not repeat)

    class _Mind:
        def __init__(self, model, *, first):
            self.model, self.first = model, first

        async def reply(self, _):
            if self.first:
                return say("Done.")
            try:
                await anyio.sleep_forever()
            finally:
                self.model.ended += 1

    model = Never()
    bench = Bench(Job(suite="seed"), lambda _: model)
    plays = Local(4, bench).run(bench.job, bench.trials([Condition("never")]))
    assert next(plays).trial.case == "skill-find-install-run"
    plays.close()
    assert model.ended in (3, 4)  # those that had begun; none goes on behind anybody's back


def test_a_model_that_samples_is_told_which_repeat_it_is():
    class Turns:
        name = "turns"

        def begin(self, _, repeat=0):
            return _Turn(repeat)

    class _Turn:
        def __init__(self, repeat):
            self.repeat = repeat

        async def reply(self, request):
            return (
                call(len(request.messages), "setup_skills", {"request": "x"}) if self.repeat else say("No.")
            )

    bench = Bench(Job(suite="seed"), lambda _: Turns())
    trials = [one for one in bench.trials([Condition("turns")], 2) if one.case == "skill-install-by-purpose"]
    results = [one.report.result for one in run_trials(bench.job, trials, Local(bench=bench))]
    assert results == [Result.ANSWERED_WITHOUT_TOOL, Result.REACHED]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (Condition("bot:rawr"), "no model is called 'bot:rawr'"),
        (Condition(layout="packd"), "no layout is called 'packd'"),
        (Condition(mutation="nul"), "no mutation is called 'nul'"),
    ],
)
def test_what_cannot_be_used_is_known_before_anything_is_played(bench, condition, said):
    played = []
    trials = bench.trials([Condition(), condition])
    with pytest.raises(PackbeltError, match=said):
        run_trials(bench.job, trials, Local(bench=bench), on_played=played.append)
    assert played == []


def test_a_worker_with_other_files_says_so(bench):
    trial = Trial("seed", "no-such", Condition())
    with pytest.raises(PackbeltError, match="no case 'no-such' in a suite 'seed'; give the worker the same"):
        run_trials(bench.job, [trial], Local(bench=bench))
    with pytest.raises(WorkspaceError, match="no suite is called 'sed'"):
        Bench(Job(suite="sed"))
