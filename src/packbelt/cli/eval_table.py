"""`packbelt eval` for people: a row for each condition, or for each mutation."""

from packbelt.cli.eval_text import words_of
from packbelt.cli.output import Column, Table, draw, number, say, several, title
from packbelt.evals import MUTATIONS, Condition, Noticed, Score
from packbelt.evals.costs import READ
from packbelt.evals.judge.assessment import Assessment
from packbelt.evals.mutations import NULL

_USUAL = Condition()


def show_conditions(found: tuple[Assessment, ...], *, first: bool) -> None:
    """A row for each condition."""
    title("conditions", first=first)
    mutated = any(one.condition.mutation for one in found)
    table = Table(
        (
            Column("model"),
            Column("layout"),
            *((Column("mutation"),) if mutated else ()),
            Column("plays", align="right"),
            Column("passed", align="right"),
            Column("belt", align="right"),
            Column("case", align="right"),
            Column("cached", align="right"),
            Column("outcomes", wraps=True),
        )
    )
    for one in found:
        costs = one.costs
        table.add(
            one.condition.model,
            one.condition.layout,
            *((one.condition.mutation or "",) if mutated else ()),
            number(one.plays),
            (number(one.passed), "bad" if one.failed or one.errors else "good"),
            *(map(_tokens, (costs.belt, costs.case, costs.cached)) if costs else ("", "", "")),
            ", ".join(f"{result} {count}" for result, count in one.outcomes.items()),
        )
    draw(table)
    say("  belt: tokens of tools and sections in a request; case: of all requests and replies of a case;")
    say(f"  cached: of a case, what the provider has read before at {READ} of the price")


def show_tokens(one: Assessment) -> None:
    """What the cases of the only condition cost."""
    costs = one.costs
    if costs is not None:
        say("")
        say(
            f"tokens: {_tokens(costs.belt)} for tools and sections of a request, {_tokens(costs.case)} for a "
            f"case, {_tokens(costs.cached)} with what was read before at {READ} of the price"
        )


def show_score(score: Score, *, first: bool) -> None:
    """A row for each mutation."""
    title("mutations", first=first)
    table = Table((Column("mutation"), Column("result"), Column("noticed by", wraps=True)))
    green = not score.failing
    table.add(NULL, ("green", "good") if green else ("red", "bad"), ", ".join(map(_who, score.failing)))
    for one in score.mutants:
        result = ("killed", "good") if one.killed else ("survived", "bad")
        table.add(one.name, result, ", ".join(map(_who, one.by)))
    draw(table)
    say(f"  {score.killed} of {several(len(score.mutants), 'mutation')} noticed")
    if score.errors:
        say("  ", (f"{several(score.errors, 'play')} not judged: the eval itself failed", "odd"))
    if not green:
        say("  the null mutation breaks nothing: what fails under it fails by itself, and notices nothing")
    for one in score.mutants:
        if not one.killed and one.name in MUTATIONS:
            say("  ", (one.name, "bad"), f" was not noticed: {MUTATIONS[one.name].about}")


def _who(one: Noticed) -> str:
    """The cases, and under what where that is not the usual."""
    model, layout = one.condition.model, one.condition.layout
    usual = (model, layout) == (_USUAL.model, _USUAL.layout)
    return ", ".join(one.cases) + ("" if usual else f" ({words_of(Condition(model, layout))})")


def _tokens(value: float) -> str:
    return number(round(value))
