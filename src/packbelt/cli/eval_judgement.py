"""What is said of a run of `packbelt eval`: rates with intervals, comparisons, regressions, and the files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from packbelt.catalog.workspace import Workspace
from packbelt.cli.eval_options import Judging
from packbelt.cli.eval_run import Done
from packbelt.cli.files import write_text
from packbelt.cli.options import Source
from packbelt.cli.output import json_text, note, several
from packbelt.cli.side import side
from packbelt.evals import Bench, Job, Local, Played, Suite, bound, read_results, run_trials
from packbelt.evals.judge.assessment import Assessment, assess
from packbelt.evals.judge.baseline import baseline_of
from packbelt.evals.judge.cells import cells, conditions, under
from packbelt.evals.judge.compare import Comparison, Side, compare, contrasts
from packbelt.evals.judge.confusion import confusion
from packbelt.evals.judge.coverage import Coverage, coverage
from packbelt.evals.judge.gate import Failed, failed
from packbelt.evals.judge.junit import junit
from packbelt.evals.judge.page import page
from packbelt.evals.judge.regression import Regressions, regressions
from packbelt.model import WorkspaceError


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of a run.

    Attributes:
        assessments: one for each condition.
        other: the comparison with the other side; None without one.
        own: those of the run's own conditions.
        regressions: from the baseline; None without one.
        failed: the rules that failed the run; None where none were asked for.
        coverage: what its suites cover.
        matrices: for each condition its confusion of the first and of the last choice.
    """

    assessments: tuple[Assessment, ...]
    other: Comparison | None
    own: tuple[Comparison, ...]
    regressions: Regressions | None
    failed: tuple[Failed, ...] | None
    coverage: Coverage
    matrices: tuple[tuple[Any, Any], ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All of them, the other side's first."""
        return self.own if self.other is None else (self.other, *self.own)

    def to_json(self) -> dict[str, Any]:
        """The judgement as data."""
        data = asdict(self)
        other, own = data.pop("other"), data.pop("own")
        data["comparisons"] = own if other is None else [other, *own]
        for one, found in zip(data["assessments"], self.assessments, strict=True):
            one["costs"] = None if found.costs is None else found.costs.to_json()
            one["seconds"] = round(found.seconds, 3)
        return data


@dataclass(frozen=True, slots=True)
class Old:
    """What a run is compared with.

    Attributes:
        name: what it is called.
        workspace: where the same cases are played; None for a results file.
        kept: the plays of a results file.
    """

    name: str
    workspace: Workspace | None = None
    kept: tuple[Played, ...] = ()


def judge(judging: Judging, done: Done, old: Old | None, source: Source) -> Judged:
    """Judge a run, and write the files that were asked for.

    Raises:
        PackbeltError: there is nothing to judge, the other side cannot be used, or a file not be written.
    """
    played = done.played
    other = None if old is None else compare(_played(old, done, source), Side("now", played))
    own = contrasts(played)
    found = assess(played)
    since = None if judging.before is None else regressions(judging.before, played)
    among = cells(played)
    each = [under(among, one) for one in conditions(among)]
    judged = Judged(
        found,
        other,
        own,
        since,
        failed(judging.rules, found, since, other) if judging.rules else None,
        coverage(done.workspace, done.suites),
        tuple((confusion(one), confusion(one, "last")) for one in each),
    )
    _write(judging, judged, played)
    return judged


def _write(judging: Judging, judged: Judged, played: Sequence[Played]) -> None:
    if judging.junit is not None:
        write_text(judging.junit, junit(played))
    if judging.html is not None:
        write_text(judging.html, page(played, judged.comparisons, judged.coverage))
    if judging.update and judging.baseline is not None:
        errors = sum(one.errors for one in judged.assessments)
        if errors:
            note(f"the baseline lacks {several(errors, 'play')} in which the eval itself failed")
        write_text(judging.baseline, json_text(baseline_of(played).to_json()) + "\n")


@contextmanager
def old_side(judging: Judging, source: Source) -> Iterator[Old | None]:
    """What the run is compared with, found before anything is played, for as long as it is needed.

    Raises:
        PackbeltError: it is no results file, no directory and no revision, or has no workspace.
    """
    named = judging.old
    if named is None:
        yield None
    elif Path(named).is_file():
        yield Old(named, kept=read_results(Path(named))[1])
    else:
        with side(named, source) as found:
            if found.workspace is None:
                mend = "name a revision or directory that has one"
                raise WorkspaceError(f"{named} has no workspace here", mend=mend, name=named)
            yield Old(found.name, found.workspace)


def _played(old: Old, done: Done, source: Source) -> Side:
    """The other side: what was kept, or the same cases played there under the same conditions.

    Raises:
        PackbeltError: it cannot be played.
    """
    if old.workspace is None:
        suites = {suite.id for suite in done.suites}
        return Side(old.name, tuple(one for one in old.kept if one.trial.suite in suites))
    job = Job(old.workspace.root, source.file.resolve() if source.file else None, done.asked.suite)
    bench = Bench(job, done.asked.model_named, old.workspace, suites=_playable(old.workspace, done.suites))
    trials = bench.trials(done.asked.conditions(bench), done.asked.repeats)
    bench.prepare(trials)
    return Side(old.name, run_trials(job, trials, Local(done.asked.jobs, bench)))


def _playable(workspace: Workspace, suites: Sequence[Suite]) -> tuple[Suite, ...]:
    """The suites with those cases that a workspace has the agents and tools for.

    Raises:
        WorkspaceError: it has them for none.
    """
    left, kept = 0, []
    for suite in suites:
        cases = []
        for case in suite.cases:
            try:
                bound(workspace, case)
            except WorkspaceError:
                left += 1
                continue
            known = case.agent in workspace.agents or case.agent in workspace.broken
            left += not known
            cases += [case] if known else []
        if cases:
            kept.append(replace(suite, cases=tuple(cases)))
    if not kept:
        raise WorkspaceError(
            "the other workspace has the tools of none of these cases", mend="compare others"
        )
    if left:
        note(f"{several(left, 'case')} not played there: it lacks their agents or tools")
    return tuple(kept)
