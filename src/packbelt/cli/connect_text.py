"""`packbelt connect` for people and for programs: progress on standard error, then what was found."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import ServerSpec
from packbelt.cli.output import Column, Table, draw, number, say, several
from packbelt.model import ServerStatus
from packbelt.model.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from packbelt.live import Verdict

_STYLE = {ServerStatus.CONNECTED: "good", ServerStatus.FAILED: "bad"}
NOT_TRUSTED = "not trusted"
"""The status of a server that was not started."""


class Watch(AbstractContextManager["Watch"]):
    """Told how each server is doing: a bar on a terminal, else a line for each that is done.

    Args:
        total: servers that will start.

    Attributes:
        seconds: how long each took, by name.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._waiting: dict[str, None] = {}
        self._bar: Progress | None = None
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Self:
        if self._total and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, server: str, status: ServerStatus, tools: int, seconds: float) -> None:
        """A server's status changed."""
        if status is ServerStatus.STARTING:
            self._waiting[server] = None
        else:
            self._waiting.pop(server, None)
            self.seconds[server] = seconds
        if self._bar:
            names = one_line(", ".join(self._waiting))
            self._bar.update(self._bar.task_ids[0], completed=len(self.seconds), description=names)
        elif status is not ServerStatus.STARTING:
            said = several(tools, "tool") if status is ServerStatus.CONNECTED else str(status)
            click.echo(f"{one_line(server)}: {said} ({seconds:.1f} s)", err=True)


def show(
    specs: Sequence[ServerSpec], found: Snapshot, verdict: "Verdict", seconds: Mapping[str, float]
) -> None:
    """A line for each server, and the sums."""
    table = Table(
        (
            Column("server"),
            Column("status"),
            Column("tools", "right"),
            Column("tokens", "right"),
            Column("seconds", "right"),
            Column(wraps=True),
        )
    )
    for spec in specs:
        name = spec.name
        state = found.servers.get(name)
        if state is None:
            table.add(name, (NOT_TRUSTED, "odd"), "", "", "", verdict.refused.get(name, ""))
            continue
        status = (str(state.status), _STYLE.get(state.status, "odd"))
        took = f"{seconds[name]:.1f}" if name in seconds else ""
        if state.status is ServerStatus.CONNECTED:
            remarks = several(len(state.diagnostics), "remark") if state.diagnostics else ""
            table.add(name, status, number(len(state.tools)), number(state.tokens), took, (remarks, "odd"))
        else:
            table.add(name, status, "", "", took, state.error)
    connected = [state for state in found.servers.values() if state.status is ServerStatus.CONNECTED]
    if len(connected) > 1:
        tools, tokens = sum(len(s.tools) for s in connected), sum(s.tokens for s in connected)
        table.add_sum(("together", "sum"), "", (number(tools), "sum"), (number(tokens), "sum"))
    draw(table, indent=0)
    for state in connected:
        for one in state.diagnostics:
            say((f"{one.level}: ", "odd"), one.message, f"; {one.mend}" if one.mend else "")


def answer_json(
    specs: Sequence[ServerSpec], found: Snapshot, verdict: "Verdict", seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The servers as `packbelt connect --json` shows them; seconds are wall time from start to answer."""
    return {"servers": [_server_json(spec.name, found, verdict, seconds) for spec in specs]}


def _server_json(
    name: str, found: Snapshot, verdict: "Verdict", seconds: Mapping[str, float]
) -> dict[str, Any]:
    state = found.servers.get(name)
    took = round(seconds[name], 3) if name in seconds else None
    if state is None:
        error = verdict.refused.get(name, "")
        return {"name": name, "status": NOT_TRUSTED, "tools": 0, "tokens": 0, "seconds": took, "error": error}
    return {
        "name": name,
        "status": str(state.status),
        "tools": len(state.tools),
        "tokens": state.tokens,
        "seconds": took,
        "error": state.error,
    }
