"""Codex's `config.toml`: `[mcp_servers.<name>]`."""

from collections.abc import Iterator, Mapping
from typing import Any

from packbelt.catalog.problems import kind_of
from packbelt.catalog.yaml import Document
from packbelt.importers.clients import usual
from packbelt.importers.report import Outcome
from packbelt.importers.servers import Found
from packbelt.importers.sources import Source
from packbelt.model import WorkspaceError

_KEY = "mcp_servers"


def codex(document: Document, source: Source) -> Iterator[Found]:
    """The servers of a `config.toml`. Nothing in it is a placeholder; variables are named under own keys.

    Raises:
        WorkspaceError: `mcp_servers` is no table.
    """
    servers = document.data.get(_KEY, {})
    if not isinstance(servers, dict):
        raise WorkspaceError(
            f"`{_KEY}` is {kind_of(servers)}, not a table",
            where=document.where(_KEY),
            mend=f"write [{_KEY}.name]",
        )
    for name, raw in servers.items():
        found = Found(name, raw, document, (_KEY, name), source, "none")
        if isinstance(raw, Mapping):
            entry = dict(raw)
            _variables(found, entry)
            _approvals(found, entry)
            found.raw = entry
        yield usual(found)


def _variables(found: Found, entry: dict[str, Any]) -> None:
    """Keys that name variables, as references. They are added after the literals are made inert."""
    references = found.references
    env_vars = entry.pop("env_vars", [])
    for one in env_vars if isinstance(env_vars, list) else []:
        name = one.get("name") if isinstance(one, Mapping) else one
        if isinstance(name, str):
            references.setdefault("env", {})[name] = name
    if "http_headers" in entry:
        entry["headers"] = entry.pop("http_headers")
    headers = entry.pop("env_http_headers", {})
    for header, name in headers.items() if isinstance(headers, Mapping) else ():
        if isinstance(name, str):
            references.setdefault("headers", {})[header] = name
    token = entry.pop("bearer_token_env_var", None)
    if isinstance(token, str):
        references.setdefault("bearer", {})["Authorization"] = token
    if "bearer_token" in entry:
        entry.pop("bearer_token")
        mend = "name a variable in `bearer_token_env_var`"
        found.note(
            Outcome.APPROXIMATED, "has its token in clear, which is not copied", "bearer_token", mend=mend
        )


def _approvals(found: Found, entry: dict[str, Any]) -> None:
    mode = entry.pop("default_tools_approval_mode", None)
    if mode is not None:
        found.ask = mode != "approve"
    tools = entry.get("tools")
    if not isinstance(tools, Mapping):
        return
    entry.pop("tools")
    for name, policy in tools.items():
        how = policy.get("approval_mode") if isinstance(policy, Mapping) else None
        if how == "approve":
            found.exempt.append(name)
        elif how is not None:
            found.asked.append(name)
