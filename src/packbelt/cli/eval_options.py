"""The options of `packbelt eval` that judge what was played."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from packbelt.evals.judge.baseline import Baseline
    from packbelt.evals.judge.gate import Rule


@dataclass(frozen=True, slots=True)
class Judging:
    """How a run is judged.

    Attributes:
        old: what it is compared with: a results file, a workspace's directory or a git revision; None for
            nothing.
        baseline: the baseline's file.
        update: whether that is written, and not compared with.
        before: what it holds; None where there is nothing to compare with.
        rules: when the run fails; empty for what the command does by itself.
        junit, html: files to write.
    """

    old: str | None = None
    baseline: Path | None = None
    update: bool = False
    before: "Baseline | None" = None
    rules: tuple["Rule", ...] = ()
    junit: Path | None = None
    html: Path | None = None


def with_judging(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command the options that judge a run, and pass them on as `judging`.

    What is wrong with them is said before anything is played.
    """

    @click.option(
        "--compare",
        "old",
        metavar="OLD",
        help="Compare with a results file, or play the same cases in another directory or git revision.",
    )
    @click.option(
        "--baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Compare with what was reached before; without --fail-on, fail on regression,error.",
    )
    @click.option("--update-baseline", is_flag=True, help="Write the baseline's file instead.")
    @click.option(
        "--fail-on",
        metavar="LIST",
        default="",
        help="Exit 1 if one of these holds, and else 0: failed, error, regression, worse, floor:0.8 (of the "
        "interval's lower end).",
    )
    @click.option(
        "--junit",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write JUnit XML, a test case for each case under each condition.",
    )
    @click.option(
        "--html",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write one page with all tables and traces, which needs no network.",
    )
    @wraps(command)
    def run(
        *args: Any,
        old: str | None,
        baseline: Path | None,
        update_baseline: bool,
        fail_on: str,
        junit: Path | None,
        html: Path | None,
        **kwargs: Any,
    ) -> int | None:
        judging = _judging(old, baseline, update_baseline, fail_on)
        return command(
            *args,
            judging=Judging(old, baseline, update_baseline, *judging, junit=junit, html=html),
            **kwargs,
        )

    return run


def _judging(
    old: str | None, baseline: Path | None, update: bool, fail_on: str
) -> tuple["Baseline | None", tuple["Rule", ...]]:
    """The baseline to compare with, and the rules.

    Raises:
        UsageError: an option needs another one.
        PackbeltError: a rule is none, or the baseline cannot be read.
    """
    from packbelt.evals.judge.baseline import read_baseline
    from packbelt.evals.judge.gate import rules

    if update and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    before = None if baseline is None or update else read_baseline(baseline)
    asked = rules(fail_on or ("regression,error" if before else ""))
    names = {rule.name for rule in asked}
    if "regression" in names and before is None:
        raise click.UsageError("--fail-on regression needs a --baseline FILE to compare with")
    if "worse" in names and old is None:
        raise click.UsageError("--fail-on worse needs --compare OLD")
    return before, asked
