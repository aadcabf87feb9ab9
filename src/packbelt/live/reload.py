"""What a workspace that was loaded anew changes for the servers that run."""

from packbelt.catalog.workspace import ServerSpec, Workspace


def changed_servers(before: Workspace, after: Workspace) -> tuple[list[str], list[ServerSpec]]:
    """The shared servers that must end, and those that must start; all of a definition counts."""
    ending = [name for name, spec in before.servers.items() if after.servers.get(name) != spec]
    starting = [spec for name, spec in after.servers.items() if before.servers.get(name) != spec]
    return ending, starting
