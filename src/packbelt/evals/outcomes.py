"""The outcome of a case, worked out from its trace and nothing else, so that it can be worked out again."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from packbelt.evals.trace import Ended, Expected, Fault, Made, Reply, Trace
from packbelt.model import HintClass, Outcome

_OPENING = re.compile(r"[\[{]")
_OPENINGS = 64
"""Places of a text at which JSON is looked for."""
_ARGUMENTS = ("arguments", "parameters", "args", "input")


class Result(StrEnum):
    """What became of a request."""

    REACHED = "reached"
    REACHED_LATE = "reached_late"
    WRONG_HANDOFF = "wrong_handoff"
    RAW_TOOL = "raw_tool"
    INVENTED_NAME = "invented_name"
    UNADVERTISED_CALL = "unadvertised_call"
    TEXT_FORM_CALL = "text_form_call"
    MALFORMED_ARGUMENTS = "malformed_arguments"
    WEB_INSTEAD = "web_instead"
    OTHER_DIRECT_TOOL = "other_direct_tool"
    LOOPED = "looped"
    GAVE_UP = "gave_up"
    ANSWERED_WITHOUT_TOOL = "answered_without_tool"
    OVER_CALL = "over_call"
    AGENT_ERROR = "agent_error"
    HARNESS_ERROR = "harness_error"

    @property
    def passed(self) -> bool:
        """Whether the request got where it belongs."""
        return self in (Result.REACHED, Result.REACHED_LATE)

    @property
    def meaning(self) -> str:
        """One sentence on what the outcome says."""
        return RESULTS[self]


RESULTS: dict[Result, str] = {
    Result.REACHED: "Every expected call was made, in order, and none before them; or rightly none at all.",
    Result.REACHED_LATE: "Every expected call was made, in order, after others.",
    Result.WRONG_HANDOFF: "It was handed to another agent than expected, or out of order.",
    Result.RAW_TOOL: "A specialist's own tool was run instead of handing over to it.",
    Result.INVENTED_NAME: "A tool or pack was called that does not exist.",
    Result.UNADVERTISED_CALL: "A tool was called that exists and is not there for this agent.",
    Result.TEXT_FORM_CALL: "A call was written as text and not made.",
    Result.MALFORMED_ARGUMENTS: "The arguments did not fit, or named the wrong pack.",
    Result.WEB_INSTEAD: "The web was asked instead.",
    Result.OTHER_DIRECT_TOOL: "Another tool was run instead.",
    Result.LOOPED: "The same call was made again and again.",
    Result.GAVE_UP: "It stopped on the way, or ran out of steps, without a wrong call.",
    Result.ANSWERED_WITHOUT_TOOL: "It answered without a call where one was expected.",
    Result.OVER_CALL: "It called a tool where none was right.",
    Result.AGENT_ERROR: "The agent or its model could not go on.",
    Result.HARNESS_ERROR: "The eval itself failed; the agent is not judged by it.",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one case.

    Attributes:
        result: the outcome.
        first: whether the very first call was the expected one; for a no-tool case, whether there was none.
        steps: how many of the expected calls were made.
        replies: replies until the last expected call was made; 0 where it never was.
        detours: what else was done before that, in order.
    """

    result: Result
    first: bool
    steps: int
    replies: int
    detours: tuple[Result, ...] = ()


def classify(expected: Expected, trace: Trace) -> Verdict:
    """The verdict on a trace."""
    walk = _Walk(expected, trace)
    done = trace.fault is None and walk.steps == len(expected.steps)
    return Verdict(
        walk.result(), walk.first, walk.steps, walk.replies if done and expected.steps else 0, walk.detours
    )


def settled(expected: Expected, replies: Sequence[Reply]) -> bool:
    """Whether no further reply changes the result: all expected calls were made, or one where none is right.

    What is forbidden can still run afterwards, so that nothing is settled where something is.
    """
    if expected.forbidden:
        return False
    walk = _Walk(expected, Trace(tuple(replies)))
    return walk.over if expected.steps else bool(walk.trace.calls)


