"""Mutations: breakages of a belt that a suite ought to notice, one at a time."""

from packbelt.evals.mutations.mutation import Mutation
from packbelt.evals.mutations.score import Mutant, Noticed, Score, score
from packbelt.evals.mutations.table import MUTATIONS, NULL, REPACK, mutation_named, mutations_of

__all__ = [
    "MUTATIONS",
    "NULL",
    "REPACK",
    "Mutant",
    "Mutation",
    "Noticed",
    "Score",
    "mutation_named",
    "mutations_of",
    "score",
]
