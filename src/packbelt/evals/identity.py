"""Digests that say whether two runs played the same: the same cases, in the same workspace."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import Bound
from packbelt.model import Selector, Tool
from packbelt.model.encode import digest

_PARTS = ("config", "packs", "agents", "broken", "skills", "tools", "templates", "lock")
"""What of a workspace decides a belt or a prompt. Servers are not started here: the snapshot has theirs."""
_PLACES = frozenset({"where", "wheres", "file", "origin", "lines", "path", "root", "problem"})
"""Where something stands decides nothing."""


def workspace_digest(workspace: Workspace) -> str:
    """`sha256:` of what decides the workspace's belts and prompts, wherever its files lie."""
    return digest({part: _plain(getattr(workspace, part)) for part in _PARTS})


def cases_digest(cases: Mapping[tuple[str, str], Bound]) -> str:
    """`sha256:` of the cases as they are played: request, snapshot, answers, wishes, expectation."""
    return digest([[*key, _plain(one)] for key, one in cases.items()])


def _plain(value: object) -> Any:
    """A value as JSON, by its content alone."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Snapshot):
        return value.to_data()
    if isinstance(value, Selector):
        return value.text
    if isinstance(value, Tool):
        return [str(value.id), value.target, value.line]
    if is_dataclass(value):
        names = (one.name for one in fields(value) if not one.name.startswith("_"))
        return {name: _plain(getattr(value, name)) for name in names if name not in _PLACES}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    if isinstance(value, Iterable):
        return [_plain(one) for one in value]
    return str(value)
