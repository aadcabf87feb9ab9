"""Runs: what each agent is at work on, kept so that another process finds it as it really stands."""

from packbelt.live.runs.ids import new_run_id
from packbelt.live.runs.open import open_runs
from packbelt.live.runs.record import (
    Run,
    RunBusyError,
    RunNotResumableError,
    RunStatus,
    RunStoreError,
    UnknownRunError,
)
from packbelt.live.runs.store import RunStore

__all__ = [
    "Run",
    "RunBusyError",
    "RunNotResumableError",
    "RunStatus",
    "RunStore",
    "RunStoreError",
    "UnknownRunError",
    "new_run_id",
    "open_runs",
]
