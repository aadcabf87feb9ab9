"""Plays as a test writes them down: what was expected, and what the model called."""

from packbelt.evals import CaseReport, Ended, Expected, Fault, Made, Reply, Trace, classify
from packbelt.evals.trials import Condition, Played, Trial
from packbelt.model import Outcome

NAMES = {"a": "handoff:to_a", "b": "handoff:to_b", "c": "handoff:to_c"}


def call(name, refused=None, outcome=Outcome.OK, *, tool="", arguments=None, answer="Done."):
    """A call of a hand-off `a`, `b` or `c`, or of any identity."""
    identity = NAMES.get(name, name)
    target = f"agent_{name}" if identity.startswith("handoff:") else None
    return Made(
        name=name,
        arguments=arguments or {},
        tool=tool if tool != "" else identity,
        target=target,
        owners=(),
        web=False,
        refused=refused,
        outcome=outcome,
        answer=answer,
    )


def report(
    case="one", expect=("a",), calls=("a",), *, tags=(), agent="root", fault=None, forbid=(), text="Done."
):
    """A case's report, its outcome worked out from the calls: one reply each, and then a text."""
    steps = tuple(
        tuple(NAMES.get(name, name) for name in ([step] if isinstance(step, str) else step))
        for step in expect
    )
    targets = tuple(f"agent_{step[0][-1]}" for step in steps if step[0] in NAMES.values())
    expected = Expected(steps, targets, tuple(NAMES.get(name, name) for name in forbid))
    made = [one if isinstance(one, Made) else call(one) for one in calls]
    replies = (*(Reply(("to_a",), "", (one,)) for one in made), Reply(("to_a",), text))
    ended = None if fault else Ended.ANSWERED
    trace = Trace(replies, ended, fault, "It broke." if fault else "")
    return CaseReport(case, agent, f"Do {case}.", tuple(tags), expected, classify(expected, trace), trace)


def play(one, *, suite="s", condition=None, repeat=0, seconds=0.5):
    return Played(Trial(suite, one.id, condition or Condition(), repeat), one, seconds)


GOOD, BAD = ("a",), ("b",)
HARNESS = Fault.HARNESS


def outcomes(text, condition=None, **more):
    """A play for each letter, each of its own case: `+` passed, `-` failed, `e` an error of the harness."""
    return [
        play(letter_report(f"case{n}", letter, **more), condition=condition) for n, letter in enumerate(text)
    ]


def repeated(rows, condition=None):
    """A case for each string, a play for each of its letters."""
    return [
        play(letter_report(f"case{n}", letter), condition=condition, repeat=repeat)
        for n, row in enumerate(rows)
        for repeat, letter in enumerate(row)
    ]


def letter_report(case, letter, **more):
    if letter == "e":
        return report(case, calls=(), fault=HARNESS, **more)
    return report(case, calls=GOOD if letter == "+" else BAD, **more)
