"""How long to wait before the next attempt."""

import random
from dataclasses import dataclass

_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential back-off with jitter, so that servers that fell together do not rise together.

    Attributes:
        first: seconds before the first attempt is repeated.
        most: seconds that no pause is longer than; what held for as long starts from the beginning again.
    """

    first: float = 0.5
    most: float = 60.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row, of which the last has just happened."""
        longest = min(self.most, self.first * 2.0 ** min(max(failures - 1, 0), _MOST_DOUBLINGS))
        return longest * random.uniform(0.5, 1)  # noqa: S311 - jitter is no secret

    def after(self, failures: int, lasted: float) -> int:
        """Failures in a row when something that held for so many seconds has failed."""
        return 1 if lasted >= self.most else failures + 1
