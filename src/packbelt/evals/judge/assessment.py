"""What is said of one condition: rates with intervals, the worst group, repeats, outcomes, a probe."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean

from packbelt.evals.costs import Costs, costs_of
from packbelt.evals.judge.calls import calls_of
from packbelt.evals.judge.cells import Cell, cells, conditions, mean, under
from packbelt.evals.judge.confusion import HandOffs, hand_offs
from packbelt.evals.judge.intervals import Estimate
from packbelt.evals.outcomes import Result
from packbelt.evals.trials import Condition, Played

LEXICAL = "lexical"
"""The model that compares words."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that share a tag or an agent.

    Attributes:
        kind: `tag` or `agent`.
        name: which.
        within: the share that passed.
    """

    kind: str
    name: str
    within: Estimate


@dataclass(frozen=True, slots=True)
class CallRates:
    """How the calls fit, as means over the cases.

    Attributes:
        precision: the share of the calls that were expected.
        recall: the share of the expected calls that were made in order.
        recall_in_any_order: the same in any order.
        extra: calls beyond the expected ones, in a play.
        forbidden: calls of forbidden tools that ran, in all plays.
        failed: calls that ended in an error of the tool, in all plays.
    """

    precision: float
    recall: float
    recall_in_any_order: float
    extra: float
    forbidden: int
    failed: int


@dataclass(frozen=True, slots=True)
class Probe:
    """What words alone do: a case that the lexical model passes says little of a layout.

    Attributes:
        passed: the share of the cases that the lexical model passes under the same layout.
        beyond: of the cases that it does not pass, the share that this condition does.
    """

    passed: Estimate
    beyond: Estimate


@dataclass(frozen=True, slots=True)
class Assessment:
    """One condition.

    Attributes:
        condition: which.
        cases: how many.
        repeats: the most plays of a case.
        plays: all of them.
        passed, failed, errors: plays that passed, that did not, and in which the eval itself failed. Only the
            first two say something of the agent, and are judged.
        first: of the judged cases, the share whose very first call was the expected one.
        within: the headline: of the judged cases, the share that got where they belong within their steps.
        groups: the same by tag and by agent.
        worst: the group with the lowest share; None where there is but one agent and no tag.
        all_of: pass^k for k from 1 on: the chance that all of k plays of a case pass.
        over_call: of the judged cases that need no tool, the share in which one was called.
        outcomes: how often each was, in the order of the table of outcomes.
        hand_offs: recall and precision.
        calls: how the calls fit.
        costs: what a play costs in tokens; None where nobody counted.
        seconds: how long its plays took together.
        probe: what words alone do; None where the lexical model did not play this layout, or is this one.
    """

    condition: Condition
    cases: int
    repeats: int
    plays: int
    passed: int
    failed: int
    errors: int
    first: Estimate
    within: Estimate
    groups: tuple[Group, ...]
    worst: Group | None
    all_of: tuple[float, ...]
    over_call: Estimate
    outcomes: dict[Result, int]
    hand_offs: HandOffs
    calls: CallRates | None
    costs: Costs | None
    seconds: float
    probe: Probe | None


def assess(played: Sequence[Played]) -> tuple[Assessment, ...]:
    """What is said of each condition, in the order in which they were played.

    Raises:
        NoCasesError: nothing was played.
    """
    among = cells(played)
    return tuple(_assessment(among, condition) for condition in conditions(among))


def _assessment(among: Sequence[Cell], condition: Condition) -> Assessment:
    own = under(among, condition)
    judged = [one for cell in own for one in cell.judged]
    counted = Counter(play.report.result for cell in own for play in cell.plays)
    passed = sum(one.passed for one in judged)
    groups = _groups(own)
    return Assessment(
        condition=condition,
        cases=len(own),
        repeats=max(len(cell.plays) for cell in own),
        plays=counted.total(),
        passed=passed,
        failed=len(judged) - passed,
        errors=counted[Result.HARNESS_ERROR],
        first=mean(own, lambda one: one.verdict.first),
        within=mean(own),
        groups=groups,
        worst=_worst(groups),
        all_of=all_of(own),
        over_call=mean(
            [cell for cell in own if not cell.report.expected.steps],
            lambda one: one.result is Result.OVER_CALL,
        ),
        outcomes={result: counted[result] for result in Result if counted[result]},
        hand_offs=hand_offs(own),
        calls=_calls(own),
        costs=costs_of(judged),
        seconds=sum(play.seconds for cell in own for play in cell.plays),
        probe=_probe(among, own, condition),
    )


def _groups(own: Sequence[Cell]) -> tuple[Group, ...]:
    tags = dict.fromkeys(tag for cell in own for tag in cell.report.tags)
    agents = dict.fromkeys(cell.report.agent for cell in own)
    by_tag = (Group("tag", tag, mean([cell for cell in own if tag in cell.report.tags])) for tag in tags)
    by_agent = (
        Group("agent", name, mean([cell for cell in own if cell.report.agent == name])) for name in agents
    )
    return (*by_tag, *by_agent)


def _worst(groups: Sequence[Group]) -> Group | None:
    """The group with the lowest share; of equal ones the largest, and then the first."""
    if len(groups) < 2:  # noqa: PLR2004 - one agent alone is the headline again
        return None
    rated = [
        (one.within.rate, -one.within.whole, i) for i, one in enumerate(groups) if one.within.rate is not None
    ]
    return groups[min(rated)[2]] if rated else None


def all_of(own: Sequence[Cell]) -> tuple[float, ...]:
    """Pass^k for each k that every judged case was played: the mean of C(passed, k) / C(played, k).

    As tau-bench has it (Yao et al. 2024): the chance that all of k plays of a case pass.

    Args:
        own: cells of one condition.
    """
    judged = [(cell.passed, len(cell.judged)) for cell in own if cell.judged]
    most = min((plays for _, plays in judged), default=0)
    return tuple(
        fmean(comb(passed, k) / comb(plays, k) for passed, plays in judged) for k in range(1, most + 1)
    )


def _calls(own: Sequence[Cell]) -> CallRates | None:
    scored = [[calls_of(one) for one in cell.judged] for cell in own if cell.judged]
    if not scored:
        return None

    def average(figure: Callable[..., float]) -> float:
        return fmean(fmean(map(figure, plays)) for plays in scored)

    return CallRates(
        precision=average(lambda one: one.precision),
        recall=average(lambda one: one.recall),
        recall_in_any_order=average(lambda one: one.recall_in_any_order),
        extra=average(lambda one: one.extra),
        forbidden=sum(one.forbidden for plays in scored for one in plays),
        failed=sum(one.failed for plays in scored for one in plays),
    )


def _probe(among: Sequence[Cell], own: Sequence[Cell], condition: Condition) -> Probe | None:
    words = Condition(LEXICAL, condition.layout, condition.mutation)
    probed = {cell.key: cell for cell in under(among, words) if cell.judged}
    shared = [cell for cell in own if cell.key in probed]
    if not shared or condition == words:
        return None
    return Probe(
        mean([probed[cell.key] for cell in shared]),
        mean([cell for cell in shared if not probed[cell.key].always]),
    )
