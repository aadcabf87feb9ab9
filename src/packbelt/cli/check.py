"""`packbelt check`."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source

if TYPE_CHECKING:
    from packbelt.model import Diagnostic, Level


MOST = 4
"""Warnings or notes of one kind that are shown."""
MOST_ERRORS = 20
"""Errors of one kind that are shown."""


@click.command("check", epilog="Example: packbelt check --strict")
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=f"Show more than {MOST} warnings or notes of one kind, and more than {MOST_ERRORS} errors.",
)
@with_source
def command(source: Source, *, strict: bool, everything: bool) -> int:
    """Try all laws and lints on this workspace, and say what is wrong, where, and the mend.

    Exits 1 if there is an error. An agent that cannot start is a finding, not a failure of the check.
    With --snapshot also what is connected in it is looked at.
    """
    from packbelt.checks import run, summary
    from packbelt.model import Level

    workspace = source.workspace()
    findings = run(workspace, source.snapshot())
    count = Counter(one.level for one in findings)
    if source.json:
        from packbelt.cli.json_forms import finding_json
        from packbelt.cli.output import write_json

        totals = {f"{level}s": count[level] for level in Level}
        write_json({"findings": [finding_json(one) for one in findings], **totals})
    else:
        from packbelt.cli.output import say, several

        agents = len(workspace.agents) + len(workspace.broken)
        checked = f"{several(agents, 'agent')}, {several(len(workspace.packs), 'pack')}"
        _show(findings, count, everything=everything)
        say(f"  {checked}; {summary(workspace, source.snapshot())}")
    return FINDINGS if count[Level.ERROR] or (strict and count[Level.WARNING]) else FINE


def _show(findings: Sequence["Diagnostic"], count: "Counter[Level]", *, everything: bool) -> None:
    from packbelt.cli.output import LEVEL_STYLE, say, several, spot_of, title
    from packbelt.model import Level

    by_level = {level: [one for one in findings if one.level is level] for level in Level}
    levels = [level for level in Level if by_level[level]]
    for level in levels:
        found = by_level[level]
        most = MOST_ERRORS if level is Level.ERROR else MOST
        title((f"{level}s", LEVEL_STYLE[level]), first=level is levels[0])
        left = Counter(one.code for one in found)
        shown: Counter[str] = Counter()
        for one in found:
            shown[one.code] += 1
            left[one.code] -= 1
            if everything or shown[one.code] <= most:
                say("  ", (spot_of(one), "dim"), one.message, (f"  [{one.code}]", "dim"))
                if one.mend:
                    say("      ", ("mend: ", LEVEL_STYLE[level]), one.mend)
            elif not left[one.code]:
                say("  ", (f"and {shown[one.code] - most} more of [{one.code}]; --all shows them", "dim"))
    if findings:
        say("")
    counts = ", ".join(several(count[level], level) for level in Level)
    say((counts, "bad" if count[Level.ERROR] else "odd" if count[Level.WARNING] else "good"))
