"""What came of each condition: its suites, its rates and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packbelt.evals.costs import Costs, costs_of
from packbelt.evals.report import CaseReport, SuiteReport, Tally
from packbelt.evals.trials import Condition, Played


@dataclass(frozen=True, slots=True)
class Summary(Tally):
    """What came of one condition.

    Attributes:
        condition: model, layout and mutation.
        plays: what was played, in order.
        cases: what came of each play.
    """

    condition: Condition
    plays: tuple[Played, ...]
    cases: tuple[CaseReport, ...]

    @property
    def costs(self) -> Costs | None:
        """What a case cost on average."""
        return costs_of(self.cases)

    @property
    def seconds(self) -> float:
        """How long the plays took together."""
        return sum(one.seconds for one in self.plays)

    def suites(self) -> tuple[tuple[int, SuiteReport], ...]:
        """A report for each repeat of each suite, with the number of the repeat, suites outermost."""
        parts: dict[tuple[str, int], list[CaseReport]] = {}
        for one in sorted(self.plays, key=lambda one: one.trial.repeat):
            parts.setdefault((one.trial.suite, one.trial.repeat), []).append(one.report)
        order = list(dict.fromkeys(one.trial.suite for one in self.plays))
        found = sorted(parts.items(), key=lambda part: (order.index(part[0][0]), part[0][1]))
        return tuple(
            (repeat, SuiteReport(suite, self.condition.model, tuple(cases)))
            for (suite, repeat), cases in found
        )

    def to_json(self) -> dict[str, Any]:
        """The summary as data, with every trace; `read_report` reads each of `suites` back."""
        costs = self.costs
        return {
            "model": self.condition.model,
            "layout": self.condition.layout,
            "mutation": self.condition.mutation,
            "plays": len(self.plays),
            "judged": len(self.judged),
            **self.rates_json(),
            "tokens": None if costs is None else costs.to_json(),
            "seconds": round(self.seconds, 3),
            "suites": [{"repeat": repeat, **report.to_json()} for repeat, report in self.suites()],
        }


def summaries(played: Sequence[Played]) -> tuple[Summary, ...]:
    """A summary of each condition, in the order in which they come."""
    by: dict[Condition, list[Played]] = {}
    for one in played:
        by.setdefault(one.trial.condition, []).append(one)
    return tuple(
        Summary(condition, tuple(plays), tuple(one.report for one in plays))
        for condition, plays in by.items()
    )
