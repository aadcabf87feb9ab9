"""`packbelt diff`."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source
from packbelt.cli.side import Side, side

if TYPE_CHECKING:
    from packbelt.catalog.workspace import Workspace


_HELP = """What becomes of every agent's belt from OLD to NEW: tools gained, lost and moved from one state to
another, each with the rule that did it; tokens, and how much of a prompt cache survives; new and vanished
findings of `check`.

OLD and NEW are directories or git revisions. A revision is read at the place of the workspace (-w); the
working tree is not touched. What is both is the directory: write refs/heads/NAME for the branch. Without
NEW, the workspace as it is now.

\b
--fail-on:
  lost      an agent can call a tool no more, or cannot start any more
  gained    an agent can call a tool that it could not
  widened   an agent may call a tool that was there and kept from it,
            or needs no person's yes any more
  moved     a tool is in another state, and as callable as before
  errors    check finds an error that it did not
  cost:+5%  an agent's tools and sections cost over 5 % more
"""


@click.command("diff", help=_HELP, epilog="Example: packbelt diff main --fail-on lost,widened,cost:+5%")
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--old-snapshot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What was connected on the side of OLD, where that differs from --snapshot.",
)
@click.option(
    "--fail-on",
    metavar="LIST",
    default="",
    help="Exit 1 if one of these holds: lost, gained, widened, moved, errors, cost:+5% (cost:+200 tokens).",
)
@click.option("--markdown", is_flag=True, help="Answer in Markdown, for a pull request.")
@click.option("--all", "everything", is_flag=True, help="Name every tool, agent and diagnostic.")
@with_source
def command(
    *,
    old: str,
    new: str | None,
    old_snapshot: Path | None,
    fail_on: str,
    markdown: bool,
    everything: bool,
    source: Source,
) -> int:
    """What becomes of every agent's belt from OLD to NEW."""
    from packbelt.checks.diff import diff
    from packbelt.checks.worse import conditions, worse

    if markdown and source.json:
        raise click.UsageError("--markdown and --json are two forms of one answer: choose one")
    asked = conditions(fail_on)
    connected = source.snapshot()
    before = replace(source, file=old_snapshot, from_variable=False).snapshot() if old_snapshot else connected
    with side(old, source) as was, side(new, source) as now:
        found = diff(_workspace(was, now), _workspace(now, was), before, connected)
    failed = worse(found, asked)
    if source.json:
        from packbelt.cli.json_forms import diff_json
        from packbelt.cli.output import write_json

        write_json(diff_json(was.name, now.name, found, failed))
    elif markdown:
        from packbelt.cli.diff_markdown import markdown_of

        click.echo(markdown_of(was.name, now.name, found, failed, everything=everything))
    else:
        from packbelt.cli.diff_text import show_diff

        show_diff(was.name, now.name, found, failed, everything=everything)
    return FINDINGS if failed else FINE


def _workspace(one: Side, other: Side) -> "Workspace":
    """A side's workspace; where a revision has none, one without anything.

    Raises:
        WorkspaceError: neither side has one.
    """
    from packbelt.catalog.load import load
    from packbelt.model import WorkspaceError

    if one.workspace is not None:
        return one.workspace
    if other.workspace is None:
        raise WorkspaceError(
            f"neither {other.name} nor {one.name} has a workspace here",
            mend="name its directory with -w DIR",
        )
    with TemporaryDirectory(prefix="packbelt-") as temporary:
        (Path(temporary) / "packbelt.yaml").write_text("", encoding="utf-8")
        empty = load(temporary)
    # No agent of it was ever there: the one that stands in for a missing root is nobody's file.
    return replace(empty, agents={}, tools=())
