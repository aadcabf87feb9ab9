"""All pages of `tools/list`, as the server wrote them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import mcp_types
from mcp import Client, MCPError
from pydantic import ValidationError

from packbelt.catalog.forms import MAX_TOOLS
from packbelt.live.servers.exchange import exchange
from packbelt.model import Code, Diagnostic, Level

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


class SessionEndedError(Exception):
    """An HTTP server answered 404 to a session's id: the session is no more, and a new one is to be begun."""

    def __init__(self) -> None:
        super().__init__("answered HTTP 404: its session has ended")


async def all_tools(server: str, client: Client) -> Listing:
    """Every page of a server's tools, until the last one, the limit, or a cursor that was there before.

    Raises:
        MCPError: the server answered with an error, or not at all.
        SessionEndedError: its HTTP session has ended.
        Exception: what broke the HTTP request off.
    """
    listing = Listing()
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        try:
            kept, following = await _page(client, cursor)
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


async def _page(client: Client, cursor: str | None) -> tuple[Sequence[object], str | None]:
    """Entries of one page and the next cursor.

    The SDK validates a page as a whole, so that one bad tool would cost all of them; from the page as it
    came, each tool is judged for itself.
    """
    with exchange() as seen:
        try:
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        except ValidationError:
            result = seen.result or {}
            if not isinstance(result.get("tools"), list):
                raise
            following = result.get("nextCursor")
            return result["tools"], following if isinstance(following, str) else None
        except MCPError:
            if seen.lost is not None:
                raise seen.lost from None
            if seen.status == 404 and seen.session:  # noqa: PLR2004 - the status that the protocol names
                raise SessionEndedError from None
            raise
    return (seen.result or {}).get("tools", ()), page.next_cursor
