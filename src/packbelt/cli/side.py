"""A workspace that a command line names: a directory, or a git revision."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from packbelt.cli.options import Source

if TYPE_CHECKING:
    from packbelt.catalog.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison, read.

    Attributes:
        name: what it is called: a directory, or a revision.
        workspace: what it has; None for a revision that has no workspace at this place.
    """

    name: str
    workspace: "Workspace | None"


@contextmanager
def side(named: str | None, source: Source) -> Iterator[Side]:
    """What an argument names, for as long as it is needed.

    Raises:
        PackbeltError: it is neither a directory nor a revision, or no workspace can be read there.
    """
    from packbelt.catalog.load import load
    from packbelt.cli.words import short_path

    if named is None:
        own = source.own_workspace()
        yield Side(short_path(own.root), own)
    elif named and Path(named).is_dir():
        yield Side(short_path(Path(named).resolve()), load(named))
    else:
        from packbelt.catalog.discover import is_workspace
        from packbelt.cli.output import note
        from packbelt.cli.revision import check_out

        with TemporaryDirectory(prefix="packbelt-", ignore_cleanup_errors=True) as temporary:
            root = Path(temporary).resolve() / "workspace"
            root.mkdir()
            anchor = _anchor(source)
            check_out(named, anchor, root)
            if is_workspace(root):
                yield Side(named, load(root))
            else:
                note(f"{named} has no workspace in {short_path(anchor)}: compared with an empty one")
                yield Side(named, None)


def _anchor(source: Source) -> Path:
    """The directory whose older or newer form a revision has.

    Raises:
        WorkspaceError: -w names no directory.
    """
    from packbelt.catalog.discover import find_workspace
    from packbelt.model import Where, WorkspaceError

    if source.directory is None:
        return find_workspace() or Path.cwd()
    if not source.directory.is_dir():
        raise WorkspaceError(
            "is no directory", where=Where(str(source.directory)), mend="name a workspace's directory"
        )
    return source.directory.resolve()
