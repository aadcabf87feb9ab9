"""The servers that a workspace configures for all its agents, by name."""

from packbelt.catalog.near import suggestion
from packbelt.catalog.workspace import ServerSpec, Workspace
from packbelt.model import PackbeltError


class UnknownServerError(PackbeltError):
    """No such server is configured."""


def configured(workspace: Workspace, server: str) -> ServerSpec:
    """The definition of a shared server.

    Raises:
        UnknownServerError: there is none of that name.
    """
    spec = workspace.servers.get(server)
    if spec is None:
        mend = suggestion(server, workspace.servers, otherwise="add it to .mcp.json, and reload")
        raise UnknownServerError(f"no server {server!r} is configured for all", mend=mend, name=server)
    return spec
