"""What can be said about a workspace without running it: laws, lints, and what is within reach."""

from packbelt.checks.reach import Reach, Summary, reachability, summary
from packbelt.checks.run import CHECKS, Check, run
from packbelt.checks.workbench import Workbench

__all__ = ["CHECKS", "Check", "Reach", "Summary", "Workbench", "reachability", "run", "summary"]
