"""One worker's part: a job, which says where everything is read from, and the bench that plays its trials.

A job is small and can be pickled. Whoever has one, in this process or on another machine that has the same
files, can make a bench of it and play any of its trials.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from packbelt.catalog.discover import embedded_root
from packbelt.catalog.load import load
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import Bound, bound
from packbelt.evals.cases import Suite
from packbelt.evals.files import choose, read_suites
from packbelt.evals.layouts import layout_named
from packbelt.evals.models import Model, model_named
from packbelt.evals.mutations import Mutation, mutation_named
from packbelt.evals.run import run_case
from packbelt.evals.trials import Condition, Played, Trial, grid
from packbelt.model import PackbeltError


@dataclass(frozen=True, slots=True)
class Job:
    """Where the trials of one run are read from.

    Attributes:
        workspace: the workspace's directory; None for packbelt's own.
        snapshot: the snapshot's file, for cases that say nothing of what is connected; None for nothing.
        suite: the suite; None for all.
    """

    workspace: Path | None = None
    snapshot: Path | None = None
    suite: str | None = None


class Bench:
    """Plays the trials of a job. What several trials need is made once: workspaces, cases, models.

    Args:
        job: the job.
        models: the model of a name.
        workspace: the job's workspace, where the caller has it loaded.
        suites: its suites, where they are not those of the workspace's files.

    Attributes:
        job: the job.
        workspace: its workspace.
        suites: its suites.

    Raises:
        WorkspaceError, SnapshotError: a file of the job cannot be used.
    """

    def __init__(
        self,
        job: Job,
        models: Callable[[str], Model] = model_named,
        workspace: Workspace | None = None,
        suites: Sequence[Suite] | None = None,
    ) -> None:
        self.job = job
        self.workspace = workspace or load(embedded_root() if job.workspace is None else job.workspace)
        now = None if job.snapshot is None else Snapshot.from_file(job.snapshot)
        self.suites = tuple(suites or choose(read_suites(self.workspace, now), job.suite))
        self.cases: dict[tuple[str, str], Bound] = {
            (suite.id, case.id): bound(self.workspace, case) for suite in self.suites for case in suite.cases
        }
        self._named = models
        self._models: dict[str, Model] = {}
        self._staged: dict[Condition, tuple[Workspace, Mutation]] = {}
        self._runner: asyncio.Runner | None = None

    def trials(self, conditions: Sequence[Condition], repeats: int = 1) -> tuple[Trial, ...]:
        """Every case of the job under every condition, `repeats` times."""
        return grid(tuple(self.cases), conditions, repeats)

    def prepare(self, trials: Sequence[Trial]) -> None:
        """Make what the trials need, so that what cannot be used is known before any is played.

        Raises:
            PackbeltError: a case, model, layout or mutation that a trial names does not exist, or cannot be
                used.
        """
        for trial in trials:
            self._case(trial)
        for condition in dict.fromkeys(trial.condition for trial in trials):
            self.model(condition.model)
            self._stage(condition)

    def model(self, name: str) -> Model:
        """The model of a name, always the same one.

        Raises:
            PackbeltError: there is none, or it cannot be used.
        """
        if name not in self._models:
            self._models[name] = self._named(name)
        return self._models[name]

    async def play_async(self, trial: Trial) -> Played:
        """Play one trial.

        Raises:
            PackbeltError: as for `prepare`.
        """
        case, model = self._case(trial), self.model(trial.condition.model)
        workspace, mutation = self._stage(trial.condition)
        began = perf_counter()
        report = await run_case(workspace, case, model, trial.repeat, mutation.told)
        return Played(trial, report, perf_counter() - began)

    def play(self, trial: Trial) -> Played:
        """Play one trial and wait for it. All trials are played in one event loop, which `close` ends.

        Raises:
            PackbeltError: as for `prepare`.
        """
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self.play_async(trial))

    def close(self) -> None:
        """End the event loop of `play`."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _case(self, trial: Trial) -> Bound:
        found = self.cases.get((trial.suite, trial.case))
        if found is None:
            raise PackbeltError(
                f"the job has no case {trial.case!r} in a suite {trial.suite!r}",
                mend="give the worker the same files",
                name=trial.case,
            )
        return found

    def _stage(self, condition: Condition) -> tuple[Workspace, Mutation]:
        """The workspace as a condition has it, and what is broken there."""
        if condition not in self._staged:
            mutation = mutation_named(self.workspace, condition.mutation)
            laid_out = layout_named(condition.layout)(self.workspace)
            self._staged[condition] = mutation.workspace(laid_out), mutation
        return self._staged[condition]
