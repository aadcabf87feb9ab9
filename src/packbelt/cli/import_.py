"""`packbelt import`."""

import os
from pathlib import Path

import click

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source

CLIENTS = ("claude-code", "claude-desktop", "vscode", "cursor", "opencode", "codex", "gemini")
SCOPES = ("project", "user", "plugin")

_HELP = """Bring other clients' files into a workspace, and say what mapped and what did not.

PATH is a file, a project, a home directory, a plugin, or with --from a folder of agents. Read are the
agents, servers and permissions of Claude Code and OpenCode, and the servers of Claude Desktop, VS Code,
Cursor, Codex and Gemini CLI. Nothing is started, and no variable is read.

Nothing becomes wider than it was: what cannot be read for sure is refused, with the reason. What looks like a
secret is not copied; it becomes ${NAME}. docs/import.md has the tables.

Exits 1 if anything was refused; the rest is written all the same. No file is overwritten without --force,
and then the old one is kept as NAME.orig; if a file is in the way, nothing is written.
"""


@click.command("import", help=_HELP, epilog="Example: packbelt import ~ --into fleet --dry-run")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The workspace to write. Default: the current directory.",
)
@click.option("--from", "client", type=click.Choice(CLIENTS), help="Only this client's files; what PATH is.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    help="What PATH is. Default: told by what lies in it (.claude.json: user; .claude-plugin: plugin).",
)
@click.option("--force", is_flag=True, help="Overwrite files; each is kept as NAME.orig.")
@click.option("--all", "everything", is_flag=True, help="Show every thing and every remark.")
@with_source
def command(
    *,
    path: Path,
    dry_run: bool,
    into: Path | None,
    client: str | None,
    scope: str | None,
    force: bool,
    everything: bool,
    source: Source,
) -> int:
    """Bring other clients' files into a workspace."""
    from packbelt.importers import Client, gather, write
    from packbelt.importers.write import in_the_way, prove, to_write
    from packbelt.model import Origin

    if into is not None and source.directory is not None:
        raise click.UsageError("--into and -w both name the directory: choose one")
    if source.file is not None and not source.from_variable:
        raise click.UsageError("--snapshot is for commands that read a workspace; this one writes one")
    target = Path(os.path.abspath(into or source.directory or "."))  # noqa: PTH100 - links are kept
    found = gather(
        path.expanduser(),
        target,
        client=Client(client) if client else None,
        scope=Origin(scope) if scope else None,
    )
    if dry_run:
        prove(found.files, target)
        files = list(to_write(found.files, target, force=True))
    else:
        files = write(found.files, target, force=force)
    blocked = in_the_way(files, target) if dry_run and not force else []
    if source.json:
        from packbelt.cli.import_text import answer_json
        from packbelt.cli.output import write_json

        write_json(answer_json(path, target, found.report, files, dry_run=dry_run, blocked=blocked))
    else:
        from packbelt.cli.import_text import show

        show(target, found.report, files, dry_run=dry_run, blocked=blocked, everything=everything)
    return FINDINGS if found.report.refused else FINE
