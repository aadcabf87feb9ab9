"""A server's resources, passed through: every page, with limits."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import mcp_types
from mcp import ClientSession

from packbelt.catalog.forms import MAX_TOOLS
from packbelt.live.servers.call import MAX_RESULT
from packbelt.live.servers.exchange import exchange
from packbelt.model import PackbeltError

MAX_RESOURCES = MAX_TOOLS
"""Resources, and templates, of one server."""


class ResourceError(PackbeltError):
    """A server's resources could not be listed or read."""


class TooLargeError(Exception):
    """A resource is over the limit; the message says both sizes."""


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


_PageT = TypeVar("_PageT", bound=_Page)
_ItemT = TypeVar("_ItemT")


async def all_pages(
    fetch: Callable[[mcp_types.PaginatedRequestParams | None], Awaitable[_PageT]],
    items: Callable[[_PageT], list[_ItemT]],
) -> list[_ItemT]:
    """Items of every page, until the last one, the limit, or a cursor that was there before."""
    found: list[_ItemT] = []
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        with exchange():
            page = await fetch(None if cursor is None else mcp_types.PaginatedRequestParams(cursor=cursor))
        found += items(page)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= MAX_RESOURCES or len(seen) >= MAX_RESOURCES:
            return found[:MAX_RESOURCES]
        seen.add(cursor)


async def resources(session: ClientSession) -> list[mcp_types.Resource]:
    """Every resource of a server."""
    return await all_pages(lambda params: session.list_resources(params=params), lambda page: page.resources)


async def templates(session: ClientSession) -> list[mcp_types.ResourceTemplate]:
    """Every resource template of a server."""
    return await all_pages(
        lambda params: session.list_resource_templates(params=params), lambda page: page.resource_templates
    )


async def read(session: ClientSession, uri: str) -> mcp_types.ReadResourceResult:
    """One resource.

    Raises:
        TooLargeError: it is over the limit of a result.
    """
    with exchange():
        result = await session.read_resource(uri)
    size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
    if size > MAX_RESULT:
        raise TooLargeError(f"the resource has {size:,} bytes; the limit is {MAX_RESULT:,} bytes")
    return result
