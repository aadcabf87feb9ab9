"""Plays grouped by case and condition: the one place that says what is judged and what passed.

A case that is played several times under one condition is one observation, never several: its plays share
its difficulty. What counts is the share of its judged plays that passed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from packbelt.evals.judge.intervals import Estimate, estimate
from packbelt.evals.outcomes import Result
from packbelt.evals.report import CaseReport
from packbelt.evals.trials import Condition, Played
from packbelt.model import PackbeltError
from packbelt.model.encode import digest

Key = tuple[str, str]
"""Suite and case."""


class NoCasesError(PackbeltError):
    """There is nothing to judge."""


@dataclass(frozen=True)
class Cell:
    """A case under one condition.

    Attributes:
        suite, case: its ids.
        condition: under what it was played.
        plays: every play, in the order of their repeats.
    """

    suite: str
    case: str
    condition: Condition
    plays: tuple[Played, ...]

    @property
    def key(self) -> Key:
        """What makes it the same case under another condition."""
        return self.suite, self.case

    @property
    def report(self) -> CaseReport:
        """Of its first play, for what all have in common: agent, request, tags, and what is expected."""
        return self.plays[0].report

    @cached_property
    def judged(self) -> tuple[CaseReport, ...]:
        """Its plays that say something of the agent: all but those in which the eval itself failed."""
        return tuple(one.report for one in self.plays if one.report.result is not Result.HARNESS_ERROR)

    @cached_property
    def passes(self) -> tuple[bool, ...]:
        """Of each judged play, whether it got where it belongs."""
        return tuple(one.passed for one in self.judged)

    @property
    def passed(self) -> int:
        """Judged plays that got where they belong."""
        return sum(self.passes)

    @property
    def share(self) -> float:
        """The share of its judged plays that passed; 0 where none was judged."""
        return self.passed / len(self.judged) if self.judged else 0.0

    @property
    def always(self) -> bool:
        """Whether it was judged and passed each time."""
        return bool(self.judged) and self.passed == len(self.judged)


def cells(played: Sequence[Played]) -> tuple[Cell, ...]:
    """Plays by condition and case, in the order in which each was met first.

    Raises:
        NoCasesError: there are none; a share of nothing is neither 0 nor 1.
    """
    if not played:
        raise NoCasesError("there are no cases to judge", mend="choose a suite that has some")
    grouped: dict[tuple[Condition, str, str], list[Played]] = {}
    for one in played:
        grouped.setdefault((one.trial.condition, one.trial.suite, one.trial.case), []).append(one)
    return tuple(
        Cell(suite, case, condition, tuple(sorted(plays, key=lambda one: one.trial.repeat)))
        for (condition, suite, case), plays in grouped.items()
    )


def asks(one: CaseReport) -> str:
    """Digest of who is asked what, and of what is expected: what makes it the same case on another side.

    What is forbidden is left out: its selectors come to other tools wherever a pack grows.
    """
    return digest([one.agent, one.request, one.expected.steps])


def evenly(before: Sequence[bool], after: Sequence[bool]) -> tuple[float, float]:
    """The shares of a case's plays that passed on two sides, of as many plays on each: the first ones.

    A share of ten plays is hardly ever 1 where that of a single one often is. Compared as they are, a case
    that did not change would come out worse on the side that played it more often.

    Args:
        before: of each judged play of the first side, whether it passed; at least one.
        after: the same of the second side.
    """
    plays = min(len(before), len(after))
    return sum(before[:plays]) / plays, sum(after[:plays]) / plays


def conditions(among: Sequence[Cell]) -> tuple[Condition, ...]:
    """The conditions of some cells, in order."""
    return tuple(dict.fromkeys(one.condition for one in among))


def under(among: Sequence[Cell], condition: Condition) -> tuple[Cell, ...]:
    """The cells of one condition."""
    return tuple(one for one in among if one.condition == condition)


def mean(among: Sequence[Cell], says: Callable[[CaseReport], bool] = lambda one: one.passed) -> Estimate:
    """The mean over the judged cases of the share of their plays of which something holds.

    Args:
        among: cells of one condition.
        says: what holds of a play; without it, that it passed.
    """
    judged = [one.judged for one in among if one.judged]
    return estimate(sum(sum(map(says, plays)) / len(plays) for plays in judged), len(judged))
