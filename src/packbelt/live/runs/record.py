"""`Run`: one agent at work on one request, as it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from packbelt.model import PackbeltError


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class RunStoreError(PackbeltError):
    """The place where runs are kept cannot be used."""


class UnknownRunError(PackbeltError):
    """No run has this id."""


class RunBusyError(PackbeltError):
    """The run is at work, here or in another process."""


class RunNotResumableError(PackbeltError):
    """The run cannot be continued; says why."""


@dataclass(frozen=True, slots=True)
class Run:
    """One agent at work on one request.

    Attributes:
        id: made of time and chance, so that ids sort by age.
        workspace: the workspace's directory.
        agent: who is at work.
        parent: the run that spawned it, or None for a root's.
        scope: the agent's scope as data: what the spawns above it cut.
        request: what it was last asked.
        status: where it stands.
        resumable: whether it can be continued.
        reason: why it cannot; or what it is doing that makes it so for now.
        spoiled: whether a call on its path ended unknown; it is then never resumable again.
        output: its last answer.
        messages: the conversation, in the host's own form (JSON).
        created: seconds since the epoch.
        changed: seconds since the epoch.
    """

    id: str
    workspace: str
    agent: str
    parent: str | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)
    request: str = ""
    status: RunStatus = RunStatus.RUNNING
    resumable: bool = True
    reason: str = ""
    spoiled: bool = False
    output: str = ""
    messages: Sequence[Any] = ()
    created: float = 0.0
    changed: float = 0.0
