"""Names in the spelling of the target that their reader speaks through.

A client shows a server's tools to its model under names of its own (`mcp__packbelt__use_pack`). What is to
be called by such a name is spelled so. The `tool` inside a call of the opener is an argument that no client
knows of: it is shown as the plain wire name and understood in either form.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.registry import pick

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

Spell = Callable[[str], str]
"""How a target spells a wire name: defined for every known one, and no two alike. `str` is none at all."""

_QUOTED_NAME = re.compile(r"`([A-Za-z0-9_-]{1,64})`")


def unspelled(belt: "Belt", said: str, spell: Spell) -> str:
    """The wire name that is spelled so, found among the known ones; what is no spelling of any stays.

    Never cut apart: a prefix may stand in a name.
    """
    if spell is str or not said or any(letter.isspace() for letter in said):
        return said
    known = (*belt.registry.wire, belt.registry.workspace.config.opener, FIND_TOOLS)
    return next((name for name in known if spell(name) == said), said)


def respelled(belt: "Belt", text: str, spell: Spell) -> str:
    """A text of the workspace with the names of sent tools in backticks as the target spells them."""
    if spell is str or "`" not in text:
        return text
    sent = {tool.wire_name for tool in pick(belt.registry.tools, belt.direct)}
    if belt.packed:
        sent.add(belt.registry.workspace.config.opener)
    if belt.deferred:
        sent.add(FIND_TOOLS)
    return _QUOTED_NAME.sub(lambda m: f"`{spell(m[1])}`" if m[1] in sent else m[0], text)
