"""Models on this machine: llama.cpp in this process, with names forced to the belt (`packbelt[local]`)."""

from packbelt.evals.models.local.local import Local
from packbelt.evals.models.local.weights import WEIGHTS, Weights, WeightsError, fetch, found

__all__ = ["WEIGHTS", "Local", "Weights", "WeightsError", "fetch", "found"]
