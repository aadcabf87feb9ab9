"""The fleet that a tool works in: the one that its host names, else that of the agent that called it."""

from collections.abc import Awaitable, Callable
from typing import Any

from packbelt.live.calling import called, caller
from packbelt.model import PackbeltError

Changed = Callable[[], Awaitable[object]]
"""What a host does when a toolkit has changed the workspace's files."""


async def tell(changed: Changed | None) -> dict[str, Any]:
    """Have a change of the workspace's files taken over; it is made, whatever comes of that.

    Args:
        changed: what the host does; by default the calling agent's fleet reads its files again.

    Returns:
        What stands beside a tool's answer: `not_taken_over` with the reason, or nothing.
    """
    if changed is None:
        if not called():
            return {}
        changed = caller().agent.fleet.reload
    try:
        await changed()
    except PackbeltError as error:
        return {"not_taken_over": str(error)}
    return {}
