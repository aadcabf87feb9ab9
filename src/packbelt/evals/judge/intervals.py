"""Confidence intervals for shares, and for the difference of two shares of the same cases.

Both take fractional counts: a case that was played several times counts once, with the share of its plays
that passed. The variance of such shares is at most that of a yes and a no with the same mean, so that an
interval over cases is never too narrow for it.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

LEVEL = 0.95
"""Confidence of every interval that is given."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From where to where a figure may well lie.

    Attributes:
        low, high: its ends.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its interval.

    Attributes:
        part: how many; fractional where cases were played several times.
        whole: of how many cases.
        rate: the share; None of no cases.
        interval: Wilson's, 95 %; None of no cases.
    """

    part: float
    whole: int
    rate: float | None
    interval: Interval | None


def estimate(part: float, whole: int) -> Estimate:
    """A share of cases, with Wilson's interval."""
    if not whole:
        return Estimate(0, 0, None, None)
    return Estimate(part, whole, part / whole, wilson(part, whole))


def wilson(part: float, whole: float, level: float = LEVEL) -> Interval:
    """Wilson's score interval (Wilson 1927, JASA 22:209).

    Args:
        part: how many, from 0 to `whole`.
        whole: of how many; above 0.
        level: the confidence.
    """
    z2 = _z(level) ** 2
    share = part / whole
    middle = share + z2 / (2 * whole)
    reach = sqrt(z2 * (share * (1 - share) / whole + z2 / (4 * whole**2)))
    scale = 1 + z2 / whole
    return Interval(
        0.0 if part <= 0 else max(0.0, (middle - reach) / scale),
        1.0 if part >= whole else min(1.0, (middle + reach) / scale),
    )


@dataclass(frozen=True, slots=True)
class Paired:
    """Counts of the same cases on two sides.

    Attributes:
        both: passed on both.
        first: passed on the first side only.
        second: passed on the second side only.
        neither: passed on neither.
    """

    both: float
    first: float
    second: float
    neither: float

    @property
    def whole(self) -> float:
        """All cases."""
        return self.both + self.first + self.second + self.neither


def newcombe(counts: Paired, level: float = LEVEL) -> Interval:
    """Newcombe's square-and-add interval for the second share less the first, of the same cases.

    Method 10 of Newcombe 1998, Statistics in Medicine 17:2635: Wilson's intervals of both shares, joined with
    their correlation, which is corrected for continuity.

    Args:
        counts: the cases; at least one.
        level: the confidence.
    """
    n = counts.whole
    one, two = counts.both + counts.first, counts.both + counts.second
    p, q = one / n, two / n
    of_p, of_q = wilson(one, n, level), wilson(two, n, level)
    phi = _correlation(counts)
    down, up = q - of_q.low, of_p.high - p
    low = sqrt(max(0.0, down**2 - 2 * phi * down * up + up**2))
    down, up = p - of_p.low, of_q.high - q
    high = sqrt(max(0.0, down**2 - 2 * phi * down * up + up**2))
    return Interval(max(-1.0, q - p - low), min(1.0, q - p + high))


def _correlation(counts: Paired) -> float:
    """Phi, with the numerator moved towards 0 by half the cases where it is above it."""
    one, two = counts.both + counts.first, counts.both + counts.second
    n = counts.whole
    spread = one * (n - one) * two * (n - two)
    if spread <= 0:
        return 0.0
    above = counts.both * counts.neither - counts.first * counts.second
    if above > 0:
        above = max(0.0, above - n / 2)
    return max(-1.0, min(1.0, above / sqrt(spread)))


def _z(level: float) -> float:
    """How many standard deviations hold that much of the normal distribution, around its middle."""
    return NormalDist().inv_cdf((1 + level) / 2)
