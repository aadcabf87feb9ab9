"""`packbelt.open`: a fleet, made from what a host says."""

from collections.abc import Collection, Mapping
from pathlib import Path

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.live.asking import Approve, Asking, Elicit
from packbelt.live.fleet import Fleet, RunAgent
from packbelt.live.observe.events import EventLog, Sink
from packbelt.live.runs import RunStore
from packbelt.live.trust import Trust


def open(  # noqa: A001 - `packbelt.open`, never imported bare
    workspace: Workspace,
    *,
    run: RunAgent | None = None,
    approve: Approve | None = None,
    elicit: Elicit | None = None,
    trust: bool | Trust = False,
    snapshot: Snapshot | None = None,
    runs: str | Path | RunStore | None = None,
    events: EventLog | Sink | None = None,
    environ: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
) -> Fleet:
    """Open a fleet, for `async with`: its shared servers run for as long as it is open.

    Args:
        workspace: what may exist.
        run: your model loop, `async def run(agent, request) -> str`; without it hand-offs are unavailable.
        approve: asked before a call that a person must approve; without it such calls are rejected.
        elicit: answers servers' questions to a person; without it they are declined.
        trust: True is your word that this workspace's servers may be started; else the user's trust counts.
        snapshot: ceiling, denies, approvals, skills and disabled agents that are in force now.
        runs: where runs are kept: a file, `:memory:`, a database's URL; None for the user's state directory.
        events: where one line of JSON goes for each decision, call and outcome: a file's path, a stream, a
            function, or an `EventLog`.
        environ: where `${NAME}` and the children's environment come from; the process's by default.
        only: the servers to start, by name, an agent's own as `<agent>.<name>`; the others stay disconnected.
            All by default.

    Raises:
        EventLogError: the event log's file cannot be opened.
        TypeError: `events` is none of these.
    """
    return Fleet(
        workspace,
        run=run,
        asking=Asking(approve, elicit),
        trust=trust,
        snapshot=snapshot or Snapshot(),
        runs=runs,
        events=events,
        environ=environ,
        only=only,
    )
