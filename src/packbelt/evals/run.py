"""Play cases turn by turn through the real engine, and say what became of each."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.arguments import parse
from packbelt.belt.gate import Denial, admit
from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import Bound, bound, is_web, owners
from packbelt.evals.cases import Case, Suite
from packbelt.evals.models.model import Mind, Model, ModelError, Request
from packbelt.evals.outcomes import classify, settled
from packbelt.evals.report import CaseReport, SuiteReport
from packbelt.evals.trace import Ended, Expected, Fault, Made, Reply, Trace, Usage
from packbelt.evals.world import Simulation
from packbelt.live.agent import LiveAgent
from packbelt.model import (
    AgentBrokenError,
    AgentRefusedError,
    Call,
    Outcome,
    ToolCall,
    ToolResult,
    UnknownAgentError,
)
from packbelt.model.encode import canonical
from packbelt.model.text import one_line
from packbelt.providers import Form

TARGET = "openai-chat"
"""The form in which models are asked: it is what most endpoints speak."""
REPEATS = 3
"""Times that the same call is made until its case is ended as a loop."""

_CANNOT_GO_ON = (ModelError, AgentBrokenError, AgentRefusedError, UnknownAgentError)


async def run_suite(
    workspace: Workspace, suite: Suite, model: Model, on_case: Callable[[CaseReport], None] | None = None
) -> SuiteReport:
    """Play a suite's cases one after the other.

    Args:
        workspace: whose agents are asked.
        suite: the cases.
        model: who is asked.
        on_case: told of each case when it is over.

    Raises:
        WorkspaceError: a case names what the workspace has not; nothing was played then.
    """
    bound_cases = [bound(workspace, case) for case in suite.cases]
    reports = []
    for one in bound_cases:
        report = await run_case(workspace, one, model)
        reports.append(report)
        if on_case:
            on_case(report)
    return SuiteReport(suite.id, model.name, tuple(reports))


async def run_case(workspace: Workspace, one: Bound, model: Model, repeat: int = 0) -> CaseReport:
    """Play one case; `repeat` says how often it was played before."""
    case, player = one.case, _Player(one.case)
    try:
        mind = model.begin(one, repeat)
        async with (
            Simulation(workspace, case) as fleet,
            fleet.agent(case.agent, request=case.request) as agent,
        ):
            ended = await player.play(agent, mind, one.expected)
        trace = Trace(tuple(player.replies), ended)
    except Exception as error:  # noqa: BLE001 - whatever fails costs one case, and is said
        fault = Fault.AGENT if isinstance(error, _CANNOT_GO_ON) else Fault.HARNESS
        words = one_line(f"{type(error).__name__}: {error}")
        trace = Trace(tuple(player.replies), None, fault, words)
    verdict = classify(one.expected, trace)
    return CaseReport(case.id, case.agent, case.request, case.tags, one.expected, verdict, trace)


class _Player:
    """Plays one case: belt, form, reply, dispatch, results, and again."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.replies: list[Reply] = []
        self.messages: list[Any] = [{"role": line.role, "content": line.text} for line in case.conversation]
        self.made: Counter[str] = Counter()

    async def play(self, agent: LiveAgent, mind: Mind, expected: Expected) -> Ended:
        for _ in range(self.case.steps):
            turn = await agent.turn()
            form = turn.compile(TARGET, strict=False)
            message, calls, usage = await self._ask(form, mind)
            facts = [_facts(turn.belt, form, call) for call in calls]
            results = await turn.run(calls)
            made = tuple(_made(*pair) for pair in zip(facts, results, strict=True))
            self.replies.append(Reply(_names(form), form.text(message), made, usage))
            if not calls:
                return Ended.ANSWERED
            if self.case.settle and settled(expected, self.replies):
                return Ended.SETTLED
            self.messages += [message, *form.results(results)]
            self.made.update(canonical([call.name, parse(call.arguments)]) for call in calls)
            if max(self.made.values()) >= REPEATS:
                return Ended.REPEATED
        return Ended.STEPS

    async def _ask(self, form: Form, mind: Mind) -> tuple[Mapping[str, Any], list[ToolCall], Usage | None]:
        """A model's reply, its calls, and what it took.

        Raises:
            ModelError: it gave none, or none that can be read.
        """
        request = Request(
            tuple(form.kwargs.get("tools", ())), ({"role": "system", "content": form.system}, *self.messages)
        )
        message = dict(await mind.reply(request))
        usage = _usage(message.pop("usage", None))
        try:
            calls = form.calls(message)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelError(f"its reply cannot be read ({type(error).__name__})") from None
        return message, [replace(call, name=str(call.name)) for call in calls], usage


def _usage(said: Mapping[str, Any] | None) -> Usage | None:
    """A usage as Chat Completions give it (`prompt_tokens`, `completion_tokens`, `prompt_tokens_details`)."""
    if said is None:
        return None
    details = said.get("prompt_tokens_details") or {}
    return Usage(
        said.get("prompt_tokens") or 0, said.get("completion_tokens") or 0, details.get("cached_tokens") or 0
    )


def _names(form: Form) -> tuple[str, ...]:
    """The wire names of the tools that were sent, in order."""
    return tuple(form.names.unspell(tool["function"]["name"]) for tool in form.kwargs.get("tools", ()))


def _facts(belt: Belt, form: Form, call: ToolCall) -> Made:
    """Which tool a call means, inside the opener the inner one, and whether the gate admits it."""
    registry = belt.registry
    admitted = admit(belt, call.name, call.arguments, form.names.spell)
    if isinstance(admitted, Denial):
        i, refused = admitted.i, admitted.kind
    elif isinstance(admitted, Call) and admitted.answer is not None:
        i, refused = None, None
    else:
        i, refused = registry.locate(admitted.tool.id), None
    tool = None if i is None else registry.tools[i]
    return Made(
        name=call.name,
        arguments=call.arguments,
        tool=None if tool is None else str(tool.id),
        target=None if tool is None else tool.target,
        owners=() if i is None else owners(registry, i),
        web=tool is not None and is_web(tool),
        refused=refused,
        outcome=Outcome.NOT_STARTED,
        answer="",
    )


def _made(facts: Made, result: ToolResult) -> Made:
    """The facts of a call with what became of it."""
    return replace(facts, outcome=result.outcome, answer=result.text)
