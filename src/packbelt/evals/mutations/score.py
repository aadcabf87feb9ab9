"""The mutation score: which breakages of its belt a suite notices, and by which of its cases."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packbelt.evals.mutations.table import NULL
from packbelt.evals.outcomes import Result
from packbelt.evals.trials import Condition, Played

Results = Mapping[str, Sequence[Result]]
"""What came of each case, by `suite/case`, one for each time that it was played."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """Who noticed a mutation.

    Attributes:
        condition: model, layout and mutation.
        cases: `suite/case` of each case that passed with nothing broken, and failed so.
    """

    condition: Condition
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """What became of one mutation.

    Attributes:
        name: the mutation's.
        by: who noticed it, under which model and layout; empty where nobody did.
    """

    name: str
    by: tuple[Noticed, ...]

    @property
    def killed(self) -> bool:
        """Whether any case noticed."""
        return bool(self.by)


@dataclass(frozen=True, slots=True)
class Score:
    """The mutation score of what was played.

    Attributes:
        mutants: in the order in which they were played, the null mutant aside.
        failing: the cases that do not pass with nothing broken: the null mutant is green where there is none.
        errors: how many plays the eval itself failed in; these notice nothing.
    """

    mutants: tuple[Mutant, ...]
    failing: tuple[Noticed, ...]
    errors: int = 0

    @property
    def killed(self) -> int:
        """How many mutants were noticed."""
        return sum(one.killed for one in self.mutants)

    @property
    def passed(self) -> bool:
        """Whether every mutant was noticed, and with nothing broken nothing fails."""
        return self.killed == len(self.mutants) and not self.failing

    def to_json(self) -> dict[str, Any]:
        """The score as data."""
        return {
            "killed": self.killed,
            "mutants": [
                {"mutation": one.name, "killed": one.killed, "by": [_data(who) for who in one.by]}
                for one in self.mutants
            ],
            "null": {"green": not self.failing, "failing": [_data(who) for who in self.failing]},
            "errors": self.errors,
        }


def score(played: Sequence[Played]) -> Score:
    """The score of plays in which every model and layout also met the null mutant.

    A case that was repeated passes where each of its plays does.

    Args:
        played: the plays.
    """
    results: dict[Condition, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for one in played:
        results[one.trial.condition][f"{one.trial.suite}/{one.trial.case}"].append(one.report.result)
    mutants: dict[str, list[Noticed]] = {}
    failing = []
    for condition, cases in results.items():
        if condition.mutation in (None, NULL):
            red = tuple(case for case, found in cases.items() if not _green(found))
            failing += [Noticed(condition, red)] if red else []
            continue
        by = mutants.setdefault(condition.mutation or "", [])
        null: Results = results.get(Condition(condition.model, condition.layout, NULL), {})
        saw = tuple(case for case, found in cases.items() if _green(null.get(case, ())) and _red(found))
        by += [Noticed(condition, saw)] if saw else []
    errors = sum(one.report.result is Result.HARNESS_ERROR for one in played)
    return Score(tuple(Mutant(name, tuple(by)) for name, by in mutants.items()), tuple(failing), errors)


def _green(results: Sequence[Result]) -> bool:
    return bool(results) and all(result.passed for result in results)


def _red(results: Sequence[Result]) -> bool:
    """Whether the agent failed; that the eval did says nothing."""
    return any(not result.passed and result is not Result.HARNESS_ERROR for result in results)


def _data(who: Noticed) -> dict[str, Any]:
    return {
        "model": who.condition.model,
        "layout": who.condition.layout,
        "cases": list(who.cases),
    }
