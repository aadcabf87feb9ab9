"""What the plays of cases say: rates, comparisons, regressions, and the files that carry them elsewhere.

for one in assess(played):
    one.within.rate, one.within.interval
for comparison in contrasts(played):
    [(pairing.finding, pairing.contrast.lost) for pairing in comparison.pairings]
"""

from packbelt.evals.judge.assessment import Assessment, assess
from packbelt.evals.judge.baseline import Baseline, BaselineError, baseline_of, read_baseline
from packbelt.evals.judge.cells import NoCasesError
from packbelt.evals.judge.compare import Comparison, Side, compare, contrasts
from packbelt.evals.judge.confusion import Confusion, HandOffs, confusion, hand_offs
from packbelt.evals.judge.coverage import Coverage, coverage
from packbelt.evals.judge.gate import RULES, Failed, Rule, failed, rules
from packbelt.evals.judge.intervals import Estimate, Interval, Paired, estimate, newcombe, wilson
from packbelt.evals.judge.junit import junit
from packbelt.evals.judge.many import holm
from packbelt.evals.judge.paired import Contrast, Finding, contrast, mcnemar, pairs_needed
from packbelt.evals.judge.regression import Regressions, regressions

__all__ = [
    "RULES",
    "Assessment",
    "Baseline",
    "BaselineError",
    "Comparison",
    "Confusion",
    "Contrast",
    "Coverage",
    "Estimate",
    "Failed",
    "Finding",
    "HandOffs",
    "Interval",
    "NoCasesError",
    "Paired",
    "Regressions",
    "Rule",
    "Side",
    "assess",
    "baseline_of",
    "compare",
    "confusion",
    "contrast",
    "contrasts",
    "coverage",
    "estimate",
    "failed",
    "hand_offs",
    "holm",
    "junit",
    "mcnemar",
    "newcombe",
    "pairs_needed",
    "read_baseline",
    "regressions",
    "rules",
    "wilson",
]
