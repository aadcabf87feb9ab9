"""Identities, selectors, decisions, outcomes, errors, and the closed tables of codes."""

from packbelt.model.codes import (
    CODES,
    RULES,
    Access,
    Code,
    Exposure,
    HintClass,
    Level,
    Origin,
    Rule,
    ServerStatus,
    State,
)
from packbelt.model.decision import NOTHING_TO_DO, Decision, Diagnostic, Reason, Route
from packbelt.model.errors import (
    AgentBrokenError,
    AgentRefusedError,
    AmbiguousToolError,
    PackbeltError,
    SelectorError,
    SnapshotError,
    UnknownAgentError,
    VocabularyError,
    WorkspaceError,
)
from packbelt.model.outcome import Call, HandOff, Hint, Outcome, Refusal, Resolution, Suggestion
from packbelt.model.permission import Permission
from packbelt.model.result import Answer, Speech, ToolCall, ToolResult
from packbelt.model.selector import Selector
from packbelt.model.tool import BUILTIN, HANDOFF, NATIVE, JsonSchema, Tool, ToolId, server_source
from packbelt.model.where import Where

__all__ = [
    "BUILTIN",
    "CODES",
    "HANDOFF",
    "NATIVE",
    "NOTHING_TO_DO",
    "RULES",
    "Access",
    "AgentBrokenError",
    "AgentRefusedError",
    "AmbiguousToolError",
    "Answer",
    "Call",
    "Code",
    "Decision",
    "Diagnostic",
    "Exposure",
    "HandOff",
    "Hint",
    "HintClass",
    "JsonSchema",
    "Level",
    "Origin",
    "Outcome",
    "PackbeltError",
    "Permission",
    "Reason",
    "Refusal",
    "Resolution",
    "Route",
    "Rule",
    "Selector",
    "SelectorError",
    "ServerStatus",
    "SnapshotError",
    "Speech",
    "State",
    "Suggestion",
    "Tool",
    "ToolCall",
    "ToolId",
    "ToolResult",
    "UnknownAgentError",
    "VocabularyError",
    "Where",
    "WorkspaceError",
    "server_source",
]
