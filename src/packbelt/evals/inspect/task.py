"""The task `packbelt/routing`: dataset, solver and scorer."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import TypeAdapter

from packbelt.evals.bound import Bound
from packbelt.evals.executors import Bench, Job
from packbelt.evals.inspect.model import Asked
from packbelt.evals.layouts import layout_named
from packbelt.evals.mutations.table import mutation_named
from packbelt.evals.report import CaseReport, judged_again
from packbelt.evals.run import run_case
from packbelt.evals.trace import Fault
from packbelt.model import PackbeltError

REPORT = "packbelt"
"""Where a sample's store keeps the case's report, trace and all."""
_REPORTS = TypeAdapter(CaseReport)


@task
def routing(
    workspace: str | None = None,
    suite: str = "seed",
    layout: str = "promoted",
    mutation: str | None = None,
    snapshot: str | None = None,
) -> Task:
    """Whether requests reach the right hand-off: packbelt's cases, played with inspect-ai's model.

    Args:
        workspace: the workspace's directory; packbelt's own without it.
        suite: which suite of it.
        layout: `promoted`, `packed` or `flat`.
        mutation: what is broken on purpose; nothing without it.
        snapshot: the snapshot's file, for cases that say nothing of what is connected.

    Raises:
        PackbeltError: one of these does not exist, or cannot be used.
    """
    stage = Stage(workspace, suite, layout, mutation, snapshot)
    return Task(
        dataset=MemoryDataset([_sample(name, case) for name, case in stage.cases.items()], name=suite),
        solver=play(workspace, suite, layout, mutation, snapshot),
        scorer=outcome(),
    )


class Stage:
    """A suite's cases and the workspace that they are played in; the arguments are those of `routing`."""

    def __init__(
        self, workspace: str | None, suite: str, layout: str, mutation: str | None, snapshot: str | None
    ) -> None:
        root, now = (None if path is None else Path(path) for path in (workspace, snapshot))
        bench = Bench(Job(root, now, suite))
        self.mutation = mutation_named(bench.workspace, mutation)
        self.workspace = self.mutation.workspace(layout_named(layout)(bench.workspace))
        self.cases = {case: one for (_, case), one in bench.cases.items()}


def _sample(name: str, case: Bound) -> Sample:
    lines: list[ChatMessage] = [
        ChatMessageUser(content=line.text) if line.role == "user" else ChatMessageAssistant(content=line.text)
        for line in case.case.conversation
    ]
    wanted = ", ".join(" or ".join(step) for step in case.wanted) or "no tool"
    metadata = {"agent": case.case.agent, "tags": list(case.case.tags)}
    return Sample(lines, target=wanted, id=name, metadata=metadata)


@solver
def play(
    workspace: str | None, suite: str, layout: str, mutation: str | None, snapshot: str | None
) -> Solver:
    """Plays a sample's case turn by turn through packbelt's engine; inspect-ai's model replies.

    The arguments are those of `routing`.
    """
    stage = Stage(workspace, suite, layout, mutation, snapshot)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate  # it sends the tools of the state; a belt is decided anew before each turn
        case, model = stage.cases[str(state.sample_id)], Asked(get_model())
        report = await run_case(stage.workspace, case, model, state.epoch - 1, stage.mutation.told)
        if (
            report.trace.fault is Fault.HARNESS
        ):  # inspect-ai's own to count, to retry, or to end by its limits
            raise model.error or PackbeltError(report.trace.error)
        state.messages = model.messages
        if model.output is not None:
            state.output = model.output
        state.store.set(REPORT, _REPORTS.dump_python(report, mode="json"))
        return state

    return solve


@scorer(metrics={"first_step": [mean(), stderr()], "within_steps": [mean(), stderr()]})
def outcome() -> Scorer:
    """The outcome of a case, worked out from its trace as `packbelt eval` does.

    `first_step` is 1 where the very first call was the expected one, `within_steps` where the request got
    where it belongs at all.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target
        report = judged_again(_REPORTS.validate_python(state.store.get(REPORT)))
        called = ", ".join(call.name for call in report.trace.calls)
        return Score(
            value={"first_step": int(report.verdict.first), "within_steps": int(report.passed)},
            answer=called or "nothing",
            explanation=f"{report.result}: {report.result.meaning}",
            metadata={"outcome": str(report.result), "detours": [str(one) for one in report.verdict.detours]},
        )

    return score
