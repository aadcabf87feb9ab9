"""The question whether servers may be started."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from packbelt.catalog.workspace import ServerSpec
from packbelt.live import Consent, describe


def somebody_there(*, json: bool) -> bool:
    """Whether a person sits at a terminal and can answer; who asked for JSON is a program."""
    return not json and sys.stdin.isatty() and sys.stderr.isatty()


def may_start(root: Path, specs: Sequence[ServerSpec]) -> Consent:
    """Ask whoever sits at the terminal, who sees each command and address first."""
    click.echo(f"{root} wants to start:", err=True)
    for spec in specs:
        click.echo(f"  {describe(spec)}", err=True)
    answer: Consent = click.prompt(
        "Start them? (yes for once, no, always)", default=str(Consent.NO), value_proc=_answer, err=True
    )
    return answer


def _answer(said: str) -> Consent:
    answer = Consent.of(said)
    if answer is None:
        raise click.UsageError("say yes, no or always")
    return answer
