"""What section templates are given: plain immutable data read off one belt, never the belt itself.

Every text that came from outside is made harmless here, and every way to call something is worded by
`Speaker`, so that a template can neither be broken into nor promise what the gate refuses. The names that a
template sees are those of `view_of`; `servers_view`, `skills_view` and `away_view` make what they stand for.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.names import words
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import bits
from packbelt.model import NATIVE
from packbelt.prompt.away_view import Family, PutAway, Taker, families_of, handoffs_of, packs_put_away
from packbelt.prompt.servers_view import Reached, Server, servers_of
from packbelt.prompt.skills_view import InstalledSkill, skills_of
from packbelt.prompt.speak import Speaker

__all__ = ["Family", "InstalledSkill", "PutAway", "Reached", "Server", "Taker", "view_of"]


def view_of(belt: Belt, spell: Spell = str) -> Mapping[str, Any]:
    """The names that every section template sees.

    - `agent`: this agent's name.
    - `way(name)`: how this agent calls a tool now, ready to print; empty if it cannot.
    - `opener`, `finder`: these tools' names, ready to print; empty without them.
    - `reached`: connected servers that others use for this agent, by hand-off (`Reached`).
    - `own`: a `Listing` of the connected servers whose tools it calls itself (`Server`).
    - `connected`: how many connected servers it has, usable or not, or others use for it.
    - `skills`: a `Listing` of the installed skills (`InstalledSkill`).
    - `packs`: packs with packed tools, servers aside (`PutAway`).
    - `families`: packs kept for specialists (`Family`).
    - `deferred`: how many tools besides servers' are found with the search tool.
    - `handoffs`: every hand-off that it can call (`Taker`).
    - `web`: the tools for the web in its list, ready to print.
    """
    speaker = Speaker(belt, spell)
    servers = servers_of(speaker)
    return {
        "agent": belt.agent,
        "way": _InTemplates(speaker),
        "opener": speaker.opener,
        "finder": speaker.finder,
        "reached": servers.reached,
        "own": servers.own,
        "connected": servers.connected,
        "skills": skills_of(belt),
        "packs": tuple(packs_put_away(belt)),
        "families": tuple(families_of(speaker)),
        "deferred": (belt.deferred & ~belt.registry.server_tools).bit_count(),
        "handoffs": tuple(handoffs_of(speaker)),
        "web": tuple(_web(speaker)),
    }


class _InTemplates:
    """A function that templates may call."""

    __slots__ = ("_speaker",)

    callable_in_templates = True

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def __call__(self, name: str) -> str:
        return self._speaker.way(name) if isinstance(name, str) else ""


def _web(speaker: Speaker) -> Iterator[str]:
    """Native tools in the agent's list whose names speak of the web."""
    belt = speaker.belt
    for i in bits(belt.direct & ~belt.registry.server_tools):
        tool = belt.registry.tools[i]
        if tool.id.source == NATIVE and "web" in words(tool.name):
            yield speaker.at(i)
