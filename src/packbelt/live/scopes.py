"""A scope as data, for a run's record, and back."""

from collections.abc import Mapping
from typing import Any

from packbelt.belt import Scope
from packbelt.model import Permission


def scope_data(scope: Scope) -> dict[str, Any]:
    """A scope as JSON, the scopes that spawned it inside."""
    data: dict[str, Any] = {"agent": scope.agent}
    if scope.mcp_servers is not None:
        data["mcp_servers"] = list(scope.mcp_servers)
    if scope.tools is not None:
        data["tools"] = list(scope.tools)
    if scope.deny:
        data["deny"] = list(scope.deny)
    if scope.approve:
        data["approve"] = list(scope.approve)
    if scope.ceiling is not None:
        data["ceiling"] = str(scope.ceiling)
    if scope.parent is not None:
        data["parent"] = scope_data(scope.parent)
    return data


def scope_of(data: Mapping[str, Any]) -> Scope:
    """The scope that `scope_data` wrote down.

    Raises:
        KeyError, TypeError: it did not write this.
    """
    servers, tools, ceiling, parent = (data.get(k) for k in ("mcp_servers", "tools", "ceiling", "parent"))
    return Scope(
        data["agent"],
        None if parent is None else scope_of(parent),
        None if servers is None else tuple(servers),
        None if tools is None else tuple(tools),
        tuple(data.get("deny", ())),
        tuple(data.get("approve", ())),
        None if ceiling is None else Permission.parse(ceiling),
    )
