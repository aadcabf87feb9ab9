"""`packbelt eval`: from what was asked for to what was played."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from packbelt.cli.eval_progress import Progress
from packbelt.cli.loaded import load_errors, report
from packbelt.cli.options import Source
from packbelt.evals import (
    LAYOUTS,
    Bench,
    Condition,
    Executor,
    Header,
    Job,
    Local,
    Model,
    Played,
    Recorder,
    Results,
    Suite,
    model_named,
    mutations_of,
    run_trials,
)
from packbelt.live.foreground import unwound

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
    """

    suite: str | None = None
    models: tuple[str, ...] = ("scripted",)
    layouts: tuple[str, ...] = ("promoted",)
    mutations: tuple[str, ...] = ()
    repeats: int = 1
    results: Path | None = None
    record: Path | None = None
    jobs: int = 1

    @property
    def scored(self) -> bool:
        """Whether the mutation score is asked for."""
        return ALL in self.mutations

    def conditions(self, bench: Bench) -> tuple[Condition, ...]:
        """Every combination, each once."""
        layouts = tuple(LAYOUTS) if ALL in self.layouts else self.layouts
        mutations = tuple(mutations_of(bench.workspace)) if self.scored else self.mutations or (None,)
        return tuple(
            dict.fromkeys(
                Condition(model, layout, mutation)
                for model in self.models
                for layout in layouts
                for mutation in mutations
            )
        )


@dataclass(frozen=True, slots=True)
class Done:
    """What was played.

    Attributes:
        asked: what was asked for.
        suites: the suites.
        played: every play, in order.
    """

    asked: Asked
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
    job = Job(root, source.file.resolve() if source.file else None, asked.suite)
    with unwound(), ExitStack() as stack:
        bench = Bench(job, _models(asked.record, stack), workspace)
        trials = bench.trials(asked.conditions(bench), asked.repeats)
        bench.prepare(trials)
        results = None
        if asked.results is not None:
            results = stack.enter_context(Results.open(asked.results, Header.of(bench)))
        left = trials if results is None else results.missing(trials)
        progress = stack.enter_context(Progress(len(left)))
        played = run_trials(job, trials, executor or Local(asked.jobs, bench), results, progress)
    return Done(asked, bench.suites, played)


def _models(record: Path | None, stack: ExitStack) -> Callable[[str], Model]:
    """How models are made; with what they say written to a file where that is asked for."""
    if record is None:
        return model_named
    file = stack.enter_context(record.open("w", encoding="utf-8"))
    return lambda name: Recorder(model_named(name), lambda entry: file.write(entry.to_line()))
