"""`packbelt explain` for people: the verdict, every rule in the order it is asked, and the routes."""

from collections.abc import Iterable, Sequence

from packbelt.belt import Belt, BeltTool
from packbelt.belt.steps import VERDICTS, Step, rule_words, steps
from packbelt.cli.output import STATE_STYLE, Column, Span, Table, draw, say, title
from packbelt.cli.words import call_words
from packbelt.model import Reason, Route


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
    verdict = f" for {belt.agent}: {VERDICTS[state]}"
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
        yield "", (rule_words(reason), "dim")
    if step.mend:
        yield "", step.mend


def _reasons_table(reasons: Sequence[Reason]) -> Table:
    table = Table((Column(wraps=True),))
    for reason in reasons:
        table.add(reason.detail)
        table.add((f"  {rule_words(reason)}", "dim"))
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
