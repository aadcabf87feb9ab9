"""What came of a suite: outcomes, rates, and the traces that they are worked out from."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from packbelt.evals.outcomes import Result, Verdict, classify
from packbelt.evals.trace import Expected, Trace


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What came of one case.

    Attributes:
        id, agent, request, tags: of the case.
        expected: where the request belongs.
        verdict: what is said of the trace.
        trace: what happened.
    """

    id: str
    agent: str
    request: str
    tags: tuple[str, ...]
    expected: Expected
    verdict: Verdict
    trace: Trace

    @property
    def result(self) -> Result:
        """The outcome."""
        return self.verdict.result

    @property
    def passed(self) -> bool:
        """Whether the request got where it belongs."""
        return self.verdict.result.passed


@dataclass(frozen=True, slots=True)
class Rate:
    """A share: how many of how many."""

    part: int
    whole: int


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """What came of one suite with one model, each case played once.

    Attributes:
        suite: its id.
        model: the model's name.
        cases: in the order of the file.
    """

    suite: str
    model: str
    cases: tuple[CaseReport, ...]

    @property
    def judged(self) -> tuple[CaseReport, ...]:
        """The cases that say something of the agent: all but those in which the eval itself failed."""
        return tuple(case for case in self.cases if case.result is not Result.HARNESS_ERROR)

    @property
    def first_step(self) -> Rate:
        """Of the judged cases, those whose very first call was the expected one."""
        return Rate(sum(case.verdict.first for case in self.judged), len(self.judged))

    @property
    def within(self) -> Rate:
        """Of the judged cases, those that got where they belong within their steps."""
        return Rate(sum(case.passed for case in self.judged), len(self.judged))

    @property
    def outcomes(self) -> dict[Result, int]:
        """How often each outcome was, in the order of the table of outcomes."""
        counted = Counter(case.result for case in self.cases)
        return {result: counted[result] for result in Result if counted[result]}

    @property
    def passed(self) -> bool:
        """Whether every case got where it belongs."""
        return all(case.passed for case in self.cases)

    def to_json(self) -> dict[str, Any]:
        """The report as data, traces included; `read_report` reads it back."""
        return {
            "suite": self.suite,
            "model": self.model,
            "first_step": {"part": self.first_step.part, "whole": self.first_step.whole},
            "within_steps": {"part": self.within.part, "whole": self.within.whole},
            "outcomes": {str(result): count for result, count in self.outcomes.items()},
            "cases": _cases().dump_python(self.cases, mode="json"),
        }


def read_report(data: dict[str, Any]) -> SuiteReport:
    """A report from its data, every outcome worked out anew from the traces.

    Raises:
        pydantic.ValidationError: this is no report.
    """
    return again(SuiteReport(data["suite"], data["model"], _cases().validate_python(data["cases"])))


def again(report: SuiteReport) -> SuiteReport:
    """The report with every outcome worked out anew from the traces."""
    return replace(report, cases=tuple(map(judged_again, report.cases)))


def judged_again(case: CaseReport) -> CaseReport:
    """What came of a case, its outcome worked out anew from the trace."""
    return replace(case, verdict=classify(case.expected, case.trace))


@cache
def _cases() -> TypeAdapter[tuple[CaseReport, ...]]:
    return TypeAdapter(tuple[CaseReport, ...])
