"""Play a grid of trials, and keep what came of each."""

from collections.abc import Callable, Sequence
from contextlib import closing

from packbelt.evals.executors.executor import Executor
from packbelt.evals.executors.work import Job
from packbelt.evals.results import Results
from packbelt.evals.trials import Played, Trial


def run_trials(
    job: Job,
    trials: Sequence[Trial],
    executor: Executor,
    results: Results | None = None,
    on_played: Callable[[Played], None] | None = None,
) -> tuple[Played, ...]:
    """Play trials, in the order of the trials whatever order they end in.

    Args:
        job: what they are trials of.
        trials: what is to be played.
        executor: who plays them.
        results: where each play is kept as it ends; what it holds already is not played.
        on_played: told of each play as it ends.

    Raises:
        PackbeltError: the job, or what a trial names, cannot be used, or a result not be written.
    """
    found = {} if results is None else {one.trial: one for one in results.played}
    missing = trials if results is None else results.missing(trials)
    if missing:
        with closing(executor.run(job, missing)) as plays:
            for one in plays:
                found[one.trial] = one
                if results is not None:
                    results.add(one)
                if on_played is not None:
                    on_played(one)
    return tuple(found[trial] for trial in trials)
