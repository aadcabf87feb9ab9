"""Which test proves what a descriptor claims. A claim without a proof may not be made; test_proofs.py checks."""

from collections import defaultdict

from packbelt.providers import TARGETS, Axis

PROOFS = defaultdict(set)
"""Names of tests by (target, axis)."""


def proves(targets, *axes):
    """Mark a test as the proof of what some targets' descriptors say about some axes.

    `targets` is a name or names of `packbelt.providers.TARGETS`; an axis may be given by its value.
    """
    named = [targets] if isinstance(targets, str) else list(targets)
    strangers = set(named) - set(TARGETS)
    if strangers:
        raise ValueError(f"no targets: {sorted(strangers)}")

    def mark(test):
        for target in named:
            for axis in axes:
                PROOFS[target, Axis(axis)].add(f"{test.__module__}.{test.__qualname__}")
        return test

    return mark
