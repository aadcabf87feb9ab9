"""How a client shows the gateway's tools, and what that makes of their names.

On the wire a tool's name is its wire name. A client may show its model another: Claude Code shows tool `t`
of a server that it knows as `belt` as `mcp__belt__t`. Where packbelt is told (`--as belt`), every text that
names a tool for the model (sections, hints, the opener's listings) names it in that spelling.
"""

import re
from collections.abc import Iterable

from packbelt.belt.spell import Spell
from packbelt.model import PackbeltError, Tool

SHOWN = 64
"""Letters of a name that every provider takes."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class SpellingError(PackbeltError):
    """No client can know the gateway by this name."""


def spelling(name: str | None) -> Spell:
    """The spelling of a client that knows the gateway by a name; None for one that shows names as they are.

    Raises:
        SpellingError: the name has letters that clients replace.
    """
    if name is None:
        return str
    if not _NAME.fullmatch(name):
        raise SpellingError(
            f"{name!r} is no name that a client shows as it is",
            mend="use letters, digits, `_` and `-`, and the same name in the client's configuration",
            name=name,
        )
    prefix = f"mcp__{name}__"
    return lambda wire_name: prefix + wire_name


def too_long(tools: Iterable[Tool], spell: Spell) -> list[str]:
    """The shown names that are longer than some provider takes."""
    return [shown for tool in tools if len(shown := spell(tool.wire_name)) > SHOWN]