class _Walk:
    """One way through a trace: which calls were expected, and what the others were."""

    def __init__(self, expected: Expected, trace: Trace) -> None:
        self.expected, self.trace = expected, trace
        self.steps = self.replies = 0
        self.looked = False
        self.forbidden: Result | None = None
        self.failed = False
        detours: list[Result] = []
        for number, reply in enumerate(trace.replies, 1):
            for call in reply.calls:
                if self._is_next(call):
                    self.steps += 1
                    self.replies = number
                    continue
                self._note(call, detours)
        self.detours = tuple(detours)
        calls = trace.calls
        wanted = expected.steps[0] if expected.steps else ()
        self.first = (
            trace.fault is None and self._without_tool() is Result.REACHED
            if not wanted
            else bool(calls) and calls[0].refused is None and calls[0].tool in wanted
        )

    @property
    def over(self) -> bool:
        return self.steps == len(self.expected.steps)

    def _is_next(self, call: Made) -> bool:
        if self.over or call.refused is not None or call.tool not in self.expected.steps[self.steps]:
            return False
        if call.outcome is not Outcome.OK:  # whom it leads to did not start, or failed
            self.failed = True
            return False
        return True

    def _note(self, call: Made, detours: list[Result]) -> None:
        ran = call.refused is None and call.tool in self.expected.forbidden
        if ran and self.forbidden is None:
            self.forbidden = kind_of(self.expected, call)
        if self.over and self.expected.steps:
            return
        if call.looked:
            self.looked = True
        else:
            detours.append(kind_of(self.expected, call))

    def result(self) -> Result:
        trace = self.trace
        if trace.fault is not None:
            return Result.HARNESS_ERROR if trace.fault is Fault.HARNESS else Result.AGENT_ERROR
        if not self.expected.steps:
            return self._without_tool()
        if trace.ended is Ended.REPEATED and not self.over:
            return Result.LOOPED
        if self.forbidden is not None:
            return self.forbidden
        if self.over:
            return Result.REACHED_LATE if self.detours or self.looked else Result.REACHED
        return self._missed()

    def _without_tool(self) -> Result:
        if self.trace.calls:
            return Result.OVER_CALL
        return Result.TEXT_FORM_CALL if is_call(self._last_words) else Result.REACHED

    def _missed(self) -> Result:
        if self.failed:
            return Result.AGENT_ERROR
        if self.detours:
            return self.detours[0]
        if is_call(self._last_words):
            return Result.TEXT_FORM_CALL
        return Result.GAVE_UP if self.trace.calls else Result.ANSWERED_WITHOUT_TOOL

    @property
    def _last_words(self) -> str:
        return self.trace.replies[-1].text if self.trace.replies else ""


def kind_of(expected: Expected, call: Made) -> Result:
    """What a call was that was not the expected one."""
    if call.refused in (HintClass.UNKNOWN, HintClass.AMBIGUOUS):
        return Result.INVENTED_NAME
    if call.refused in (HintClass.INVALID_ARGUMENTS, HintClass.WRONG_PACK):
        return Result.MALFORMED_ARGUMENTS
    if call.refused is not None:
        return Result.UNADVERTISED_CALL
    if call.target is not None:
        return Result.WRONG_HANDOFF
    if set(call.owners) & set(expected.targets):
        return Result.RAW_TOOL
    return Result.WEB_INSTEAD if call.web else Result.OTHER_DIRECT_TOOL


def is_call(text: str) -> bool:
    """Whether a text holds a call as written: JSON with a name and arguments, bare, marked or amid words."""
    return any(_is_call(data) for data in _objects(text))


def _objects(text: str) -> Iterator[object]:
    """Every piece of JSON in a text, wherever it stands, that is an object or a list."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_OPENINGS):
        found = _OPENING.search(text, at)
        if found is None:
            return
        try:
            data, at = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.end()
        else:
            yield data


def _is_call(data: object) -> bool:
    if isinstance(data, list):
        return any(_is_call(one) for one in data)
    if not isinstance(data, dict):
        return False
    inner = data.get("function")
    if isinstance(inner, dict):
        return _is_call(inner)
    return isinstance(data.get("name"), str) and any(key in data for key in _ARGUMENTS)
