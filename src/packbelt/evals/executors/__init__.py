"""Where trials are played: in this process, or wherever an executor sends them."""

from packbelt.evals.executors.executor import Executor
from packbelt.evals.executors.local import Local
from packbelt.evals.executors.work import Bench, Job

__all__ = ["Bench", "Executor", "Job", "Local"]
