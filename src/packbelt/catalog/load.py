"""`load`: files into one immutable, cross-checked `Workspace`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from packbelt.catalog.discover import embedded_root, explicit_root, find_workspace
from packbelt.catalog.workspace import Workspace
from packbelt.model import Tool


def load(path: str | Path | None = None, *, tools: Sequence[Callable[..., Any] | Tool] = ()) -> Workspace:
    """Read a workspace.

    Args:
        path: the directory; by default the nearest one upwards from here that is a workspace, else
            packbelt's own.
        tools: the host's native tools: callables with type hints, or tools. One that a pack names joins
            it; a callable that a pack defines in full becomes its handler.

    Returns:
        The workspace. Agents, skills and servers that did not load are left out of it and stand in its
        `diagnostics`.

    Raises:
        WorkspaceError: the directory is no workspace, `packbelt.yaml`, a pack or the lock cannot be used,
            two things have one name, or a deny matches nothing.
    """
    from packbelt.catalog.assemble import assemble  # noqa: PLC0415 - pydantic and yaml only when files are read

    embedded = embedded_root()
    root = (find_workspace() or embedded) if path is None else explicit_root(path)
    return assemble(root, embedded, tools)
