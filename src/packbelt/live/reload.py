"""What a workspace that was loaded anew changes for the servers that run."""

from dataclasses import replace

from packbelt.catalog.workspace import ServerSpec, Workspace


def changed_servers(before: Workspace, after: Workspace) -> tuple[list[str], list[ServerSpec]]:
    """The shared servers that must end, and those that must start; the line of an entry does not count."""
    was, now = _placeless(before), _placeless(after)
    ending = [name for name, spec in was.items() if now.get(name) != spec]
    starting = [after.servers[name] for name, spec in now.items() if was.get(name) != spec]
    return ending, starting


def _placeless(workspace: Workspace) -> dict[str, ServerSpec]:
    """Its shared servers; an entry that another one moved down the file is the same."""
    return {name: replace(spec, where=None) for name, spec in workspace.servers.items()}
