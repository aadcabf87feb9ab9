"""What `packbelt call` reads, asks, tells while it works, and prints."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from packbelt.catalog.workspace import ServerSpec
from packbelt.cli.connect_text import Watch
from packbelt.cli.json_forms import hint_json
from packbelt.cli.output import note, write_json
from packbelt.live.asking import Approval
from packbelt.live.foreground import interruptible
from packbelt.live.observe.events import Event, EventLog, ServerEvent
from packbelt.model import Outcome, ToolResult
from packbelt.model.encode import compact
from packbelt.model.text import one_line

NOT_NEEDED = "not needed for this call"
"""Why a server that the call does not need was not started."""

_MENDS = {
    Outcome.NOT_STARTED: "nothing happened; it may be tried again",
    Outcome.AMBIGUOUS: "it may have happened; look before you try it again",
}


def arguments_of(text: str | None) -> dict[str, Any]:
    """The arguments: none, a JSON object, or `-` for one on standard input.

    Raises:
        click.UsageError: it is no object.
    """
    if text is None:
        return {}
    try:
        given = sys.stdin.buffer.read().decode() if text == "-" else text
        found = json.loads(given, parse_constant=_refuse)
    except RecursionError:
        raise click.UsageError("the arguments are nested too deeply") from None
    except ValueError as error:
        raise click.UsageError(f"the arguments are not JSON: {error}") from None
    if not isinstance(found, dict):
        raise click.UsageError("the arguments are not a JSON object")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is none of its values")


def approver(*, granted: bool, may_ask: bool) -> Callable[[Approval], bool] | None:
    """Who approves calls: the command line's own word, whoever sits at the terminal, or nobody."""
    if granted:
        return lambda _approval: True
    return _ask if may_ask and sys.stdin.isatty() and sys.stderr.isatty() else None


def _ask(approval: Approval) -> bool:
    what = one_line(f"{approval.tool.id} {compact(approval.arguments)}")
    click.echo(f"{one_line(' > '.join(approval.path))} wants to call {what}", err=True)
    with interruptible():
        try:
            return click.confirm("Make this call?", default=False, err=True)
        except click.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            return False  # nobody is there after all


class Telling:
    """Takes a fleet's events: all of them for the log, the servers' for the bar at the terminal.

    Args:
        log: the log that was asked for.
        watch: the bar.
        started: the servers that are started; nothing is told of others.
    """

    def __init__(self, log: EventLog, watch: Watch, started: Sequence[ServerSpec]) -> None:
        self._log = log
        self._watch = watch
        self._began = dict.fromkeys((one_line(spec.name) for spec in started), time.monotonic())
        self._at_terminal = sys.stderr.isatty()

    def __call__(self, event: Event) -> None:
        """One event."""
        if isinstance(event, ServerEvent):
            if event.server not in self._began:
                return
            if self._at_terminal:
                seconds = time.monotonic() - self._began[event.server]
                self._watch(event.server, event.status, event.tools, seconds)
        self._log.emit(event)


def show(result: ToolResult, *, as_json: bool, could_ask: bool) -> None:
    """The result: its text as it is; or how it ended, on standard error; or all of it in JSON.

    Args:
        result: what came back.
        as_json: whether a program reads it.
        could_ask: whether there was anybody to approve the call.
    """
    answer = result.answer
    if as_json:
        write_json(
            {
                "outcome": str(answer.outcome),
                "tool": str(result.tool) if result.tool else None,
                "content": [dict(block) for block in answer.content],
                "structured": answer.structured,
                "hint": hint_json(result.hint) if result.hint else None,
            }
        )
    elif answer.outcome is Outcome.OK:
        click.echo(answer.text, nl=not answer.text.endswith("\n"))
    if answer.outcome is not Outcome.OK:
        note(f"{answer.outcome}: {result.text}")
        mend = _MENDS.get(answer.outcome, "")
        if answer.outcome is Outcome.REJECTED and result.hint is None and not could_ask:
            mend = "--approve says yes"
        if mend:
            note(mend)
