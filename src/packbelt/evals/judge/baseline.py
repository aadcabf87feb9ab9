"""What was reached, in a small file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from packbelt.evals.judge.cells import Cell, Key, asks, cells, conditions, mean, under
from packbelt.evals.outcomes import Result
from packbelt.evals.trials import Condition, Played
from packbelt.model import PackbeltError, Where
from packbelt.model.encode import digest

FORMAT = 1
"""The version of the file's form."""
_LARGEST = 64 * 2**20


class BaselineError(PackbeltError):
    """A baseline cannot be used."""


@dataclass(frozen=True, slots=True)
class Was:
    """A case under one condition, as it was.

    Attributes:
        suite, case: its ids.
        asks: digest of who is asked what, and of what is expected.
        results: of each play its outcome, in the order of the repeats.
    """

    suite: str
    case: str
    asks: str
    results: tuple[Result, ...]

    @property
    def key(self) -> Key:
        """Suite and case."""
        return self.suite, self.case

    @property
    def passes(self) -> tuple[bool, ...]:
        """Of each judged play, whether it passed."""
        return tuple(one.passed for one in self.results if one is not Result.HARNESS_ERROR)

    @property
    def outcomes(self) -> dict[Result, int]:
        """How often each outcome was, in the order of the table of outcomes."""
        counted = Counter(self.results)
        return {result: counted[result] for result in Result if counted[result]}


@dataclass(frozen=True, slots=True)
class Kept:
    """One condition, as it was.

    Attributes:
        condition: which.
        first, within: the rates, for the reader; None where nothing was judged.
        cases: in the order in which they were played.
    """

    condition: Condition
    first: float | None
    within: float | None
    cases: tuple[Was, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was reached.

    Attributes:
        cases: digest of all cases.
        conditions: in the order in which they were played.
        format: the version of the form.
    """

    cases: str
    conditions: tuple[Kept, ...]
    format: int = FORMAT

    def to_json(self) -> dict[str, Any]:
        """The baseline as data, for its file."""
        data = {"format": self.format, **asdict(self)}
        for kept in data["conditions"]:
            kept["cases"] = list(kept["cases"])
        return data


def baseline_of(played: Sequence[Played]) -> Baseline:
    """What was reached now.

    Raises:
        NoCasesError: nothing was played.
    """
    among = cells(played)
    kept = []
    for condition in conditions(among):
        own = under(among, condition)
        kept.append(
            Kept(
                condition,
                mean(own, lambda one: one.verdict.first).rate,
                mean(own).rate,
                tuple(map(was_of, own)),
            )
        )
    asked = sorted({(*cell.key, asks(cell.report)) for cell in among})
    return Baseline(digest(asked), tuple(kept))


def was_of(cell: Cell) -> Was:
    """What a baseline keeps of a cell."""
    return Was(*cell.key, asks(cell.report), tuple(play.report.result for play in cell.plays))


def read_baseline(path: Path) -> Baseline:
    """The baseline of a file.

    Raises:
        BaselineError: it cannot be read, or is none.
    """
    mend = "write it with --update-baseline"
    try:
        if path.stat().st_size > _LARGEST:
            raise BaselineError("is too large for a baseline", where=Where(str(path)), mend=mend)
        text = path.read_bytes()
    except OSError as error:
        raise BaselineError(f"cannot be read: {error.strerror}", where=Where(str(path)), mend=mend) from None
    try:
        found = TypeAdapter(Baseline).validate_json(text)
    except ValidationError:
        raise BaselineError("is no baseline", where=Where(str(path)), mend=mend) from None
    if found.format != FORMAT:
        raise BaselineError(
            f"is a baseline of form {found.format}, not {FORMAT}", where=Where(str(path)), mend=mend
        )
    return found
