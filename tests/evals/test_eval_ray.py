"""Trials on a Ray cluster of two nodes on this machine: the same results as here, from two workers."""

import os
import signal
from contextlib import closing

import pytest

from packbelt.evals import (
    Bench,
    Condition,
    Header,
    Job,
    Local,
    Result,
    Results,
    read_results,
    run_trials,
)
from packbelt.evals.executors.ray import RETRIES, Ray
from packbelt.model import PackbeltError

os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # read when Ray is imported: as the executor has it
ray = pytest.importorskip("ray")

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning"
)  # Ray leaves its nodes' pipes to the collector


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one CPU each, which nothing is reported of."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        made.add_node(num_cpus=1)
        ray.init(made.address, log_to_driver=False, logging_level="ERROR")
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def test_two_workers_on_two_nodes_play_what_is_played_here_and_go_on_where_it_was_left(cluster, tmp_path):
    job = Job(suite="seed")
    bench = Bench(job)
    conditions = [
        Condition(model, layout) for model in ("scripted", "bot:raw") for layout in ("promoted", "packed")
    ]
    trials = bench.trials([*conditions, Condition("scripted", mutation="no-hints")], 2)
    here = run_trials(job, trials, Local(bench=bench))

    path = tmp_path / "results.jsonl"
    with Results.open(path, Header.of(bench)) as results, closing(Ray().run(job, trials)) as plays:
        for _ in range(7):
            results.add(next(plays))
    begun = read_results(path)[1]
    assert len(begun) == 7
    executor = Ray()
    with Results.open(path, Header.of(bench)) as results:
        there = run_trials(job, trials, executor, results)
    assert [(one.trial, one.report) for one in there] == [(one.trial, one.report) for one in here]
    assert len({place.node for place in executor.places}) == 2
    assert len({place.pid for place in executor.places}) == 2
    assert os.getpid() not in {place.pid for place in executor.places}
    assert executor.places.total() == len(trials) - len(begun)
    written = {one.trial: one.report for one in read_results(path)[1]}
    assert written == {one.trial: one.report for one in here}


def test_what_a_dead_worker_had_under_way_is_played_again(cluster, tmp_path):
    once, job = tmp_path / "died", Job(suite="seed")
    doomed = "skill-install-by-purpose"

    def models(name):
        """Each of these ends its own process: `once` the first time, `ever` every time."""
        from packbelt.evals import model_named

        good = model_named("scripted")

        class Dying:
            def begin(self, case, repeat=0):
                if case.case.id == doomed and (name == "ever" or not once.exists()):
                    once.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return good.begin(case, repeat)

        made = Dying()
        made.name = name
        return made

    bench = Bench(job, models)
    trials = bench.trials([Condition("once")])
    played = run_trials(job, trials, Ray(models=models))
    assert once.exists()
    assert [one.report for one in played] == [
        one.report for one in run_trials(job, trials, Local(bench=bench))
    ]

    fatal = run_trials(job, bench.trials([Condition("ever")]), Ray(models=models))
    results = {one.trial.case: one.report.result for one in fatal}
    assert results.pop(doomed) is Result.HARNESS_ERROR
    assert results == {one.trial.case: one.report.result for one in played if one.trial.case != doomed}
    (error,) = [one.report.trace.error for one in fatal if one.trial.case == doomed]
    assert error == f"its worker died {RETRIES + 1} times"


def test_what_cannot_be_played_is_known_before_a_worker_is_asked():
    job = Job(suite="seed")
    trials = Bench(job).trials([Condition("no such model")])
    with pytest.raises(PackbeltError, match="no model is called 'no such model'"):
        next(Ray("127.0.0.1:1").run(job, trials))


def test_workers_that_cannot_begin_are_one_line(cluster, monkeypatch):
    monkeypatch.setattr("packbelt.evals.executors.ray.HIRING", 3.0)
    job = Job(suite="seed")
    with pytest.raises(PackbeltError, match="5 workers did not begin within 3 seconds"):
        list(Ray(workers=5).run(job, Bench(job).trials([Condition()], 1)))
