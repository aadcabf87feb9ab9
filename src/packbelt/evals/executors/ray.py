"""The executor of a Ray cluster: trials are spread over workers on all of its nodes.

What is played is sent to the workers: the workspace as it was read here, its cases and the models' names. A
node needs packbelt in the same version and what its models need (keys, weights), and no file of a workspace.
"""

import logging
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packbelt._version import __version__
from packbelt.evals.executors.work import Bench, Job
from packbelt.evals.models import Model, model_named
from packbelt.evals.outcomes import classify
from packbelt.evals.report import CaseReport
from packbelt.evals.trace import Fault, Trace
from packbelt.evals.trials import Played, Trial
from packbelt.model import PackbeltError

if TYPE_CHECKING:
    from ray import ObjectRef
    from ray.actor import ActorHandle

LOCAL = "local"
"""The address of a cluster that is begun for one run, on this machine."""
HIRING = 180.0
"""Seconds that workers have to begin."""
RETRIES = 2
"""How often a trial is played again whose worker died."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trial was played.

    Attributes:
        node: the node's id with Ray.
        pid: the worker's process there.
    """

    node: str
    pid: int


class Ray:
    """Plays trials on a Ray cluster.

    Args:
        address: the cluster, as `ray.init` takes it; None for the one that this process is connected to, else
            that of `RAY_ADDRESS`, else one that is begun on this machine for the run.
        workers: how many; None for one on each CPU of the cluster.
        jobs: trials at a time in one worker, for models that wait for a network: as many as the model that
            takes the fewest, by its attribute `concurrency`, and one where it has none.
        models: the model of a name; it is called in the workers.

    Attributes:
        places: where trials were played, and how many at each place.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        jobs: int = 1,
        models: Callable[[str], Model] = model_named,
    ) -> None:
        self.address, self.workers, self.jobs, self.models = address, workers, jobs, models
        self.places: Counter[Place] = Counter()

    def run(self, job: Job, trials: Sequence[Trial]) -> Generator[Played, None, None]:
        """Play trials: see `Executor.run`.

        A trial whose worker dies is played again by its successor; one that ends its workers `RETRIES` times
        more is the harness's error.

        Raises:
            PackbeltError: the job, or what a trial names, cannot be used; there is no such cluster, or a
                worker has another version of packbelt.
        """
        bench = Bench(job, self.models)
        bench.prepare(trials)
        with self._cluster():
            import ray  # noqa: PLC0415 - an extra

            sent = ray.put(Bench(job, self.models, bench.workspace))  # without what was made to look at it
            names = {trial.condition.model for trial in trials}
            jobs = min(self.jobs, *(getattr(bench.model(name), "concurrency", 1) for name in names))
            workers = self._hire(len(trials), jobs)
            free, left = deque(worker for _ in range(jobs) for worker in workers), deque(trials)
            under_way: dict[ObjectRef[Any], tuple[Trial, ActorHandle[Any]]] = {}
            try:
                while left or under_way:
                    while left and free:
                        trial, worker = left.popleft(), free.popleft()
                        under_way[worker.play.remote(trial, [sent])] = trial, worker
                    (over, *_), _ = ray.wait(list(under_way), num_returns=1)
                    trial, worker = under_way.pop(over)
                    free.append(worker)
                    yield self._result(bench, trial, over)
            finally:
                for worker in workers:
                    ray.kill(worker)

    def _hire(self, trials: int, jobs: int) -> "list[ActorHandle[Any]]":
        """The workers, each of which answered.

        Raises:
            PackbeltError: one has another version of packbelt, or they did not begin in time.
        """
        import ray  # noqa: PLC0415 - an extra

        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        count = self.workers or int(resources.get("CPU", 1))
        spread: Any = ray.remote(_Worker).options(
            num_cpus=1,
            scheduling_strategy="SPREAD",
            max_restarts=-1,
            max_task_retries=RETRIES,
            max_concurrency=max(2, jobs),  # Ray plays what is async in one thread then
        )
        workers = [spread.remote() for _ in range(max(1, min(count, trials)))]
        try:
            versions = set(ray.get([worker.version.remote() for worker in workers], timeout=HIRING))
        except ray.exceptions.GetTimeoutError:
            raise PackbeltError(
                f"{len(workers)} workers did not begin within {HIRING:g} seconds",
                mend=f"see `ray status`: each takes a CPU, and packbelt {__version__} on its node",
            ) from None
        except ray.exceptions.RayError as error:
            raise PackbeltError(
                f"a worker could not begin ({type(error).__name__})",
                mend=f"install packbelt {__version__} on each node, with Python "
                f"{sys.version_info.major}.{sys.version_info.minor}",
            ) from None
        if versions != {__version__}:
            others = ", ".join(sorted(versions - {__version__}))
            mend = f"install packbelt {__version__} on each node"
            raise PackbeltError(f"a worker has packbelt {others}", mend=mend)
        return workers

    def _result(self, bench: Bench, trial: Trial, over: "ObjectRef[Any]") -> Played:
        import ray  # noqa: PLC0415 - an extra

        try:
            found: tuple[Played, Place] = ray.get(over)
        except ray.exceptions.RayActorError:
            one = bench.cases[trial.suite, trial.case]
            trace = Trace((), None, Fault.HARNESS, f"its worker died {RETRIES + 1} times")
            case, verdict = one.case, classify(one.expected, trace)
            report = CaseReport(case.id, case.agent, case.request, case.tags, one.expected, verdict, trace)
            return Played(trial, report)
        played, place = found
        self.places[place] += 1
        return played

    @contextmanager
    def _cluster(self) -> Iterator[None]:
        """Connected to the cluster; what was connected before stays so.

        Raises:
            PackbeltError: Ray is not installed, or there is no such cluster.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody unasked
        # Under `uv run` Ray would send this directory to the workers and begin each by `uv run` in turn.
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        try:
            import ray  # noqa: PLC0415 - an extra
        except ImportError:
            raise PackbeltError("ray is not installed", mend="pip install 'packbelt[ray]'") from None
        if ray.is_initialized():
            yield
            return
        try:
            ray.init(self.address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as error:
            raise PackbeltError(
                f"no Ray cluster is at {self.address!r} ({type(error).__name__})",
                mend="begin one with `ray start --head`, or name its address",
            ) from None
        try:
            yield
        finally:
            ray.shutdown()


class _Worker:
    """Plays trials in a process of its own: an actor of Ray. A successor fetches the bench anew."""

    bench: Bench | None = None

    async def version(self) -> str:
        return __version__

    async def play(self, trial: Trial, sent: "list[ObjectRef[Bench]]") -> tuple[Played, Place]:
        import ray  # noqa: PLC0415 - an extra

        if self.bench is None:
            self.bench = await sent[0]
        place = Place(ray.get_runtime_context().get_node_id(), os.getpid())
        return await self.bench.play_async(trial), place
