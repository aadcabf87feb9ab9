"""Breakages of what a refused call is answered with."""

from collections.abc import Mapping

from packbelt.belt.arguments import parse
from packbelt.evals.trace import Made
from packbelt.model import HintClass


def permission_before_existence(call: Made, text: str) -> str:
    """A name that was invented inside a pack is answered as if it were forbidden, as the report found it."""
    given = parse(call.arguments)
    inside = given.get("tool") if isinstance(given, Mapping) else None
    if call.refused is not HintClass.UNKNOWN or not isinstance(inside, str):
        return text
    return f"Tool {inside} is not allowed in the current session"


def no_hints(call: Made, text: str) -> str:
    """A refusal says that it is one, and no more."""
    return text if call.refused is None else "This call was refused."
