"""Whether a case can be won at all: what it expects must be on the belt of the agent that is asked."""

from collections.abc import Iterable

from packbelt.belt import Belt
from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import bound, meant
from packbelt.evals.cases import Case, Suite
from packbelt.model import WorkspaceError
from packbelt.turn import turn


def preflight(workspace: Workspace, suites: Iterable[Suite]) -> None:
    """Refuse cases that no model could win, before an agent is blamed for them.

    For the workspace as its files say: a layout or a breakage that takes a tool away is what is measured. A
    case whose agent cannot start is let through, since that is an outcome of its own.

    Raises:
        WorkspaceError: a case names what the workspace and its snapshot have not, or expects a call that its
            agent's belt does not admit.
    """
    for case in (case for suite in suites for case in suite.cases):
        bound(workspace, case)
        if case.agent in workspace.agents:
            _refuse(turn(workspace, case.snapshot, case.agent).belt, case)


def _refuse(belt: Belt, case: Case) -> None:
    registry = belt.registry
    for step in case.expect:
        tools = {name: meant(registry, name, case.where("expect"), "expect") for name in step}
        states = {
            name: belt.state(i) for name, tool in tools.items() if (i := registry.locate(tool.id)) is not None
        }
        if not any(state.callable for state in states.values()):
            name, state = next(iter(states.items()))
            raise WorkspaceError(
                f"case {case.id!r} expects {name!r}, which agent {case.agent!r} cannot call ({state})",
                where=case.where("expect"),
                mend=f"ask another agent, or see: packbelt explain {case.agent} {name}",
                name=name,
            )
