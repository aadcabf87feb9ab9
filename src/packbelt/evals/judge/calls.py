"""How the calls of a play fit the expected ones: what was made, what was too much, what was forbidden."""

from collections.abc import Sequence
from dataclasses import dataclass

from packbelt.belt.arguments import parse
from packbelt.evals.report import CaseReport
from packbelt.evals.trace import Made
from packbelt.model import Outcome
from packbelt.model.encode import canonical


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one play beside the expected ones.

    Attributes:
        expected: how many calls were expected.
        made: how many were made; those that only opened a pack or searched are none.
        in_order: how many of the expected ones were made, in their order.
        in_any_order: how many were made at all. One call answers for one of them, and so does the very same
            call made again: it says nothing new.
        forbidden: calls of forbidden tools that ran.
        failed: calls that were let through and ended in an error of the tool.
    """

    expected: int
    made: int
    in_order: int
    in_any_order: int
    forbidden: int
    failed: int

    @property
    def extra(self) -> int:
        """Calls beyond those that were expected."""
        return self.made - self.in_any_order

    @property
    def precision(self) -> float:
        """The share of the calls that were expected; of no calls 1 where none was expected, else 0."""
        return self.in_any_order / self.made if self.made else float(not self.expected)

    @property
    def recall(self) -> float:
        """The share of the expected calls that were made in their order; 1 where none was expected."""
        return self.in_order / self.expected if self.expected else 1.0

    @property
    def recall_in_any_order(self) -> float:
        """The share of the expected calls that were made; 1 where none was expected."""
        return self.in_any_order / self.expected if self.expected else 1.0


def calls_of(report: CaseReport) -> Calls:
    """The calls of a play, by the identities of their tools."""
    expected, made = report.expected, [call for call in report.trace.calls if not call.looked]
    done = {_what(call): call for call in made if _worked(call)}
    fitting = _most([[call.tool in step for call in done.values()] for step in expected.steps])
    return Calls(
        expected=len(expected.steps),
        made=len(made),
        in_order=min(report.verdict.steps, fitting),
        in_any_order=fitting,
        forbidden=sum(call.refused is None and call.tool in expected.forbidden for call in made),
        failed=sum(call.refused is None and call.outcome is not Outcome.OK for call in made),
    )


def _worked(call: Made) -> bool:
    return call.refused is None and call.outcome is Outcome.OK


def _what(call: Made) -> str:
    """Tool and arguments, equal where the call is the same."""
    return canonical([call.tool, parse(call.arguments)])


def _most(fits: Sequence[Sequence[bool]]) -> int:
    """The most rows that can have a column each that fits them: a largest matching (Kuhn's algorithm)."""
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in taken or place(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(fits)))
