"""How a client shows the gateway's tools, and what that makes of their names.

On the wire a tool's name is its wire name. A client may show its model another: Claude Code shows tool `t`
of a server that it knows as `belt` as `mcp__belt__t`. Where packbelt is told (`--as belt`), every text that
names a tool for the model (sections, hints, the opener's listings) names it in that spelling.
"""

from collections.abc import Iterable

from packbelt.belt.spell import Spell
from packbelt.model import Tool
from packbelt.providers.mcp import SHOWN, SpellingError, spelling


def too_long(tools: Iterable[Tool], spell: Spell) -> list[str]:
    """The shown names that are longer than some provider takes."""
    return [shown for tool in tools if len(shown := spell(tool.wire_name)) > SHOWN]


__all__ = ["SHOWN", "SpellingError", "spelling", "too_long"]
