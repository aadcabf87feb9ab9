"""`packbelt report` without a page, for people: the workspace in a few lines, and how to see more."""

from collections import Counter

from packbelt.checks.reported import Report
from packbelt.cli.output import STATE_STYLE, Column, Table, draw, number, say, several, title
from packbelt.cli.words import short_path
from packbelt.model import Level, State


def show_report(found: Report, given: str = "") -> None:
    """Agents, tools, states, tokens, hand-offs and findings in numbers.

    Args:
        found: the report.
        given: the options that named workspace and snapshot, for the next commands.
    """
    where = "packbelt's own workspace" if found.embedded else f"workspace {short_path(found.root)}"
    now = f"snapshot {found.snapshot}" if found.snapshot else "no snapshot"
    families = [one for one in found.families if one.kind != "none"]
    servers = sum(one.kind == "server" for one in families)
    counts = (
        several(len(found.agents), "agent"),
        several(len(families) - servers, "pack"),
        several(servers, "server"),
        several(len(found.tools), "tool"),
    )
    say((", ".join(counts), "title"), (f"  {where}, {now}", "dim"))
    _states(found)
    _tokens(found)
    say("")
    ready = sum(link.state.callable for link in found.links)
    say(f"{several(ready, 'hand-off')} that can be called, of {number(len(found.links))} that are granted")
    levels = Counter(one.level for one in found.findings)
    say("findings: ", ", ".join(several(levels[level], level) for level in Level))
    title("Next")
    table = Table((Column(), Column()))
    again = f"packbelt report {given}".rstrip()
    table.add(f"{again} --html report.html", ("all of it on one page, with the reasons", "dim"))
    table.add(f"{again} --json", ("the same for programs", "dim"))
    draw(table)


def _states(found: Report) -> None:
    counted: Counter[State] = Counter()
    for agent in found.agents:
        counted += found.states(agent)
    title("Decisions", (", every tool for every agent that can start", "dim"))
    table = Table((Column(), Column("", "right")))
    for state in reversed(State):
        if counted[state]:
            table.add((str(state), STATE_STYLE[state]), number(counted[state]))
    draw(table)


def _tokens(found: Report) -> None:
    bills = {agent.name: agent.bill for agent in found.agents if agent.bill}
    title("Tokens of a request", (", tools and sections", "dim"))
    table = Table((Column("agent"), Column("packed", "right"), Column("unpacked", "right")))
    dearest = sorted(bills, key=lambda name: (-bills[name].cost.total, name))
    for name in dearest[:_SHOWN]:
        bill = bills[name]
        table.add(name, number(bill.cost.total), number(bill.total_unpacked))
    sent = sum(bill.cost.total for bill in bills.values())
    unpacked = sum(bill.total_unpacked for bill in bills.values())
    table.add_sum((f"all {number(len(bills))}", "sum"), (number(sent), "sum"), (number(unpacked), "sum"))
    draw(table)


_SHOWN = 5
"""Agents that are named, the dearest first."""
