"""Where the workspace is."""

from pathlib import Path

from packbelt.catalog.text import is_file, is_folder
from packbelt.model import Where, WorkspaceError

_PACKAGE = Path(__file__).resolve().parent.parent
_MARKS = "packbelt.yaml, .mcp.json, .claude/agents, or packs/ beside prompts/agents/"


def is_workspace(directory: Path, *, claude: bool = True) -> bool:
    """Whether a directory has what makes a workspace.

    Args:
        directory: the directory.
        claude: whether `.claude/agents` counts.
    """
    return (
        is_file(directory / "packbelt.yaml")
        or is_file(directory / ".mcp.json")
        or (claude and is_folder(directory / ".claude" / "agents"))
        or (is_folder(directory / "packs") and is_folder(directory / "prompts" / "agents"))
    )


def find_workspace(start: Path | None = None) -> Path | None:
    """The nearest workspace upwards, or None.

    `.claude/agents` in the home directory holds a person's own agents for all projects, so it makes a
    workspace of the home directory only for those who ask from there.
    """
    here = (start or Path.cwd()).resolve()
    try:
        home = Path.home().resolve()
    except RuntimeError:  # no home directory at all
        home = None
    for directory in (here, *here.parents):
        if is_workspace(directory, claude=directory == here or directory != home):
            return directory
    return None


def embedded_root() -> Path:
    """Packbelt's own workspace: inside the wheel, or the repository in a source checkout.

    Raises:
        WorkspaceError: the installation has lost it.
    """
    for directory in (_PACKAGE / "_embedded", _PACKAGE.parent.parent):
        if (directory / "packs").is_dir() and (directory / "prompts").is_dir():
            return directory
    raise WorkspaceError("packbelt's own workspace is missing", mend="install packbelt again")


def explicit_root(path: str | Path) -> Path:
    """The workspace that a person named.

    Raises:
        WorkspaceError: it is no directory, or has nothing that makes a workspace.
    """
    directory = Path(path)
    if not is_folder(directory):
        raise WorkspaceError("is no directory", where=Where(str(path)), mend="name a workspace's directory")
    if not is_workspace(directory):
        raise WorkspaceError("is no workspace", where=Where(str(path)), mend=f"one has {_MARKS}")
    return directory.resolve()
