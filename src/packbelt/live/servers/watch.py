"""Changes of a server's list: when to list again, in both protocol eras."""

import math
from collections.abc import Awaitable, Callable

import anyio
import mcp_types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

from packbelt.live.servers.backoff import Backoff
from packbelt.live.servers.exchange import exchange

_REFUSED, _BROKEN = 400, 500


class Watch:
    """Lists again when a server says that its list has changed: one listing at a time, none too few.

    A change has a number; a listing settles the changes up to the number it began with, so that one that
    comes while it runs leads to another listing. One that fails is tried again, later and later.
    """

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self._changes = 0
        self._settled = 0
        self._news = anyio.Event()

    def changed(self) -> None:
        """The list has changed, or may have."""
        self._changes += 1
        self._news.set()

    async def notice(self, message: object) -> None:
        """Take a notification of the server; the SDK's message handler."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self.changed()

    async def run(self, refresh: Callable[[], Awaitable[bool]]) -> None:
        """List again after every change, for ever.

        Args:
            refresh: lists; whether that went well.
        """
        failures = 0
        while True:
            while self._settled == self._changes:
                self._news = anyio.Event()
                await self._news.wait()
            number = self._changes
            if await refresh():
                self._settled, failures = number, 0
            else:
                failures += 1
                await anyio.sleep(self._backoff.pause(failures))

    async def listen(self, client: Client, seconds: float) -> None:
        """Subscribe to changes, again and again where the stream ends; return where the server has none.

        Args:
            client: a connected client.
            seconds: for the server to accept the subscription.
        """
        failures = 0
        while True:
            began = anyio.current_time()
            with exchange() as seen:
                try:
                    if not await self._subscription(client, seconds):
                        return
                except (ListenNotSupportedError, MCPError) as error:
                    known = getattr(error, "code", mcp_types.METHOD_NOT_FOUND)
                    if known == mcp_types.METHOD_NOT_FOUND or _REFUSED <= (seen.status or 0) < _BROKEN:
                        return
                except SubscriptionLost:
                    pass
                if seen.lost is not None:
                    self.changed()  # the listing will show whether the server is there at all
            failures = self._backoff.after(failures, anyio.current_time() - began)
            await anyio.sleep(self._backoff.pause(failures))

    async def _subscription(self, client: Client, seconds: float) -> bool:
        """One subscription to its end; False where the server tells of no changes."""
        with anyio.move_on_after(seconds) as scope:
            async with client.listen(tools_list_changed=True) as changes:
                scope.deadline = math.inf
                if not changes.honored.tools_list_changed:
                    return False
                self.changed()  # what changed before the server listened, nobody tells
                async for _ in changes:
                    self.changed()
        return True
