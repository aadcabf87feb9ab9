"""What a baseline reached and is reached no more."""

from collections.abc import Sequence
from dataclasses import dataclass

from packbelt.evals.judge.baseline import Baseline, Was, was_of
from packbelt.evals.judge.cells import Cell, Key, NoCasesError, asks, cells, evenly
from packbelt.evals.judge.many import holm
from packbelt.evals.judge.paired import ALPHA, mcnemar
from packbelt.evals.models import MODELS, REPLAY
from packbelt.evals.outcomes import Result
from packbelt.evals.trials import Condition, Played


def deterministic(model: str) -> bool:
    """Whether a model does the same in each run, so that a single case tells."""
    return model in MODELS or model.startswith(REPLAY)


@dataclass(frozen=True, slots=True)
class Broken:
    """A case that passed each time before, and does not now.

    Attributes:
        condition: under which.
        suite, case: its ids.
        outcomes: what became of its plays now.
    """

    condition: Condition
    suite: str
    case: str
    outcomes: dict[Result, int]


@dataclass(frozen=True, slots=True)
class Declined:
    """A sampled model that does worse on the same cases than before, beyond chance.

    Attributes:
        condition: which.
        gained, lost: cases that passed more often, and less often, than before, as `suite/case`.
        p: McNemar's, adjusted by Holm for all sampled conditions of the run.
    """

    condition: Condition
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    p: float


@dataclass(frozen=True, slots=True)
class Regressions:
    """What became of a baseline.

    Attributes:
        broken: cases of models that do the same each time.
        declined: sampled models.
        compared: cases under conditions that could be compared.
        unjudged: cases that were judged before and not now, as `suite/case`: the eval failed, or did not play
            them under that condition.
        changed: cases that ask or expect something else now, and were not compared.
        new: cases that the baseline has not.
    """

    broken: tuple[Broken, ...]
    declined: tuple[Declined, ...]
    compared: int
    unjudged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.broken or self.declined)


def regressions(baseline: Baseline, played: Sequence[Played]) -> Regressions:
    """What was reached before and is not now.

    For a model that does the same in each run it is a case that passed every time and now fails once; for any
    other it takes McNemar's test over all of its cases, since a sampled one fails now and then by chance.

    Raises:
        NoCasesError: nothing was played, or nothing of it can be compared.
    """
    among = {(one.condition, one.key): one for one in cells(played)}
    was = {(kept.condition, one.key): one for kept in baseline.conditions for one in kept.cases if one.passes}
    shared = [at for at in was if at in among]
    same = [at for at in shared if was[at].asks == asks(among[at].report)]
    compared = [at for at in same if among[at].judged]
    if not compared:
        raise NoCasesError(
            "the baseline has none of these cases under these conditions, or none was judged",
            mend="play what the baseline was written of, or write it anew with --update-baseline",
        )
    played_now = {condition for condition, _ in among}
    missing = [at for at in was if at[0] in played_now and (at not in among or not among[at].judged)]
    return Regressions(
        broken=tuple(
            Broken(condition, *key, was_of(among[condition, key]).outcomes)
            for condition, key in compared
            if deterministic(condition.model)
            and all(was[condition, key].passes)
            and not among[condition, key].always
        ),
        declined=_declined(
            [(condition, was[condition, key], among[condition, key]) for condition, key in compared]
        ),
        compared=len(compared),
        unjudged=_names(missing),
        changed=_names([at for at in shared if at not in same]),
        new=_names([at for at in among if at not in was]),
    )


def _declined(pairs: Sequence[tuple[Condition, Was, Cell]]) -> tuple[Declined, ...]:
    found = []
    for condition in dict.fromkeys(condition for condition, _, _ in pairs):
        if deterministic(condition.model):
            continue
        own = [(was, cell) for one, was, cell in pairs if one == condition]
        shares = {cell.key: evenly(was.passes, cell.passes) for was, cell in own}
        gained = [key for key, (before, after) in shares.items() if after > before]
        lost = [key for key, (before, after) in shares.items() if after < before]
        found.append((condition, gained, lost, mcnemar(len(gained), len(lost))))
    adjusted = holm([p for *_, p in found])
    return tuple(
        Declined(condition, tuple(map("/".join, gained)), tuple(map("/".join, lost)), p)
        for (condition, gained, lost, _), p in zip(found, adjusted, strict=True)
        if p < ALPHA and len(lost) > len(gained)
    )


def _names(among: Sequence[tuple[Condition, Key]]) -> tuple[str, ...]:
    return tuple(sorted({"/".join(key) for _, key in among}))
