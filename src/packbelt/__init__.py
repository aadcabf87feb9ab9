"""packbelt decides which tools each agent of a fleet sees, and says so in every form that is asked for.

    workspace = packbelt.load("my-agents")
    snapshot = packbelt.Snapshot.from_file("now.yaml")
    turn = packbelt.turn(workspace, snapshot, "orchestrator")
    turn.belt["use_mcp_server"].state  # "direct"

Everything here is imported when it is first used, so that `import packbelt` costs next to nothing. The errors
all derive from `PackbeltError`, say what is wrong, where, and the mend.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from packbelt._version import __version__

if TYPE_CHECKING:
    from packbelt.belt import Belt, Scope, decide
    from packbelt.catalog.load import load
    from packbelt.catalog.natives import tool
    from packbelt.catalog.snapshot import Snapshot
    from packbelt.catalog.workspace import Workspace
    from packbelt.live.agent import LiveAgent
    from packbelt.live.asking import Approval
    from packbelt.live.calling import Caller, NoCallerError, caller
    from packbelt.live.fleet import Fleet
    from packbelt.live.observe.events import EventLog
    from packbelt.live.opening import open  # noqa: A004 - `packbelt.open`, never imported bare
    from packbelt.live.runs import RunBusyError, RunNotResumableError, UnknownRunError
    from packbelt.live.trust import Trust
    from packbelt.live.turn import LiveTurn
    from packbelt.model import (
        AgentBrokenError,
        AgentRefusedError,
        AmbiguousToolError,
        Answer,
        Call,
        Decision,
        Diagnostic,
        HandOff,
        Hint,
        Outcome,
        PackbeltError,
        Permission,
        Reason,
        Refusal,
        Route,
        SelectorError,
        SnapshotError,
        State,
        Tool,
        ToolCall,
        ToolId,
        ToolResult,
        UnknownAgentError,
        VocabularyError,
        WorkspaceError,
    )
    from packbelt.turn import AgentHandle, Turn, turn

__all__ = [
    "AgentBrokenError",
    "AgentHandle",
    "AgentRefusedError",
    "AmbiguousToolError",
    "Answer",
    "Approval",
    "Belt",
    "Call",
    "Caller",
    "Decision",
    "Diagnostic",
    "EventLog",
    "Fleet",
    "HandOff",
    "Hint",
    "LiveAgent",
    "LiveTurn",
    "NoCallerError",
    "Outcome",
    "PackbeltError",
    "Permission",
    "Reason",
    "Refusal",
    "Route",
    "RunBusyError",
    "RunNotResumableError",
    "Scope",
    "SelectorError",
    "Snapshot",
    "SnapshotError",
    "State",
    "Tool",
    "ToolCall",
    "ToolId",
    "ToolResult",
    "Trust",
    "Turn",
    "UnknownAgentError",
    "UnknownRunError",
    "VocabularyError",
    "Workspace",
    "WorkspaceError",
    "__version__",
    "caller",
    "decide",
    "load",
    "open",
    "tool",
    "turn",
]

_HOMES = {
    **dict.fromkeys(("AgentHandle", "Turn"), "packbelt.turn"),
    **dict.fromkeys(("Belt", "Scope", "decide"), "packbelt.belt"),
    "load": "packbelt.catalog.load",
    "LiveAgent": "packbelt.live.agent",
    "Approval": "packbelt.live.asking",
    **dict.fromkeys(("Caller", "NoCallerError", "caller"), "packbelt.live.calling"),
    "EventLog": "packbelt.live.observe.events",
    "Fleet": "packbelt.live.fleet",
    "open": "packbelt.live.opening",
    **dict.fromkeys(("RunBusyError", "RunNotResumableError", "UnknownRunError"), "packbelt.live.runs"),
    "Trust": "packbelt.live.trust",
    "LiveTurn": "packbelt.live.turn",
    "tool": "packbelt.catalog.natives",
    "Snapshot": "packbelt.catalog.snapshot",
    "Workspace": "packbelt.catalog.workspace",
}
"""Where what is not in `packbelt.model` lives."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "turn":  # also the name of a subpackage, which can therefore be called like the function
        return import_module("packbelt.turn")
    found = getattr(import_module(_HOMES.get(name, "packbelt.model")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
