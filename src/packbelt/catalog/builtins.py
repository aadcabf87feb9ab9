"""A workspace to which a target's own tools are known: what a belt is decided on that is compiled for it."""

from collections.abc import Iterable
from dataclasses import replace

from packbelt.catalog.forms import native_tool
from packbelt.catalog.workspace import Workspace
from packbelt.model import BUILTIN, Permission, Tool


def builtin_tool(name: str, description: str, permission: Permission) -> Tool:
    """A tool that a target runs itself; its schema is the target's own business."""
    return native_tool(BUILTIN, name, description, {}, permission=permission)


def namesakes(workspace: Workspace, builtins: Iterable[Tool]) -> list[tuple[Tool, Tool]]:
    """Builtins whose name a native tool or hand-off of the workspace has, each beside it."""
    own = {tool.name: tool for tool in workspace.tools}
    return [(tool, own[tool.name]) for tool in builtins if tool.name in own]


def with_builtins(workspace: Workspace, builtins: Iterable[Tool]) -> Workspace:
    """The workspace with a target's own tools beside its own.

    They are selected, denied and held under ceilings by plain name, like native tools, and are in no pack.

    Args:
        workspace: what may exist.
        builtins: the target's tools, none of them a namesake of the workspace's.
    """
    tools = sorted((*workspace.tools, *builtins), key=lambda tool: tool.wire_name)
    return replace(workspace, tools=tuple(tools))
