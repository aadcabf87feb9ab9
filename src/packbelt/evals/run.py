"""Play cases through the real engine, one or those of a suite, and say what became of each."""

from collections.abc import Callable

from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import Bound, bound
from packbelt.evals.cases import Suite
from packbelt.evals.models.model import Model, ModelError
from packbelt.evals.mutations.mutation import as_told
from packbelt.evals.outcomes import classify, settled
from packbelt.evals.play import Player
from packbelt.evals.report import CaseReport, SuiteReport
from packbelt.evals.trace import Fault, Made, Trace
from packbelt.evals.world import Simulation
from packbelt.model import AgentBrokenError, AgentRefusedError, UnknownAgentError
from packbelt.model.text import one_line

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


async def run_case(
    workspace: Workspace,
    one: Bound,
    model: Model,
    repeat: int = 0,
    told: Callable[[Made, str], str] = as_told,
) -> CaseReport:
    """Play one case.

    Args:
        workspace: whose agents are asked.
        one: the case.
        model: who is asked.
        repeat: how often the case was played before.
        told: from a call and its answer, what the model is told; that answer unless a mutation changes it.
    """
    case = one.case
    player = Player(case, told, lambda replies: case.settle and settled(one.expected, replies))
    try:
        mind = model.begin(one, repeat)
        async with (
            Simulation(workspace, case) as fleet,
            fleet.agent(case.agent, request=case.request) as agent,
        ):
            ended = await player.play(agent, mind)
        trace = Trace(tuple(player.replies), ended)
    except Exception as error:  # noqa: BLE001 - whatever fails costs one case, and is said
        fault = Fault.AGENT if isinstance(error, _CANNOT_GO_ON) else Fault.HARNESS
        words = one_line(f"{type(error).__name__}: {error}")
        trace = Trace(tuple(player.replies), None, fault, words)
    verdict = classify(one.expected, trace)
    return CaseReport(case.id, case.agent, case.request, case.tags, one.expected, verdict, trace)
