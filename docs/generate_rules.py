"""Write docs/rules.md from packbelt's closed tables: `uv run python docs/generate_rules.py`."""  # noqa: INP001 - a script

from collections.abc import Iterable
from pathlib import Path

from packbelt.belt.rules import TABLE
from packbelt.model import Code, HintClass, Rule, State

PAGE = Path(__file__).with_name("rules.md")

STATES = {
    State.UNKNOWN: "There is no such tool in workspace or snapshot.",
    State.DENIED: "A deny matches; deny always wins, whatever the order, file or specificity.",
    State.OFF_BELT: "Nothing grants it to this agent.",
    State.UNAVAILABLE: "It exists and is granted, and cannot be used now.",
    State.OVER_CEILING: "It needs a higher permission than the lowest ceiling on the agent's path.",
    State.RESERVED: "Its pack keeps it for others; routes say which hand-off to take.",
    State.PACKED: "Callable through the opener, and by its exact wire name.",
    State.DEFERRED: "Callable by its wire name; its schema is found with `find_tools`.",
    State.DIRECT: "Its schema is sent; callable by its wire name.",
}
HINTS = {
    HintClass.CALLABLE: "It can be called by its name, or the pack can be opened, or has nothing put away.",
    HintClass.PACKED: "It is callable; the text says through which pack.",
    HintClass.RESERVED: "It is kept for its pack's owners; the text names the hand-off, or what cuts it.",
    HintClass.WRONG_PACK: "It exists and was asked for in a pack that does not hold it.",
    HintClass.UNKNOWN: "Nothing here has the name; the text names what is nearest.",
    HintClass.AMBIGUOUS: "Several servers have a tool of this plain name; the text lists their wire names.",
    HintClass.DENIED: "It exists and is denied; the text names the entry.",
    HintClass.UNAVAILABLE: "It cannot be used now; the text says why, and whether to try later.",
    HintClass.OFF_BELT: "It exists and is not granted to this agent.",
    HintClass.OVER_CEILING: "It needs more than this agent may.",
    HintClass.INVALID_ARGUMENTS: "The name is right and the arguments do not fit; the text has the schema.",
    HintClass.REPEAT: "The same refused call came again; the text says to stop repeating it.",
}

_ORDER = (State.UNKNOWN, *(state for state, _ in TABLE))
"""The states in the order in which they are asked."""

_HEAD = """# Rules and codes

Written by `docs/generate_rules.py` from the closed tables in `packbelt.model.codes`; a test keeps it so.
Codes are part of the interface: they are added, never renamed.

"""
_STATES = """## States

Every tool is, for every agent, in one state. The first row that answers wins. Callable means that the gate
admits a call.
"""
_RULES = """## Rules

Every reason in `explain`, and in the `reasons` of `dump --json`, names one of these, with the file and line
that it comes from, where there is one. What grants a callable tool is named by the rule of the list that
grants it (`agent.tools`, `default_tools` or `agent.delegates`).
"""
_CODES = """## Diagnostics

A diagnostic has a level (`error`, `warning` or `note`), one of these codes, a message, a place and a mend.
The level depends on the case: what is an error in packbelt's own files is often a warning in other people's.
"""
_HINTS = """## Hints

The `class` of `hint --json`, and of a refused call. Every call that a hint proposes has passed the gate, and
its arguments the schema.
"""


def page() -> str:
    """The whole page."""
    states = ((f"`{state}`", "yes" if state.callable else "no", STATES[state]) for state in _ORDER)
    rules = ((f"`{rule}`", _leads_to(rule), rule.meaning) for rule in Rule)
    codes = ((f"`{code}`", code.meaning) for code in Code)
    hints = ((f"`{kind}`", HINTS[kind]) for kind in HintClass)
    parts = (
        _STATES + _table(("state", "callable", "when"), states),
        _RULES + _table(("rule", "leads to", "meaning"), rules),
        _CODES + _table(("code", "meaning"), codes),
        _HINTS + _table(("class", "meaning"), hints),
    )
    return _HEAD + "\n".join(parts)


def _leads_to(rule: Rule) -> str:
    """The states that the rule settles, in the order of the question."""
    settled = [state for state, rows in TABLE for row in rows if row.rule is rule] or [State.UNKNOWN]
    return ", ".join(f"`{state}`" for state in dict.fromkeys(settled))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
