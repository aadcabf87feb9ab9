"""`packbelt connect` for people and for programs: progress on standard error, then what was found."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from packbelt.catalog.servers import FILE as SERVERS_FILE
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import ServerSpec
from packbelt.cli.output import Column, Table, draw, line_of, number, say, several, words_of
from packbelt.live.trust import NOT_TRUSTED
from packbelt.model import Diagnostic, ServerStatus
from packbelt.model.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from packbelt.live import Verdict

_STYLE = {ServerStatus.CONNECTED: "good", ServerStatus.FAILED: "bad"}
_TIMES = {"start": "one that is late to start", "list": "one that is late to list its tools"}


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

    def say(self, line: str) -> None:
        """A line for a person, whole, above the bar."""
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(line, err=True)

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
    specs: Sequence[ServerSpec],
    found: Snapshot,
    verdict: "Verdict",
    seconds: Mapping[str, float],
    broken: Sequence[Diagnostic],
) -> None:
    """A line for each server, those whose entry cannot be used included, the sums, and what may help."""
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
            why = verdict.refused.get(name, NOT_TRUSTED)
            table.add(name, (NOT_TRUSTED, "odd"), "", "", "", "" if why == NOT_TRUSTED else why)
            continue
        status = (str(state.status), _STYLE.get(state.status, "odd"))
        took = f"{seconds[name]:.1f}" if name in seconds else ""
        if state.status is ServerStatus.CONNECTED:
            remarks = several(len(state.diagnostics), "remark") if state.diagnostics else ""
            table.add(name, status, number(len(state.tools)), number(state.tokens), took, (remarks, "odd"))
        else:
            table.add(name, status, "", "", took, state.error)
    for one in broken:
        table.add(row_name(one), (str(ServerStatus.FAILED), "bad"), "", "", "", line_of(one))
    connected = [state for state in found.servers.values() if state.status is ServerStatus.CONNECTED]
    if len(connected) > 1:
        tools, tokens = sum(len(s.tools) for s in connected), sum(s.tokens for s in connected)
        table.add_sum(("together", "sum"), "", (number(tools), "sum"), (number(tokens), "sum"))
    draw(table, indent=0)
    for state in connected:
        for one in state.diagnostics:
            say((f"{one.level}: ", "odd"), words_of(one))
    _may_help(specs, found)


def _may_help(specs: Sequence[ServerSpec], found: Snapshot) -> None:
    """One line on what a server is started with, where one failed; and on the limits that one passed."""
    from packbelt.live.servers.failure import late_for

    failed = {name: s.error for name, s in found.servers.items() if s.status is ServerStatus.FAILED}
    helps = []
    if any(spec.transport == "stdio" and spec.name in failed for spec in specs):
        helps.append(
            "servers get only PATH, HOME and the like (packbelt connect --help lists them) and the variables "
            "of their own `env`: name there what else they need, such as SSL_CERT_FILE or HTTPS_PROXY"
        )
    late = {late_for(error) for error in failed.values()}
    helps += [
        f"for {said} raise `times.{limit}` in packbelt.yaml"
        for limit, said in _TIMES.items()
        if limit in late
    ]
    if helps:
        say(("; ".join(helps), "dim"))


def row_name(one: Diagnostic) -> str:
    """What a broken entry's row is called: its server, or the file where nothing in it can be read."""
    return one.name or (one.where.file if one.where else SERVERS_FILE)


def answer_json(
    specs: Sequence[ServerSpec],
    found: Snapshot,
    verdict: "Verdict",
    seconds: Mapping[str, float],
    broken: Sequence[Diagnostic],
) -> dict[str, Any]:
    """The servers as `packbelt connect --json` shows them; seconds are wall time from start to answer."""
    failed = {"status": str(ServerStatus.FAILED), "tools": 0, "tokens": 0, "seconds": None}
    return {
        "servers": [
            *(_server_json(spec.name, found, verdict, seconds) for spec in specs),
            *({"name": row_name(one), **failed, "error": line_of(one)} for one in broken),
        ]
    }


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
