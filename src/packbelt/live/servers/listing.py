"""All pages of `tools/list`, as the server wrote them."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import mcp_types
from mcp import Client, MCPError
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from packbelt.catalog.forms import MAX_TOOLS
from packbelt.model import Code, Diagnostic, Level

if TYPE_CHECKING:  # the SDK gives these types no public home
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream

MAX_PAGES = MAX_TOOLS
"""Pages of one listing: one tool a page is the least that makes sense."""


@dataclass(slots=True)
class Listing:
    """What a server lists.

    Attributes:
        tools: entries of its pages, as they came.
        diagnostics: what was wrong with the pages themselves.
    """

    tools: list[object] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Tap(AbstractAsyncContextManager["TransportStreams"]):
    """A transport that keeps the last tool list as it came over the wire.

    The SDK validates a page as a whole, so that one bad tool would cost all of them; from the page as it
    came, each tool is judged for itself.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.page: Mapping[str, Any] | None = None

    async def __aenter__(self) -> "tuple[_Tapped, WriteStream[SessionMessage]]":
        read, write = await self._transport.__aenter__()
        return _Tapped(read, self), write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)

    def see(self, item: SessionMessage | Exception) -> None:
        """Keep a result that lists tools."""
        if isinstance(item, SessionMessage) and isinstance(item.message, mcp_types.JSONRPCResponse):
            result = item.message.result
            if isinstance(result.get("tools"), list):
                self.page = result


class _Tapped:
    """The stream of a tapped transport: the SDK's protocol, item by item."""

    def __init__(self, stream: "ReadStream[SessionMessage | Exception]", tap: Tap) -> None:
        self._stream = stream
        self._tap = tap

    @property
    def last_context(self) -> Any:
        """The sender's context, where the transport keeps it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        item = await self._stream.receive()
        self._tap.see(item)
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        item = await self._stream.__anext__()
        self._tap.see(item)
        return item

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


async def all_tools(server: str, client: Client, tap: Tap) -> Listing:
    """Every page of a server's tools, until the last one, the limit, or a cursor that was there before.

    Raises:
        MCPError: the server answered with an error, or not at all.
    """
    listing = Listing()
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        tap.page = None
        try:
            kept, following = await _page(client, tap, cursor)
        except MCPError as error:
            if error.code == mcp_types.METHOD_NOT_FOUND and client.server_capabilities.tools is None:
                return listing  # a server of prompts or resources alone
            raise
        listing.tools += kept
        if following is None:
            return listing
        if len(listing.tools) > MAX_TOOLS:
            return listing  # whoever reads the listing says so
        if following in seen or len(seen) >= MAX_PAGES:
            listing.diagnostics.append(
                Diagnostic(
                    Level.WARNING,
                    Code.SERVER_LISTING,
                    f"the list of server {server!r} does not end: a cursor came back after "
                    f"{len(seen) + 1} pages; the {len(listing.tools)} tools up to there count",
                    mend="mend the paging of the server's tools/list",
                    name=server,
                )
            )
            return listing
        seen.add(following)
        cursor = following


async def _page(client: Client, tap: Tap, cursor: str | None) -> tuple[Sequence[object], str | None]:
    """Entries of one page and the next cursor."""
    try:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
    except ValidationError:
        if tap.page is None:
            raise
        following = tap.page.get("nextCursor")
        return tap.page["tools"], following if isinstance(following, str) else None
    return (tap.page["tools"] if tap.page is not None else []), page.next_cursor
