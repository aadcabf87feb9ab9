"""When a run fails: the conditions of `packbelt eval --fail-on`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packbelt.catalog.near import suggestion
from packbelt.evals.judge.assessment import Assessment
from packbelt.evals.judge.compare import Comparison
from packbelt.evals.judge.paired import Finding
from packbelt.evals.judge.regression import Regressions
from packbelt.evals.trials import Condition
from packbelt.model import PackbeltError

RULES: dict[str, str] = {
    "failed": "a play did not pass, or the eval itself failed in it",
    "error": "the eval itself failed in a play",
    "regression": "what the baseline reached is reached no more",
    "worse": "a comparison with --compare finds it worse",
    "floor": "the Wilson bound below a condition's rate lies under the limit",
}
"""Name and meaning of each."""

_FLOOR = re.compile(r"floor:(0(?:\.\d+)?|1(?:\.0+)?)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition of failing.

    Attributes:
        text: as it was written.
        name: which.
        limit: for `floor`, the share.
    """

    text: str
    name: str
    limit: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """A rule that failed the run, and on what."""

    rule: Rule
    of: tuple[str, ...]


def rules(text: str) -> tuple[Rule, ...]:
    """Rules from a list with commas.

    Raises:
        PackbeltError: one of them is none.
    """
    return tuple(_rule(part.strip()) for part in text.split(",") if part.strip())


def _rule(text: str) -> Rule:
    if found := _FLOOR.fullmatch(text):
        return Rule(text, "floor", float(found[1]))
    if text.partition(":")[0] == "floor":
        raise PackbeltError(f"{text!r} is no floor", mend="write a share from 0 to 1: floor:0.8", name=text)
    if text not in RULES:
        mend = suggestion(text, RULES, otherwise=f"there are: {', '.join(RULES)}")
        raise PackbeltError(f"{text!r} is no condition", mend=mend, name=text)
    return Rule(text, text)


def failed(
    asked: Sequence[Rule],
    assessments: Sequence[Assessment],
    regressions: Regressions | None = None,
    comparison: Comparison | None = None,
) -> tuple[Failed, ...]:
    """The rules that fail a run, in the order in which they were asked.

    Args:
        asked: the rules.
        assessments: of the run's conditions.
        regressions: from its baseline; None where there is none.
        comparison: with another run; None where there is none.
    """
    held = ((rule, tuple(_of(rule, assessments, regressions, comparison))) for rule in asked)
    return tuple(Failed(rule, of) for rule, of in held if of)


def _of(
    rule: Rule,
    assessments: Sequence[Assessment],
    regressions: Regressions | None,
    comparison: Comparison | None,
) -> Iterator[str]:
    match rule.name:
        case "regression" if regressions is not None:
            yield from (f"{one.suite}/{one.case} ({named(one.condition)})" for one in regressions.broken)
            yield from (f"{named(one.condition)} (p = {one.p:.2g})" for one in regressions.declined)
        case "worse" if comparison is not None:
            worse = (one for one in comparison.pairings if one.finding is Finding.WORSE)
            yield from (f"{named(one.after)} (p = {one.p:.2g})" for one in worse)
        case "floor":
            for one in assessments:
                low = one.within.interval.low if one.within.interval else 0.0
                if low < rule.limit:
                    yield f"{named(one.condition)} ({low:.3f})"
        case "failed":
            counts = ((one, one.failed + one.errors) for one in assessments)
            yield from (f"{named(one.condition)} ({count})" for one, count in counts if count)
        case "error":
            yield from (f"{named(one.condition)} ({one.errors})" for one in assessments if one.errors)


def named(condition: Condition) -> str:
    """A condition in a few words."""
    return ", ".join(part for part in (condition.model, condition.layout, condition.mutation) if part)
