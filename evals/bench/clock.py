"""CPU time of many things side by side: one sample of each in turn, so that all see the same machine."""

import gc
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import monotonic, process_time_ns
from typing import Any


def nothing() -> None:
    """No preparation."""


@dataclass
class Case:
    """Something to measure.

    Attributes:
        name: how its figure is called.
        run: what is timed; takes what `prepare` gave; a coroutine is awaited in the running loop.
        prepare: done before each sample and not timed.
        calls: how often `run` is called within one sample, for what is too short for the clock.
        samples: how many samples it gets each time its turn comes.
    """

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = nothing
    calls: int = 1
    samples: int = 1
    times: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """CPU nanoseconds of one call."""

    median: float
    best: float
    samples: int


async def sample(case: Case) -> float:
    """One sample: CPU nanoseconds of one call."""
    given = case.prepare()
    run, calls = case.run, case.calls
    if inspect.iscoroutinefunction(run):
        start = process_time_ns()
        for _ in range(calls):
            await run(given)
        return (process_time_ns() - start) / calls
    start = process_time_ns()
    for _ in range(calls):
        run(given)
    return (process_time_ns() - start) / calls


async def measure(cases: Sequence[Case], seconds: float, at_least: int = 7) -> dict[str, Figure]:
    """All cases in turn until the time is over and each has its samples; the first of each does not count."""
    for case in cases:
        await sample(case)
    gc.collect()
    gc.freeze()  # what the others hold is no load on anybody's collections
    end, rounds = monotonic() + seconds, 0
    while rounds < at_least or monotonic() < end:
        rounds += 1
        for case in cases:
            for _ in range(case.samples):
                case.times.append(await sample(case))
    gc.unfreeze()
    return {c.name: Figure(median(c.times), min(c.times), len(c.times)) for c in cases}
