"""What a placement costs: the model of docs/plan.md, in tokens at the price of one that no cache has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices as ratios to an input token that no cache has, and what is assumed where nothing was observed.

    Attributes:
        cached_read: of a token that is read from the prompt cache.
        cached_write: of one that is written into it.
        output: of one that the model writes.
        turns_per_run: requests to the model in one run, where that was not observed.
        context: tokens of prompt and conversation that a further request reads again.
        opening: tokens that the model writes to list a pack.
        wrapping: tokens that it writes more for a call through the opener than for one by name.
    """

    cached_read: float = 0.1
    cached_write: float = 1.25
    output: float = 5.0
    turns_per_run: float = 8.0
    context: int = 8000
    opening: int = 30
    wrapping: int = 20

    def prefix(self, turns: float) -> float:
        """Price of one token that stands in every request of a run: written once, then read."""
        turns = max(turns, 1.0)
        return (self.cached_write + (turns - 1) * self.cached_read) / turns

    def first_use(self, listing: int, turns: float) -> float:
        """Cost of opening a pack in a run.

        A further request reads the context again; the model writes the call; the listing is written into the
        cache, and read again in half of the run's requests.
        """
        turns = max(turns, 1.0)
        return (
            self.context * self.cached_read
            + self.opening * self.output
            + listing * (self.cached_write + (turns - 1) / 2 * self.cached_read)
        )


@dataclass(frozen=True, slots=True)
class AgentUse:
    """What was observed of one agent.

    Attributes:
        turns: requests to the model.
        runs: pieces of work, each of which may be several requests; None where that was not observed.
        calls: calls of each tool, by identity or plain name.
        used: runs in which each was called at least once; None where that was not observed.
    """

    turns: int = 0
    runs: int | None = None
    calls: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] | None = None


Observed = Mapping[str, AgentUse]
"""What was observed, by agent."""


@dataclass(frozen=True, slots=True)
class Rates:
    """An agent's observations as rates.

    Attributes:
        turns: requests to the model in all.
        runs: pieces of work in all, which need not be whole.
    """

    use: AgentUse
    turns: float
    runs: float

    @classmethod
    def of(cls, use: AgentUse, prices: Prices) -> "Rates":
        """Rates, what was not observed filled in."""
        turns = float(use.turns or sum(use.calls.values()))
        runs = float(use.runs) if use.runs else turns / prices.turns_per_run
        return cls(use, max(turns, runs), runs)

    @property
    def per_run(self) -> float:
        """Requests of one run."""
        return self.turns / self.runs if self.runs else 1.0

    def uses(self, *names: str) -> float:
        """Runs in which a tool was used; from calls alone, as if they fell at random."""
        if self.use.used is not None:
            return float(min(self.runs, sum(self.use.used.get(name, 0) for name in set(names))))
        calls = self.calls(*names)
        return self.runs * (1 - exp(-calls / self.runs)) if self.runs else 0.0

    def calls(self, *names: str) -> float:
        """Calls of a tool."""
        return float(sum(self.use.calls.get(name, 0) for name in set(names)))


def bound(uses: float, runs: float, confidence: float, *, upper: bool) -> float:
    """The share of runs that use a tool, at most or at least, with a one-sided confidence.

    Wilson's score interval (Journal of the American Statistical Association 22, 1927): it stays between 0 and
    1, and far from the observed share while little was observed.
    """
    if runs <= 0:
        return 1.0 if upper else 0.0
    z = NormalDist().inv_cdf(confidence)
    share, square = uses / runs, z * z
    middle = share + square / (2 * runs)
    spread = z * sqrt(max(0.0, share * (1 - share) / runs + square / (4 * runs * runs)))
    found = (middle + spread if upper else middle - spread) / (1 + square / runs)
    return min(1.0, max(0.0, found))


__all__ = ["AgentUse", "Observed", "Prices", "Rates", "bound"]
