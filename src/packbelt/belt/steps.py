"""A decision retold: every question of the table, asked of one tool in order, with what each answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from packbelt.belt.belt import Belt, BeltTool
from packbelt.belt.entitlement import granted_by
from packbelt.belt.mends import Spelling, mend_of, selector_of
from packbelt.belt.placement import Placement
from packbelt.belt.rules import TABLE, reasons_of
from packbelt.model import Reason, State

VERDICTS = {
    State.DIRECT: "its schema is sent, and it is called by its name",
    State.PACKED: "it is put away, and called through the opener or by its name",
    State.DEFERRED: "it is put away, found by search and called by its name",
    State.RESERVED: "it is kept for others, who are asked by a hand-off",
    State.OVER_CEILING: "it needs more than this agent may",
    State.UNAVAILABLE: "it cannot be called now",
    State.OFF_BELT: "this agent was not granted it",
    State.DENIED: "it may not be called",
}
"""What each state means for an agent, in a few words."""
_QUESTIONS = {
    State.DENIED: ("is it denied?", "no deny matches"),
    State.OFF_BELT: ("is it granted?", "it is granted"),
    State.UNAVAILABLE: ("is it there now?", "it is there"),
    State.OVER_CEILING: ("is it under the ceiling?", "it is under the ceiling"),
    State.RESERVED: ("is it kept for others?", "nobody keeps it"),
}
_PLACED = "how is it presented?"
_PLACEMENT = frozenset({State.DIRECT, State.DEFERRED, State.PACKED})


@dataclass(frozen=True, slots=True)
class Step:
    """One question of the table, asked of one tool.

    Attributes:
        question: what is asked.
        answer: the state it leads to, or None where the tool passed.
        settles: whether this is the answer that counts; later ones only say what else stands in the way.
        reasons: the rules that answered.
        passed: the words for a tool that passed.
        because: what it passed by, and where that was written; empty where there is no more to say.
        mend: what would change the answer; empty where nothing is known.
    """

    question: str
    answer: State | None
    settles: bool
    reasons: Sequence[Reason]
    passed: str = ""
    because: str = ""
    mend: str = ""


def steps(belt: Belt, entry: BeltTool, spelling: Spelling = selector_of) -> list[Step]:
    """Every question in order: what each says of this tool, those after the settling one included.

    Args:
        belt: the belt.
        entry: the tool on it.
        spelling: how a mend writes the entry that would grant the tool.
    """
    i = belt.registry.locate(entry.tool.id)
    if i is None:  # the opener and the search: they follow from the others and are asked nothing
        return [Step(_PLACED, entry.state, settles=True, reasons=entry.decision.reasons)]
    ask = (belt.subject, Placement(belt.subject))
    settled = entry.state
    found = []
    for state, _ in TABLE:
        if state in _PLACEMENT:
            continue
        question, passed = _QUESTIONS[state]
        reasons = reasons_of(ask, belt.fold, state, i)
        if reasons:
            mend = mend_of(belt, i, reasons, spelling)
            found.append(Step(question, state, state is settled, reasons, mend=mend))
        else:
            found.append(_passed(belt, i, state, question, passed))
    if settled in _PLACEMENT:
        found.append(Step(_PLACED, settled, settles=True, reasons=belt.reasons(i)))
    return found


def _passed(belt: Belt, i: int, state: State, question: str, words: str) -> Step:
    """A question that does not hold the tool up, and why not where that is not plain."""
    because = ""
    if state is State.OFF_BELT:
        grant = granted_by(belt, i)
        words, because = grant.detail, rule_words(grant)
    elif state is State.OVER_CEILING:
        ceiling = belt.subject.ceiling_reason
        because = f"{ceiling.detail}, {ceiling.where}" if ceiling.where else ceiling.detail
        words = f"needs {belt.registry.permission(i)}, under the ceiling {belt.subject.ceiling}"
    elif state is State.UNAVAILABLE and (server := belt.registry.tools[i].id.server):
        words = f"server {server!r} is connected"
    return Step(question, None, settles=False, reasons=(), passed=words, because=because)


def rule_words(reason: Reason) -> str:
    """The rule of a reason, and where that was written."""
    return f"rule {reason.rule}, {reason.where}" if reason.where else f"rule {reason.rule}"
