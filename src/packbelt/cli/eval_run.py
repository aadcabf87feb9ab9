"""`packbelt eval`: from what was asked for to what was played."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packbelt.catalog.workspace import Workspace
from packbelt.cli.eval_progress import Progress
from packbelt.cli.eval_record import check_record, recording
from packbelt.cli.loaded import load_errors, report
from packbelt.cli.options import Source
from packbelt.evals import (
    LAYOUTS,
    Bench,
    Condition,
    Endpoint,
    Executor,
    Header,
    Job,
    Local,
    Model,
    Played,
    Results,
    Sampling,
    Suite,
    model_named,
    mutations_of,
    run_trials,
    sampled,
)
from packbelt.evals.preflight import preflight
from packbelt.live.foreground import unwound
from packbelt.model import PackbeltError

ALL = "all"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        suite: the suite; None for all.
        models: names.
        layouts: names, or `all`.
        mutations: names, or `all`; empty for none.
        repeats: plays of each case under each condition.
        results: where plays are kept.
        record: where replies are kept.
        jobs: cases at a time.
        sampling: how live models sample whose names do not say.
        endpoint: how they are asked.
        executor: `local`, or `ray` for a cluster.
        workers: of the cluster; None for one on each CPU.
    """

    suite: str | None = None
    models: tuple[str, ...] = ("scripted",)
    layouts: tuple[str, ...] = ("promoted",)
    mutations: tuple[str, ...] = ()
    repeats: int = 1
    results: Path | None = None
    record: Path | None = None
    jobs: int = 1
    sampling: Sampling = field(default_factory=Sampling)
    endpoint: Endpoint = field(default_factory=Endpoint)
    executor: str = "local"
    workers: int | None = None

    @property
    def scored(self) -> bool:
        """Whether the mutation score is asked for."""
        return ALL in self.mutations

    @property
    def model_named(self) -> Callable[[str], Model]:
        """How models are made: live ones are asked at the endpoint that was given."""
        return partial(model_named, endpoint=self.endpoint)

    def conditions(self, bench: Bench) -> tuple[Condition, ...]:
        """Every combination, each once."""
        layouts = tuple(LAYOUTS) if ALL in self.layouts else self.layouts
        mutations = tuple(mutations_of(bench.workspace)) if self.scored else self.mutations or (None,)
        return tuple(
            dict.fromkeys(
                Condition(model, layout, mutation)
                for model in (sampled(name, self.sampling) for name in self.models)
                for layout in layouts
                for mutation in mutations
            )
        )


@dataclass(frozen=True, slots=True)
class Done:
    """What was played.

    Attributes:
        asked: what was asked for.
        workspace: whose agents were asked.
        suites: the suites.
        played: every play, in order.
    """

    asked: Asked
    workspace: Workspace
    suites: tuple[Suite, ...]
    played: tuple[Played, ...]


def play(asked: Asked, source: Source, executor: Executor | None = None) -> Done:
    """Play what was asked for.

    Args:
        asked: what was asked for.
        source: the workspace and the snapshot.
        executor: who plays; this process by default.

    Raises:
        PackbeltError: something that it names cannot be used.
    """
    workspace = source.workspace()
    report(load_errors(workspace))
    source.snapshot()  # what is wrong with it is said here, with where its name came from
    root = None if workspace.embedded else workspace.root
    if asked.record is not None:
        check_record(asked.record, asked.models, asked.results)
    job = Job(root, source.file.resolve() if source.file else None, asked.suite)
    with unwound(), ExitStack() as stack:
        models = _models(asked, stack)
        bench = Bench(job, models, workspace)
        preflight(workspace, bench.suites)
        trials = bench.trials(asked.conditions(bench), asked.repeats)
        bench.prepare(trials)
        results = None
        if asked.results is not None:
            results = stack.enter_context(Results.open(asked.results, Header.of(bench)))
        left = trials if results is None else results.missing(trials)
        progress = stack.enter_context(Progress(len(left)))
        played = run_trials(job, trials, executor or _executor(asked, bench, models), results, progress)
    return Done(asked, workspace, bench.suites, played)


def _executor(asked: Asked, bench: Bench, models: Callable[[str], Model]) -> Executor:
    """Who plays.

    Raises:
        PackbeltError: replies are to be recorded on a cluster.
    """
    if asked.executor == "local":
        return Local(asked.jobs, bench)
    from packbelt.evals.executors.ray import Ray  # an extra

    if asked.record is not None:
        mend = "record with --executor local"
        raise PackbeltError("replies on a cluster are not recorded: each worker has its own", mend=mend)
    return Ray(workers=asked.workers, jobs=asked.jobs, models=models)


def _models(asked: Asked, stack: ExitStack) -> Callable[[str], Model]:
    """How models are made; with what they say written to a file where that is asked for.

    Raises:
        PackbeltError: the file cannot be written.
    """
    made = asked.model_named
    if asked.record is None or asked.executor != "local":
        return made
    return recording(asked.record, made, stack)
