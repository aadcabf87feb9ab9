"""Several tests at once: Holm's step-down correction."""

from collections.abc import Sequence


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted so that the chance of any false finding among them stays below the level.

    Holm 1979, Scandinavian Journal of Statistics 6:65.

    Args:
        values: the p-values.

    Returns:
        The adjusted ones, in the same order.
    """
    adjusted = [0.0] * len(values)
    least = 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = least
    return tuple(adjusted)
