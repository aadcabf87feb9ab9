"""Does a request reach the right hand-off? Cases played turn by turn through the real engine.

suites = read_suites(workspace)
report = await run_suite(workspace, suites[0], model_named("bot:raw"))
report.within, report.outcomes
"""

from packbelt.evals.bound import Bound, bound
from packbelt.evals.cases import Case, Message, Suite, Wish
from packbelt.evals.files import choose, read_suites
from packbelt.evals.layouts import LAYOUTS
from packbelt.evals.models import (
    MODELS,
    Endpoint,
    EndpointError,
    Model,
    ModelError,
    Recorder,
    Replay,
    ReplayError,
    Sampling,
    model_named,
)
from packbelt.evals.outcomes import RESULTS, Result, Verdict, classify
from packbelt.evals.report import CaseReport, Rate, SuiteReport, again, read_report
from packbelt.evals.run import run_case, run_suite
from packbelt.evals.trace import Ended, Expected, Fault, Made, Reply, Trace, Usage

__all__ = [
    "LAYOUTS",
    "MODELS",
    "RESULTS",
    "Bound",
    "Case",
    "CaseReport",
    "Ended",
    "Endpoint",
    "EndpointError",
    "Expected",
    "Fault",
    "Made",
    "Message",
    "Model",
    "ModelError",
    "Rate",
    "Recorder",
    "Replay",
    "ReplayError",
    "Reply",
    "Result",
    "Sampling",
    "Suite",
    "SuiteReport",
    "Trace",
    "Usage",
    "Verdict",
    "Wish",
    "again",
    "bound",
    "choose",
    "classify",
    "model_named",
    "read_report",
    "read_suites",
    "run_case",
    "run_suite",
]
