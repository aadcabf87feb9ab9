"""Native tools that make shipped packs work: Agent Skills, and the registry of MCP servers.

::

    from packbelt import toolkits

    workspace = packbelt.load(root, tools=[
        *toolkits.skills(root, sources=[toolkits.git("acme", "https://github.com/acme/skills")]),
        *toolkits.shell(root),
    ])

Their names and arguments are those of the packs `skills`, `integrations` and `core`; a pack that defines them
keeps its own words. `shell` is given apart from the rest, since it is the one that runs what it is told.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packbelt.catalog.snapshot import Snapshot
from packbelt.live.runs.open import state_directory
from packbelt.toolkits.address import Source, archive, directory, git
from packbelt.toolkits.host import Changed
from packbelt.toolkits.limits import Limits, ToolkitError
from packbelt.toolkits.place import Place
from packbelt.toolkits.registry_api import RegistryApi
from packbelt.toolkits.server_file import ServerFile
from packbelt.toolkits.server_tools import ServerTools
from packbelt.toolkits.shelf import Shelf
from packbelt.toolkits.shell_tool import Shell
from packbelt.toolkits.skill_tools import SkillTools, named

__all__ = [
    "Limits",
    "Source",
    "ToolkitError",
    "archive",
    "directory",
    "git",
    "mcp_registry",
    "shell",
    "skills",
]


def skills(
    root: str | Path,
    *,
    sources: Sequence[Source] = (),
    folder: str = "skills",
    others: Sequence[str] = (".claude/skills",),
    cache: str | Path | None = None,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    max_age: float = 3600,
    env: Mapping[str, str] | None = None,
    local_addresses: bool = False,
    changed: Changed | None = None,
) -> list[Callable[..., Any]]:
    """The tools of the pack `skills`, apart from its hand-offs. None of them runs a skill.

    Args:
        root: the workspace.
        sources: what `git`, `directory` and `archive` give; searched and installed from.
        folder: where skills are installed, in the workspace.
        others: further folders of it that hold skills; what they have is read, and its names are taken.
        cache: where what was fetched is kept; default `skills` among what packbelt keeps for the user.
        limits: what a skill and its source may have at most.
        max_age: seconds after which a search fetches a source anew; an installation always does.
        env: variables for git beside its minimal environment, such as `HTTPS_PROXY`.
        local_addresses: whether a model may install from `http` and `file` addresses too: for tests, and
            hosts whose sources lie on their own machine.
        changed: awaited after each installation and removal; by default the fleet of the agent that called
            the tool reads its files again.

    Raises:
        WorkspaceError: two sources have one name.
    """
    kept = state_directory(os.environ) / "skills" if cache is None else Path(cache)
    place = Place(Path(root).absolute(), folder, tuple(others))
    shelf = Shelf(kept, limits, max_age, dict(env or {}))
    return SkillTools(place, named(sources), shelf, local_addresses, changed).tools()


def shell(
    root: str | Path, *, env: Mapping[str, str] | None = None, keep: int = 32 << 10
) -> list[Callable[..., Any]]:
    """The tool `shell`, by which a skill's scripts are run in its folder. It is no sandbox.

    Args:
        root: the working directory; a command's `cwd` lies in it.
        env: variables beside the minimal environment.
        keep: bytes kept of the beginning, and as many of the end, of standard output and of standard error.
    """
    return Shell(Path(root).absolute(), dict(env or {}), keep).tools()


def mcp_registry(
    root: str | Path,
    *,
    registry: str,
    snapshot: Callable[[], Snapshot] | None = None,
    changed: Changed | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[Callable[..., Any]]:
    """The tools of the pack `integrations`, apart from its hand-offs: find, install and call MCP servers.

    Connecting, disconnecting and calling act for the agent that calls, through its gate. A server that nobody
    vouches for yet, such as one just installed, is started only if `approve` says yes to its definition.

    Args:
        root: the workspace, in whose `.mcp.json` servers are installed.
        registry: address of a registry that speaks the MCP registry's API, version 0.1.
        snapshot: what is true now, such as `lambda: fleet.snapshot`; by default what is true for the agent
            that called the tool.
        changed: awaited after each change; by default the fleet of the agent that called the tool reads its
            files again.
        environ: where variables are looked for; the process's environment by default. Only whether one is set
            is ever said.
    """
    return ServerTools(
        ServerFile(Path(root).absolute()),
        RegistryApi(registry),
        os.environ if environ is None else environ,
        snapshot,
        changed,
    ).tools()
