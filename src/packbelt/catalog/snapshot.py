"""`Snapshot`: what is true now. Immutable; every change is a new one."""

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from packbelt.catalog.forms import server_tools
from packbelt.catalog.tokens import count
from packbelt.catalog.workspace import Skill
from packbelt.model import Diagnostic, Permission, Selector, ServerStatus, Tool, Where
from packbelt.model.selector import WILDCARD, glob

Placed = Literal["direct", "packed", "deferred"]


class Shape(NamedTuple):
    """A case-sensitive glob over sorted names, read once for all servers.

    Attributes:
        head: the letters before the first wildcard.
        end: the first text after all that start with the head; None where nothing is.
        fits: what a name in between must match; None where the head says all.
    """

    head: str
    end: str | None
    fits: Callable[[str], object] | None


@lru_cache(maxsize=256)
def shape(pattern: str) -> Shape:
    """The shape of a glob."""
    head = WILDCARD.split(pattern, maxsplit=1)[0]
    end = head[:-1] + chr(ord(head[-1]) + 1) if head and ord(head[-1]) < sys.maxunicode else None
    return Shape(head, end, None if end and pattern == head + "*" else glob(pattern).match)


@dataclass(frozen=True)
class ServerState:
    """A server now.

    Attributes:
        tools: what it lists, or listed when it was last connected; sorted by name.
        instructions: the server's own words on how to use it.
        error: why it failed, in one line.
        diagnostics: what was wrong with its list.
    """

    name: str
    status: ServerStatus
    tools: tuple[Tool, ...] = ()
    instructions: str | None = None
    error: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    where: Where | None = None

    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The tools' plain names, in their order."""
    altered: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Positions of the tools whose wire name was altered; only such names can clash."""

    def __post_init__(self) -> None:
        # Worked out on load: every belt reads them, and none should pay for it.
        names = tuple([tool.id.name for tool in self.tools])
        altered = tuple([i for i, tool in enumerate(self.tools) if tool.altered])
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "altered", altered)

    @cached_property
    def by_name(self) -> Mapping[str, int]:
        """Position of each tool in `tools`."""
        return {name: i for i, name in enumerate(self.names)}

    def matching(self, shape: "Shape") -> int:
        """The tools whose plain names fit a glob, as bits of their positions.

        The names are sorted, so the letters before the first wildcard narrow them to one run.
        """
        names = self.names
        low = bisect_left(names, shape.head)
        high = len(names) if shape.end is None else bisect_left(names, shape.end, low)
        if shape.fits is None or low == high:
            return (1 << high) - (1 << low)
        mask = 0
        for i in range(low, high):
            if shape.fits(names[i]):
                mask |= 1 << i
        return mask

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The digest of each tool's definition, in their order."""
        return tuple(tool.digest for tool in self.tools)

    @cached_property
    def tokens(self) -> int:
        """What all its tools cost together, in o200k_base tokens."""
        return sum(count(tool.line) for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A tool in order of arrival, with the placement it was given then (None: none was recorded).

    Attributes:
        id: an identity as text: `server:<server>/<tool>`, `native:<name>` or `handoff:<name>`.
    """

    id: str
    placed: Placed | None = None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Snapshot:
    """What is true now: servers and their tools, installed skills, what is switched off.

    Attributes:
        servers: by name. A server that is configured and not here counts as disconnected.
        skills: installed skills, or None for those that the workspace found on disk.
        disabled_agents: agents that are switched off.
        ceiling: highest permission now, or None for the workspace's.
        deny: selectors nobody may call.
        approve: selectors whose calls a person approves first.
        admitted: order of arrival, with placement.
        file: where it was read from.
    """

    servers: Mapping[str, ServerState] = field(default_factory=dict)
    skills: tuple[Skill, ...] | None = None
    disabled_agents: tuple[str, ...] = ()
    ceiling: Permission | None = None
    deny: tuple[Selector, ...] = ()
    approve: tuple[Selector, ...] = ()
    admitted: tuple[Admitted, ...] = ()
    file: str = ""

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a snapshot file.

        Raises:
            SnapshotError: the file is missing, too large, half written or not a snapshot.
        """
        from packbelt.catalog.snapshot_file import read_snapshot  # noqa: PLC0415 - pydantic stays off the hot path

        return cls(**read_snapshot(Path(path)))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """A snapshot from the data of a snapshot file.

        Raises:
            SnapshotError: the data are not a snapshot.
        """
        from packbelt.catalog.snapshot_file import parse_snapshot  # noqa: PLC0415 - as above

        return cls(**parse_snapshot(data))

    def to_data(self) -> dict[str, Any]:
        """The data of a snapshot file that reads back as this snapshot."""
        from packbelt.catalog.snapshot_file import snapshot_data  # noqa: PLC0415 - as above

        return snapshot_data(self)

    def connect(
        self, server: str, listed: Iterable[object], *, instructions: str | None = None
    ) -> "Snapshot":
        """The server is connected and lists these tools (entries of `tools/list`).

        A tool whose definition did not change keeps its bytes, whatever order its keys came in.
        """
        tools, diagnostics = server_tools(server, listed)
        before = self.servers.get(server)
        if before:
            known = {tool.name: tool for tool in before.tools}
            tools = tuple(
                old if (old := known.get(tool.name)) and _same(old, tool) else tool for tool in tools
            )
        state = ServerState(server, ServerStatus.CONNECTED, tools, instructions, diagnostics=diagnostics)
        return self._with_server(state)

    def mark(self, server: str, status: ServerStatus, error: str = "") -> "Snapshot":
        """The server is starting, failed or disconnected; it keeps its name and last known tools."""
        before = self.servers.get(server) or ServerState(server, status)
        return self._with_server(
            ServerState(server, status, before.tools, before.instructions, error, before.diagnostics)
        )

    def _with_server(self, state: ServerState) -> "Snapshot":
        return replace(self, servers={**self.servers, state.name: state})


def _same(old: Tool, new: Tool) -> bool:
    """Whether two tools are defined alike, whatever the order of their schemas' keys."""
    return old.line == new.line or old.digest == new.digest
