"""The list of tools that one agent's clients are given, and how it changes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as t

from packbelt.model import Tool
from packbelt.providers import Form
from packbelt.providers.mcp import entry

Decide = Callable[[], Awaitable[Form]]
Announce = Callable[[], Awaitable[None]]


class Shelf:
    """The tools that are listed, replaced only after a change of them was announced.

    Args:
        decide: the form of the belt as it would be decided now.
        announce: tells the client that the list of tools has changed.
    """

    def __init__(self, decide: Decide, announce: Announce) -> None:
        self._decide = decide
        self._announce = announce
        self._lock = anyio.Lock()
        self._tools: tuple[t.Tool, ...] | None = None

    async def tools(self) -> list[t.Tool]:
        """The tools as they are listed: the same bytes in the same order until a change was announced."""
        async with self._lock:  # a list asked for while a change is announced is the new one
            if self._tools is None:
                self._tools = await self._now()
            return list(self._tools)

    async def refresh(self) -> None:
        """List what is true now, after saying so where it is something else; unseen changes are no news."""
        async with self._lock:
            if self._tools is None:
                return
            tools = await self._now()
            if tools != self._tools:
                await self._announce()
                self._tools = tools

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a listed tool, as it was last listed."""
        return next((tool.input_schema for tool in self._tools or () if tool.name == name), None)

    async def _now(self) -> tuple[t.Tool, ...]:
        return listed((await self._decide()).tools)


def listed(tools: Sequence[Tool]) -> tuple[t.Tool, ...]:
    """Tools as the SDK's entries of `tools/list`."""
    return tuple(t.Tool.model_validate(entry(tool)) for tool in tools)
