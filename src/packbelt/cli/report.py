"""`packbelt report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from packbelt.cli.options import Source, with_source

if TYPE_CHECKING:
    from packbelt.checks.reported import Report

Method = Literal["json", "openai", "anthropic"]


@click.command("report", epilog="Example: packbelt report --html report.html --open")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the page to FILE; - is standard output.",
)
@click.option("--open", "opened", is_flag=True, help="Open the page that --html wrote in the browser.")
@click.option(
    "--method",
    type=click.Choice(["json", "openai", "anthropic"]),
    default="json",
    show_default=True,
    help="How tokens are counted: exactly on the neutral form, or as a provider is estimated to bill.",
)
@with_source
def command(page: Path | None, method: Method, source: Source, *, opened: bool) -> None:
    """The whole workspace on one page, or in a few lines without --html.

    The page shows every tool's state for every agent with the rules that decided it, who hands to whom, what
    each belt costs packed and unpacked, the findings of `check`, and the prompts. It is one file that fetches
    nothing: it can be mailed, and kept as an artifact of CI. Nothing is started; servers are as --snapshot
    says.
    """
    from packbelt.checks.report import report

    if page is not None and source.json:
        raise click.UsageError("--html and --json are two forms of one answer: choose one")
    if opened and (page is None or str(page) == "-"):
        raise click.UsageError("--open shows the page that --html writes: name its file with --html FILE")
    found = report(source.workspace(), source.snapshot(), method)
    if page is not None:
        _write(page, found, opened=opened)
    elif source.json:
        from packbelt.cli.output import write_json
        from packbelt.cli.report_json import report_json

        write_json(report_json(found))
    else:
        from packbelt.cli.report_text import show_report

        show_report(found, source.given)


def _write(file: Path, found: "Report", *, opened: bool) -> None:
    """The page, and on standard error how large it is.

    Raises:
        PackbeltError: the file cannot be written.
    """
    from packbelt.cli.files import write_text
    from packbelt.cli.output import note, number
    from packbelt.cli.page import page_of
    from packbelt.cli.report_json import report_json

    text = page_of(report_json(found))
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    write_text(file, text)
    note(f"wrote {file}, {number(round(len(text.encode()) / 1000))} kB")
    if opened:
        click.launch(file.resolve().as_uri())
