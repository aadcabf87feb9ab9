"""`packbelt init`."""

import os
from contextlib import suppress
from pathlib import Path

import click

from packbelt.cli.options import Source, with_source

STARTER = Path(__file__).parent / "starter"
"""The files that are written, as they are."""
NEXT = (
    ("packbelt dump", "every agent's belt, in one table"),
    ("packbelt explain orchestrator note_delete", "why a tool is not on it, and the way"),
    ("packbelt check", "what is wrong, where, and the mend"),
)
"""What to try first, and what it shows."""


@click.command("init", epilog="Example: packbelt init my-agents && cd my-agents && packbelt dump")
@click.argument("directory", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@with_source
def command(directory: Path | None, source: Source) -> None:
    """Write a small workspace to DIR, or here: two agents with a hand-off, a pack and an MCP server.

    It works as it stands, and its comments say what each line does. Nothing that exists is overwritten: if
    one of its files is there, or DIR is a workspace, nothing is written. Nothing is started.
    """
    from packbelt.cli.words import short_path

    if directory is not None and source.directory is not None:
        raise click.UsageError("DIR and -w both name the directory: choose one")
    if source.file is not None and not source.from_variable:
        raise click.UsageError("--snapshot is for commands that read a workspace; this one writes one")
    root = Path(os.path.abspath(directory or source.directory or "."))  # noqa: PTH100 - links are kept
    written = write_starter(root)
    here = root == Path.cwd()
    if source.json:
        from packbelt.cli.output import write_json

        write_json({"directory": str(root), "written": written, "next": [line for line, _ in NEXT]})
        return
    from packbelt.cli.output import Column, Table, draw, say, title

    say(("wrote a workspace", "title"), "" if here else f" to {short_path(root)}")
    for name in written:
        say(f"  {name}")
    title("Next", ("" if here else f", in {short_path(root)}", "dim"))
    table = Table((Column(), Column("", wraps=True)))
    for line, what in NEXT:
        table.add(line, (what, "dim"))
    draw(table)


def write_starter(root: Path) -> list[str]:
    """Write the starter workspace; what was made is taken back if it cannot be whole.

    Args:
        root: its directory, which is made.

    Returns:
        The files, relative to it.

    Raises:
        PackbeltError: the directory is a workspace, a file is there already, or one cannot be written.
    """
    from packbelt.catalog.discover import is_workspace
    from packbelt.model import PackbeltError, Where

    names = sorted(path.relative_to(STARTER).as_posix() for path in STARTER.rglob("*") if path.is_file())
    there = [name for name in names if os.path.lexists(root / name)]
    elsewhere = "name a new directory: packbelt init DIR"
    if is_workspace(root):
        raise PackbeltError(
            "is a workspace already", where=Where(str(root)), mend=f"packbelt dump shows it; or {elsewhere}"
        )
    if there:
        verb = "exists" if len(there) == 1 else "exist"
        raise PackbeltError(
            f"{', '.join(there)} {verb} already, and nothing was written",
            where=Where(str(root)),
            mend=elsewhere,
        )
    made: list[Path] = []
    try:
        for name in names:
            path = root / name
            _make(path.parent, made)
            with path.open("x", encoding="utf-8", newline="\n") as file:  # never over what came meanwhile
                made.append(path)
                file.write((STARTER / name).read_text(encoding="utf-8"))
    except OSError as error:
        _take_back(made)
        raise PackbeltError(
            f"cannot be written: {error.strerror}", where=Where(str(root)), mend="check the directory"
        ) from None
    return names


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, noting each that was not there."""
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir()
    made.append(folder)


def _take_back(made: list[Path]) -> None:
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
