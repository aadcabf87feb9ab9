"""Cases played under several conditions and several times: what is played, and what came of each play."""

from collections.abc import Sequence
from dataclasses import dataclass

from packbelt.evals.report import CaseReport, SuiteReport


@dataclass(frozen=True, slots=True)
class Condition:
    """What is varied between plays of the same case.

    Attributes:
        model: the model's name, as `--model` takes it.
        layout: the layout's name.
        mutation: what is broken on purpose; None for nothing.
    """

    model: str = "scripted"
    layout: str = "promoted"
    mutation: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One case, to be played once.

    Attributes:
        suite: the suite's id.
        case: the case's id.
        condition: under what.
        repeat: how often it was played before under this condition.
    """

    suite: str
    case: str
    condition: Condition
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """A trial and what came of it.

    Attributes:
        trial: what was played.
        report: what came of it.
        seconds: how long it took on the clock.
    """

    trial: Trial
    report: CaseReport
    seconds: float = 0.0


def grid(
    cases: Sequence[tuple[str, str]], conditions: Sequence[Condition], repeats: int = 1
) -> tuple[Trial, ...]:
    """Every case under every condition, `repeats` times.

    Repeats stand innermost and conditions outermost: a model that keeps the prefix of its last request reads
    a layout's tools once for all of the layout's cases.

    Args:
        cases: pairs of a suite's id and a case's id.
        conditions: what is varied.
        repeats: plays of each case under each condition.
    """
    return tuple(
        Trial(suite, case, condition, repeat)
        for condition in conditions
        for suite, case in cases
        for repeat in range(repeats)
    )


def reports(played: Sequence[Played]) -> dict[Condition, tuple[tuple[int, SuiteReport], ...]]:
    """For each condition a report of each suite and repeat, with the repeat's number, suites outermost."""
    parts: dict[Condition, dict[str, dict[int, list[CaseReport]]]] = {}
    for one in played:
        suites = parts.setdefault(one.trial.condition, {})
        suites.setdefault(one.trial.suite, {}).setdefault(one.trial.repeat, []).append(one.report)
    return {
        condition: tuple(
            (repeat, SuiteReport(suite, condition.model, tuple(repeats[repeat])))
            for suite, repeats in suites.items()
            for repeat in sorted(repeats)
        )
        for condition, suites in parts.items()
    }
