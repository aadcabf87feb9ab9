"""Who may call what, and how it is presented: selectors, rules, belts, routes, the gate, hints."""

from packbelt.belt.belt import Belt, BeltTool, belt_of, started
from packbelt.belt.decide import decide
from packbelt.belt.gate import Denial, admit
from packbelt.belt.hints import hint, hint_for
from packbelt.belt.opener import index_lines, listing
from packbelt.belt.resolve import resolve
from packbelt.belt.scope import Scope, Subject
from packbelt.belt.search import find_tools
from packbelt.catalog.names import FIND_TOOLS

__all__ = [
    "FIND_TOOLS",
    "Belt",
    "BeltTool",
    "Denial",
    "Scope",
    "Subject",
    "admit",
    "belt_of",
    "decide",
    "find_tools",
    "hint",
    "hint_for",
    "index_lines",
    "listing",
    "resolve",
    "started",
]
