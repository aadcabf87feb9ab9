"""`packbelt explain` for people: the verdict, every rule in the order it is asked, and the routes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packbelt.belt import Belt, BeltTool
from packbelt.belt.entitlement import granted_by
from packbelt.belt.placement import Placement
from packbelt.belt.rules import TABLE, reasons_of
from packbelt.cli.mends import mend_of
from packbelt.cli.output import STATE_STYLE, Column, Span, Table, draw, say, title
from packbelt.cli.words import call_words
from packbelt.model import Reason, Route, State

_VERDICTS = {
    State.DIRECT: "its schema is sent, and it is called by its name",
    State.PACKED: "it is put away, and called through the opener or by its name",
    State.DEFERRED: "it is put away, found by search and called by its name",
    State.RESERVED: "it is kept for others, who are asked by a hand-off",
    State.OVER_CEILING: "it needs more than this agent may",
    State.UNAVAILABLE: "it cannot be called now",
    State.OFF_BELT: "this agent was not granted it",
    State.DENIED: "it may not be called",
}
_QUESTIONS = {
    State.DENIED: ("is it denied?", "no deny matches"),
    State.OFF_BELT: ("is it granted?", "it is granted"),
    State.UNAVAILABLE: ("is it there now?", "it is there"),
    State.OVER_CEILING: ("is it under the ceiling?", "it is under the ceiling"),
    State.RESERVED: ("is it kept for others?", "nobody keeps it"),
}
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


def steps(belt: Belt, entry: BeltTool) -> list[Step]:
    """Every question in order: what each says of this tool, those after the settling one included."""
    i = belt.registry.locate(entry.tool.id)
    decision = entry.decision
    if i is None:  # the opener and the search: they follow from the others and are asked nothing
        return [Step("how is it presented?", decision.state, settles=True, reasons=decision.reasons)]
    ask = (belt.subject, Placement(belt.subject))
    found = []
    for state, _ in TABLE:
        if state in _PLACEMENT:
            continue
        question, passed = _QUESTIONS[state]
        reasons = reasons_of(ask, belt.fold, state, i)
        if reasons:
            found.append(
                Step(question, state, state is decision.state, reasons, mend=mend_of(belt, i, reasons))
            )
        else:
            found.append(_passed(belt, i, state, question, passed))
    if decision.state in _PLACEMENT:
        found.append(Step("how is it presented?", decision.state, settles=True, reasons=decision.reasons))
    return found


def _passed(belt: Belt, i: int, state: State, question: str, words: str) -> Step:
    """A question that does not hold the tool up, and why not where that is not plain."""
    because = ""
    if state is State.OFF_BELT:
        grant = granted_by(belt, i)
        words, because = grant.detail, _rule(grant)
    elif state is State.OVER_CEILING:
        ceiling = belt.subject.ceiling_reason
        because = f"{ceiling.detail}, {ceiling.where}" if ceiling.where else ceiling.detail
        words = f"needs {belt.registry.permission(i)}, under the ceiling {belt.subject.ceiling}"
    elif state is State.UNAVAILABLE and (server := belt.registry.tools[i].id.server):
        words = f"server {server!r} is connected"
    return Step(question, None, settles=False, reasons=(), passed=words, because=because)


def show(belt: Belt, entry: BeltTool) -> None:
    """The explanation of one tool."""
    _verdict(belt, entry)
    _rules(belt, entry)
    decision = entry.decision
    if decision.routes:
        title("Routes")
        for place, route in enumerate(decision.routes, 1):
            say(f"  {place}. ", (call_words(route.call, route.arguments), "away"))
            say((f"     {_way(belt, entry, route)}", "dim"))
    elif decision.cuts:
        title("No route: every way in is cut")
        draw(_reasons_table(decision.cuts))
    elif not decision.state.callable:
        title("No route")
        say(("  nothing that this agent can call leads to it", "dim"))


def _verdict(belt: Belt, entry: BeltTool) -> None:
    tool, state = entry.tool, entry.state
    verdict = f" for {belt.agent}: {_VERDICTS[state]}"
    say((tool.wire_name, "title"), " is ", (str(state), STATE_STYLE[state]), verdict)
    facts = [str(tool.id) if tool.target is None else f"{tool.id} → {tool.target}"]
    if entry.pack:
        facts.append(f"pack {entry.pack}")
    facts.append(f"needs {entry.permission}")
    if entry.approve:
        facts.append("a person approves each call")
    if tool.where:
        facts.append(str(tool.where))
    say((f"  {', '.join(facts)}", "dim"))


def _rules(belt: Belt, entry: BeltTool) -> None:
    title("Rules, in the order they are asked")
    table = Table((Column(), Column(), Column(wraps=True)))
    settled = False
    for place, step in enumerate(steps(belt, entry), 1):
        for line, (answer, detail) in enumerate(_step_rows(step, settled=settled)):
            table.add(f"{place}. {step.question}" if line == 0 else "", answer, detail)
        settled = settled or step.settles
    draw(table)


def _step_rows(step: Step, *, settled: bool) -> Iterable[tuple[Span, Span]]:
    """Answer and detail; each reason's rule and place on a line of their own."""
    if step.answer is None:
        yield ("passed", "dim"), (step.passed, "dim")
        if step.because:
            yield "", (step.because, "dim")
        return
    answer: Span = (f"also {step.answer}", "dim") if settled else (str(step.answer), STATE_STYLE[step.answer])
    for line, reason in enumerate(step.reasons):
        yield answer if line == 0 else "", reason.detail
        yield "", (_rule(reason), "dim")
    if step.mend:
        yield "", step.mend


def _rule(reason: Reason) -> str:
    return f"rule {reason.rule}, {reason.where}" if reason.where else f"rule {reason.rule}"


def _reasons_table(reasons: Sequence[Reason]) -> Table:
    table = Table((Column(wraps=True),))
    for reason in reasons:
        table.add(reason.detail)
        table.add((f"  {_rule(reason)}", "dim"))
    return table


def _way(belt: Belt, entry: BeltTool, route: Route) -> str:
    match route.via:
        case "direct":
            return "by its name"
        case "opener":
            return f"through the opener; without `tool` it lists pack {entry.pack}"
        case "search":
            return "by search, which shows its schema"
        case "handoff":
            chain = " hands on to ".join(route.agents)
            opened = route.call == belt.registry.workspace.config.opener
            return f"{'opens the hand-off to' if opened else 'hands to'} {chain}, who can call it"


__all__ = ["Step", "show", "steps"]
