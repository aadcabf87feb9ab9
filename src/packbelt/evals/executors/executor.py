"""What an executor is: it plays trials, and hands each over when it is over."""

from collections.abc import Generator, Sequence
from typing import Protocol

from packbelt.evals.executors.work import Job
from packbelt.evals.trials import Played, Trial


class Executor(Protocol):
    """Plays trials somewhere."""

    def run(self, job: Job, trials: Sequence[Trial]) -> Generator[Played, None, None]:
        """Play trials; each comes when it is over, in whatever order.

        What is under way when the generator is closed is ended before that returns.

        Args:
            job: what they are trials of.
            trials: those that are left to play.

        Raises:
            PackbeltError: the job, or a model or mutation that a trial names, cannot be used; nothing was
                played then.
        """
