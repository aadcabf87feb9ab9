"""What a new run's record says: whose it is, the agent's scope as data; and back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any

from packbelt.belt import Scope
from packbelt.live.runs.record import Run, RunNotResumableError
from packbelt.model import PackbeltError, Permission


def new_run(
    root: Path, scope: Scope, *, run: str, parent: str | None, request: str, messages: Sequence[Any]
) -> Run:
    """The record of a run that begins now.

    Args:
        root: the workspace's directory.
        scope: who is at work, and on whose behalf.
        run: its id.
        parent: the run that spawned it, or None for a root's.
        request: what it is asked.
        messages: the conversation so far.
    """
    now = time()
    return Run(
        run,
        str(root),
        scope.agent,
        parent=parent,
        scope=scope_data(scope),
        request=request,
        messages=messages,
        created=now,
        changed=now,
    )


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


def scope_of(run: Run) -> Scope:
    """The scope of a kept run.

    Raises:
        RunNotResumableError: nobody can read what was kept.
    """
    try:
        return _scope(run.scope)
    except (KeyError, TypeError, ValueError, AttributeError, PackbeltError):
        raise RunNotResumableError(
            f"run {run.id!r} was kept in a form that this version cannot read",
            mend="start a new run",
            name=run.id,
        ) from None


def _scope(data: Mapping[str, Any]) -> Scope:
    servers, tools, ceiling, parent = (data.get(k) for k in ("mcp_servers", "tools", "ceiling", "parent"))
    return Scope(
        data["agent"],
        None if parent is None else _scope(parent),
        None if servers is None else tuple(servers),
        None if tools is None else tuple(tools),
        tuple(data.get("deny", ())),
        tuple(data.get("approve", ())),
        None if ceiling is None else Permission.parse(ceiling),
    )
