"""`LiveTurn`: a turn of an agent at work, whose calls can be run."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packbelt.live.asking import Approve, Elicit
from packbelt.model import ToolCall, ToolResult
from packbelt.turn import Turn

if TYPE_CHECKING:
    from packbelt.live.agent import LiveAgent


@dataclass(frozen=True)
class LiveTurn(Turn):
    """A turn whose calls can be run."""

    _agent: "LiveAgent" = field(kw_only=True, repr=False, compare=False)

    async def run(
        self, calls: Iterable[ToolCall], *, approve: Approve | None = None, elicit: Elicit | None = None
    ) -> list[ToolResult]:
        """Run a reply's calls side by side; the results come in the order of the calls.

        Each call passes the gate as it stands now, which may have changed since this turn was decided. What
        fails costs its own result and no other; nothing is ever tried twice.

        Args:
            calls: from a model's reply.
            approve: who is asked for approvals instead of the fleet's `approve`.
            elicit: who answers servers' questions instead of the fleet's `elicit`.
        """
        return await self._agent.run(calls, approve=approve, elicit=elicit)
