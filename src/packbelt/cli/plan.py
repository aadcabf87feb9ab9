"""`packbelt plan`."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packbelt.cli.failure import FINE
from packbelt.cli.options import Source, with_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packbelt.catalog.workspace import Workspace
    from packbelt.checks.plan_edits import Edit

_HELP = """Which tools of the packs to send to whom, from how often they are called.

CALLS is what was observed: packbelt's event log (`serve --events FILE`), spans of OpenTelemetry as JSON, or a
table with the columns agent,tool,calls and, as far as they are known, turns and runs of the agent.

What is cheapest in expected tokens a turn is worked out exactly, cached and uncached ones at their prices,
with the further request and the listing that the first use of a packed tool takes. A tool is moved only
where that is cheaper however the few calls that were seen are read. Nothing becomes callable, and nothing
ceases to be.

--patch prints the change of the workspace's files for `git apply`; --write makes it. docs/plan.md has the
formula.
"""
_EPILOG = """\b
Example: packbelt plan events.jsonl --never-pack core
         packbelt plan calls.csv --max-direct 30 --patch | git apply
"""


class _Finite(click.FloatRange):
    """A range of floats without `nan` and `inf`, which no range keeps out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return found


def _ratio(
    name: str, default: float, text: str
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    return click.option(name, type=_Finite(min=0), default=default, show_default=True, help=text)


@click.command("plan", help=_HELP, epilog=_EPILOG)
@click.argument("calls", type=click.Path(path_type=Path))
@click.option("--never-pack", multiple=True, metavar="NAME", help="A tool or pack that is always sent.")
@click.option("--always-pack", multiple=True, metavar="NAME", help="A tool or pack that is always put away.")
@click.option(
    "--max-direct", type=click.IntRange(min=1), metavar="N", help="Most tools that an agent is sent."
)
@click.option("--keep-handoffs", is_flag=True, help="Leave hand-offs where they are.")
@_ratio("--cached-read", 0.1, "Price of a token read from the cache, as a share of an uncached one.")
@_ratio("--cached-write", 1.25, "Price of a token written into it.")
@_ratio("--output", 5.0, "Price of a token that the model writes.")
@click.option(
    "--turns-per-run",
    type=_Finite(min=1),
    default=8.0,
    show_default=True,
    help="Requests of one run, where CALLS does not tell.",
)
@click.option(
    "--context",
    type=click.IntRange(0, 10**9),
    default=8000,
    show_default=True,
    help="Tokens of prompt and conversation that a further request reads again.",
)
@click.option(
    "--confidence",
    type=_Finite(0.5, 1, max_open=True),
    default=0.9,
    show_default=True,
    help="How sure it must be before a tool is moved.",
)
@click.option(
    "--least-runs",
    type=_Finite(min=0),
    default=20.0,
    show_default=True,
    help="Runs of an agent below which its calls move nothing.",
)
@click.option("--patch", "as_patch", is_flag=True, help="Print the change as a patch, and nothing else.")
@click.option("--write", is_flag=True, help="Write the change into the workspace's files.")
@click.option("--all", "everything", is_flag=True, help="Name every agent.")
@with_source
def command(
    *,
    calls: Path,
    never_pack: tuple[str, ...],
    always_pack: tuple[str, ...],
    max_direct: int | None,
    keep_handoffs: bool,
    cached_read: float,
    cached_write: float,
    output: float,
    turns_per_run: float,
    context: int,
    confidence: float,
    least_runs: float,
    as_patch: bool,
    write: bool,
    everything: bool,
    source: Source,
) -> int:
    """Which tools of the packs to send to whom, from how often they are called."""
    from packbelt.checks.plan import plan
    from packbelt.checks.plan_answer import Limits
    from packbelt.checks.plan_edits import edits, patch
    from packbelt.checks.plan_model import Prices
    from packbelt.checks.plan_observed import read_observed
    from packbelt.checks.plan_proof import planned, prove
    from packbelt.cli.loaded import load_errors, report

    if as_patch and (write or source.json):
        raise click.UsageError("--patch prints the patch alone: leave out --write and --json")
    prices = Prices(cached_read, cached_write, output, turns_per_run, context)
    limits = Limits(never_pack, always_pack, max_direct, keep_handoffs, confidence, least_runs)
    observed = read_observed(calls)
    workspace, snapshot = source.own_workspace() if write else source.workspace(), source.snapshot()
    report(load_errors(workspace))
    found = plan(workspace, observed, snapshot, prices, limits)
    changed = edits(workspace, found)
    difference = prove(workspace, planned(workspace, found), snapshot)
    if write:
        _write(workspace, changed, source)
    if source.json:
        from packbelt.cli.output import write_json
        from packbelt.cli.plan_text import plan_json

        write_json(plan_json(found, difference, changed))
    elif as_patch:
        click.echo(patch(changed), nl=False)
    else:
        from packbelt.cli.plan_text import show_plan

        show_plan(found, difference, changed, written=write, everything=everything)
    return FINE


def _write(workspace: "Workspace", changed: "Sequence[Edit]", source: Source) -> None:
    """Write the edits; if what they make is not what was planned, nothing stays written.

    Raises:
        PackbeltError: a file cannot be written, or what was written does not do what it should.
    """
    from packbelt.catalog.load import load
    from packbelt.checks.plan_proof import prove
    from packbelt.cli.files import write_text

    def put(*, back: bool) -> None:
        for one in changed:
            write_text(workspace.root / one.file, one.before if back else one.after)

    try:
        put(back=False)
        prove(workspace, load(workspace.root), source.snapshot())
    except BaseException:
        put(back=True)
        raise
