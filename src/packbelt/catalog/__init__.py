"""Files into one immutable `Workspace`; what is true now as a `Snapshot`.

Importing this needs neither pydantic nor a YAML library; reading files does.
"""

from packbelt.catalog.discover import embedded_root, find_workspace
from packbelt.catalog.load import load
from packbelt.catalog.natives import tool
from packbelt.catalog.snapshot import Admitted, ServerState, Snapshot
from packbelt.catalog.workspace import (
    Agent,
    BrokenAgent,
    Budget,
    Config,
    Pack,
    ServerPolicy,
    ServerSpec,
    Skill,
    Template,
    Times,
    ToolPolicy,
    Workspace,
)

__all__ = [
    "Admitted",
    "Agent",
    "BrokenAgent",
    "Budget",
    "Config",
    "Pack",
    "ServerPolicy",
    "ServerSpec",
    "ServerState",
    "Skill",
    "Snapshot",
    "Template",
    "Times",
    "ToolPolicy",
    "Workspace",
    "embedded_root",
    "find_workspace",
    "load",
    "tool",
]
