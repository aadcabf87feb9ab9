"""Rows of the tables as data."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from packbelt.live.runs.record import Run, RunStatus


class Standing(NamedTuple):
    """What decides who may change a run; in the order of the statement `STANDING`."""

    owner: str | None
    status: str
    resumable: int
    reason: str
    changed: float


def to_run(row: Sequence[Any]) -> Run:
    """The run of a row in the order of the statements `GET` and `FIND`."""
    run, workspace, agent, parent, scope, request, status, resumable, reason, spoiled, output = row[:11]
    created, changed, messages = row[11:]
    return Run(
        id=run,
        workspace=workspace,
        agent=agent,
        parent=parent,
        scope=json.loads(scope),
        request=json.loads(request),
        status=RunStatus(status),
        resumable=bool(resumable),
        reason=reason,
        spoiled=bool(spoiled),
        output=json.loads(output),
        messages=json.loads(messages),
        created=created,
        changed=changed,
    )
