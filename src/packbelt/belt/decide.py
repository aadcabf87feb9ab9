"""`decide`: state, reasons and routes of one tool for one scope. The only place where they are decided."""

from packbelt.belt.belt import belt_of
from packbelt.belt.scope import Scope
from packbelt.catalog.registry import Runtime, bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.model import Decision, Reason, Rule, State, ToolId


def decide(
    workspace: Workspace,
    snapshot: Snapshot,
    scope: Scope,
    tool: ToolId | str,
    runtime: Runtime | None = None,
) -> Decision:
    """The decision about one tool.

    Args:
        workspace: what may exist.
        snapshot: what is true now.
        scope: who asks.
        tool: an identity, a wire name, or a plain name that only one tool has.
        runtime: what a live host brings; None to ask of the files alone.

    Raises:
        AmbiguousToolError: several tools have this plain name.
        AgentBrokenError, UnknownAgentError: an agent on the path cannot be used.
    """
    belt = belt_of(bind(workspace, snapshot, runtime), scope)
    if isinstance(tool, ToolId):
        i = belt.registry.locate(tool)
        found = None if i is None else belt.at(i)
    else:
        found = belt.find(tool)
    if found is None:
        return Decision(State.UNKNOWN, (Reason(Rule.NO_SUCH_TOOL, f"no tool is called {tool!s}"),))
    return found.decision
