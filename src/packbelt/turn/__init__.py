"""One turn of one agent: belt, sections, prompt and cost from one snapshot."""

import sys
from types import ModuleType

from packbelt.belt import Scope
from packbelt.catalog.registry import Runtime
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.turn.handle import AgentHandle
from packbelt.turn.turn import NOTHING, Turn, next_turn, turn

__all__ = ["NOTHING", "AgentHandle", "Turn", "next_turn", "turn"]


class _Called(ModuleType):
    """`packbelt.turn` is this package and also the package's function: called, it is the function.

    Python binds a subpackage to its parent's attribute whenever anything imports it, so that without this
    `packbelt.turn(...)` would work or fail by what had been imported before.
    """

    def __call__(
        self,
        workspace: Workspace,
        snapshot: Snapshot | None,
        agent: str | Scope,
        runtime: Runtime | None = None,
    ) -> Turn:
        """One agent's turn: see `packbelt.turn.turn`."""
        return turn(workspace, snapshot, agent, runtime)


sys.modules[__name__].__class__ = _Called
