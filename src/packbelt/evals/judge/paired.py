"""The same cases under two conditions: McNemar's exact test, and what it takes to tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, comb, sqrt
from statistics import NormalDist

from packbelt.evals.judge.cells import Cell, NoCasesError, evenly
from packbelt.evals.judge.intervals import Interval, Paired, newcombe

ALPHA = 0.05
"""The chance of calling equal conditions different that is put up with."""
POWER = 0.8
"""The chance of finding a difference that is there, for which the needed pairs are worked out."""
_EXACT = 300
"""Pairs up to which the test's power is worked out exactly; beyond, Connor's formula is as near."""


class Finding(StrEnum):
    """What a comparison says of the second side."""

    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Discordant:
    """A case that came out otherwise on the second side.

    Attributes:
        suite, case: its ids.
        before, after: the share of its plays that passed, on each side, of as many plays on both.
    """

    suite: str
    case: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two conditions on the same cases.

    Attributes:
        pairs: cases that were judged on both sides.
        before, after: the share that passed, on each side, of as many plays of each case on both.
        difference: `after` less `before`.
        interval: Newcombe's, 95 %, of the difference.
        gained: cases that passed more often on the second side.
        lost: cases that passed less often there.
        p: of the exact test, two-sided.
        unpaired: cases that one side alone has judged, as `suite/case`.
    """

    pairs: int
    before: float
    after: float
    difference: float
    interval: Interval
    gained: tuple[Discordant, ...]
    lost: tuple[Discordant, ...]
    p: float
    unpaired: tuple[str, ...] = ()

    def finding(self, p: float | None = None) -> Finding:
        """What is found at the 5 % level.

        Args:
            p: the p-value adjusted for several comparisons; None to take that of this one alone.
        """
        if (self.p if p is None else p) >= ALPHA:
            return Finding.INCONCLUSIVE
        return Finding.BETTER if len(self.gained) > len(self.lost) else Finding.WORSE


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided p-value of McNemar's exact test: the sign test on the cases that differ.

    McNemar 1947, Psychometrika 12:153; exact as the binomial test of the smaller count at 1/2.

    Args:
        gained: how many cases passed on the second side only.
        lost: how many on the first only.
    """
    n = gained + lost
    tail = sum(comb(n, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**n))


def pairs_needed(gained: float, lost: float, alpha: float = ALPHA) -> int | None:
    """How many pairs McNemar's exact test needs, roughly, to find such a difference 4 times out of 5.

    Worked out from the test's power; where that takes more than 300 pairs, as Connor 1987, Biometrics 43:207.

    Args:
        gained: the share of pairs that passed on the second side only.
        lost: the share that did on the first only.
        alpha: the level at which it is tested.

    Returns:
        The number; None where the shares are equal.
    """
    if gained == lost:
        return None
    near = _connor(gained, lost, alpha)
    if near > _EXACT:
        return near
    differ, against = min(1.0, gained + lost), min(gained, lost) / (gained + lost)
    found = [0.0]
    power = 0.0
    while power < POWER:
        found.append(_found(len(found), against, alpha))
        pairs = len(found) - 1
        power = sum(_binomial(pairs, n, differ) * share for n, share in enumerate(found))
    return pairs


def _connor(gained: float, lost: float, alpha: float) -> int:
    """Pairs by the normal approximation, which is far off where few pairs differ."""
    apart, differ = abs(gained - lost), gained + lost
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2) * sqrt(differ)
    z += normal.inv_cdf(POWER) * sqrt(max(0.0, differ - apart**2))
    return ceil((z / apart) ** 2)


def _found(n: int, against: float, alpha: float) -> float:
    """The chance that n discordant pairs, a share of them against it, find the right side better."""
    chance, tail = 0.0, 0
    for k in range((n + 1) // 2):
        tail += comb(n, k)
        if 2 * tail / 2**n >= alpha:
            break
        chance += _binomial(n, k, against)
    return chance


def _binomial(n: int, k: int, share: float) -> float:
    return comb(n, k) * share**k * (1 - share) ** (n - k)


def contrast(before: Sequence[Cell], after: Sequence[Cell]) -> Contrast:
    """Two conditions compared on the cases that both have judged.

    A case counts once, whatever its repeats: as gained where a larger share of its plays passed on the second
    side, as lost where a smaller one did, of as many plays on both. With one play each, this is McNemar's
    table.

    Args:
        before: the cells of the first side, of one condition.
        after: those of the second.

    Raises:
        NoCasesError: no case was judged on both sides.
    """
    first = {one.key: one.passes for one in before if one.judged}
    second = {one.key: one.passes for one in after if one.judged}
    keys = [key for key in first if key in second]
    if not keys:
        raise NoCasesError(
            "no case was judged on both sides", mend="compare runs of the same suites, without errors"
        )
    shares = {key: evenly(first[key], second[key]) for key in keys}
    was = {key: share for key, (share, _) in shares.items()}
    now = {key: share for key, (_, share) in shares.items()}
    n = len(keys)
    counts = Paired(
        sum(was[key] * now[key] for key in keys),
        sum(was[key] * (1 - now[key]) for key in keys),
        sum((1 - was[key]) * now[key] for key in keys),
        sum((1 - was[key]) * (1 - now[key]) for key in keys),
    )
    gained = tuple(Discordant(*key, was[key], now[key]) for key in keys if now[key] > was[key])
    lost = tuple(Discordant(*key, was[key], now[key]) for key in keys if now[key] < was[key])
    rate, rated = sum(was.values()) / n, sum(now.values()) / n
    return Contrast(
        pairs=n,
        before=rate,
        after=rated,
        difference=rated - rate,
        interval=newcombe(counts),
        gained=gained,
        lost=lost,
        p=mcnemar(len(gained), len(lost)),
        unpaired=tuple(sorted(map("/".join, first.keys() ^ second.keys()))),
    )
