"""How far an eval is, on a terminal, where it takes long."""

import sys
from contextlib import ExitStack
from time import monotonic
from types import TracebackType
from typing import Any, Self

import click

from packbelt.evals import Played

PATIENCE = 2.0
"""Seconds after which it is shown."""


class Progress:
    """A bar on standard error; none in a pipe, and none for what is over soon. Called with each play.

    Args:
        length: how many are to be played.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._done = 0
        self._since = monotonic()
        self._stack = ExitStack()
        self._bar: Any = None

    def __call__(self, played: Played) -> None:
        """One more is over."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(1, played.trial)
        elif sys.stderr.isatty() and monotonic() - self._since > PATIENCE:
            bar = click.progressbar(
                length=self._length, label="playing", file=sys.stderr, item_show_func=_words, show_pos=True
            )
            self._bar = self._stack.enter_context(bar)
            self._bar.update(self._done, played.trial)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def _words(trial: Any) -> str:
    return "" if trial is None else f"{trial.condition.model} {trial.condition.layout} {trial.case}"
