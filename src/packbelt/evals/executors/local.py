"""The executor of this process: one case at a time, or several of models that wait for a network."""

from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue

import anyio
from anyio.from_thread import start_blocking_portal

from packbelt.evals.executors.work import Bench, Job
from packbelt.evals.trials import Played, Trial


class Local:
    """Plays trials in this process, in their order.

    Args:
        jobs: cases that are under way at a time. A model is asked for as many as its attribute
            `concurrency` says, and for one where it has none.
        bench: a bench of the job, where the caller has one.
    """

    def __init__(self, jobs: int = 1, bench: Bench | None = None) -> None:
        self.jobs = jobs
        self.bench = bench

    def run(self, job: Job, trials: Sequence[Trial]) -> Generator[Played, None, None]:
        """Play trials: see `Executor.run`.

        Raises:
            PackbeltError: the job, or what a trial names, cannot be used.
        """
        bench = self.bench or Bench(job)
        bench.prepare(trials)
        over: SimpleQueue[Played | None] = SimpleQueue()
        # The event loop has a thread of its own, so that whoever takes what comes may take his time.
        with start_blocking_portal() as portal:
            playing = portal.start_task_soon(_play, bench, trials, self.jobs, over.put)
            playing.add_done_callback(lambda _: over.put(None))
            try:
                while (played := over.get()) is not None:
                    yield played
                playing.result()
            finally:
                playing.cancel()


async def _play(bench: Bench, trials: Sequence[Trial], jobs: int, tell: Callable[[Played], None]) -> None:
    everywhere = anyio.CapacityLimiter(jobs)
    models = {trial.condition.model: bench.model(trial.condition.model) for trial in trials}
    each = {
        name: anyio.CapacityLimiter(min(jobs, getattr(model, "concurrency", 1)))
        for name, model in models.items()
    }

    async def one(trial: Trial) -> None:
        async with each[trial.condition.model], everywhere:
            tell(await bench.play_async(trial))

    async with anyio.create_task_group() as tasks:
        for trial in trials:
            tasks.start_soon(one, trial)
