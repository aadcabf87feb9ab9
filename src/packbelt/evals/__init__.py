"""Does a request reach the right hand-off? Cases played turn by turn through the real engine.

suites = read_suites(workspace)
report = await run_suite(workspace, suites[0], model_named("bot:raw"))
report.within, report.outcomes
"""

from packbelt.evals.bound import Bound, bound
from packbelt.evals.cases import Case, Message, Suite, Wish
from packbelt.evals.costs import Costs, costs_of
from packbelt.evals.executors import Bench, Executor, Job, Local
from packbelt.evals.experiment import run_trials
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
    sampled,
)
from packbelt.evals.mutations import MUTATIONS, Noticed, Score, mutations_of, score
from packbelt.evals.outcomes import RESULTS, Result, Verdict, classify
from packbelt.evals.report import CaseReport, Rate, SuiteReport, again, read_report
from packbelt.evals.results import Header, Results, ResultsError, read_results
from packbelt.evals.run import run_case, run_suite
from packbelt.evals.trace import Ended, Expected, Fault, Made, Reply, Tokens, Trace, Usage
from packbelt.evals.trials import Condition, Played, Trial, grid, reports

__all__ = [
    "LAYOUTS",
    "MODELS",
    "MUTATIONS",
    "RESULTS",
    "Bench",
    "Bound",
    "Case",
    "CaseReport",
    "Condition",
    "Costs",
    "Ended",
    "Endpoint",
    "EndpointError",
    "Executor",
    "Expected",
    "Fault",
    "Header",
    "Job",
    "Local",
    "Made",
    "Message",
    "Model",
    "ModelError",
    "Noticed",
    "Played",
    "Rate",
    "Recorder",
    "Replay",
    "ReplayError",
    "Reply",
    "Result",
    "Results",
    "ResultsError",
    "Sampling",
    "Score",
    "Suite",
    "SuiteReport",
    "Tokens",
    "Trace",
    "Trial",
    "Usage",
    "Verdict",
    "Wish",
    "again",
    "bound",
    "choose",
    "classify",
    "costs_of",
    "grid",
    "model_named",
    "mutations_of",
    "read_report",
    "read_results",
    "read_suites",
    "reports",
    "run_case",
    "run_suite",
    "run_trials",
    "sampled",
    "score",
]
