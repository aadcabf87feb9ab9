"""How a tool is called now, in words: the only source of such words in a prompt.

Every form is read off the belt, so that what a section names as callable is callable in just that way.
"""

from functools import cached_property

from packbelt.belt import FIND_TOOLS, Belt
from packbelt.belt.routes import Way, ways
from packbelt.belt.spell import Spell
from packbelt.model import PackbeltError
from packbelt.model.text import harmless


class Speaker:
    """The words for one belt.

    Args:
        belt: whose reader is spoken to.
        spell: how the target spells wire names.
    """

    def __init__(self, belt: Belt, spell: Spell = str) -> None:
        self.belt = belt
        self._spell = spell

    @cached_property
    def opener(self) -> str:
        """The opener's name in backticks; empty without one."""
        tool = self.belt.opener
        return f"`{self._spell(tool.wire_name)}`" if tool else ""

    @cached_property
    def finder(self) -> str:
        """The search tool's name in backticks; empty without one."""
        return f"`{self._spell(FIND_TOOLS)}`" if self.belt.finder else ""

    def way(self, name: str) -> str:
        """How this agent calls the tool of a wire name now; empty if it cannot.

        A hand-off to an agent that could not start is no way either.
        """
        i = self.belt.registry.wire.get(name)
        return self.at(i) if i is not None else ""

    def at(self, i: int) -> str:
        """How this agent calls the tool at a bit now; empty if it cannot."""
        belt = self.belt
        tool = belt.registry.tools[i]
        if not belt.callable >> i & 1 or (tool.target is not None and not self._starts(tool.target)):
            return ""
        if belt.direct >> i & 1:
            return f"`{self._spell(tool.wire_name)}`"
        if belt.deferred >> i & 1:
            return f"`{self._spell(tool.wire_name)}` (its schema is found with {self.finder})"
        pack = belt.registry.pack_of(i) or ""
        # The inner name is an argument, not a tool that the target knows: it is never respelled.
        return f"{self.opener} with pack `{pack}` and tool `{tool.wire_name}`" if sayable(pack) else ""

    def by(self, way: Way) -> str:
        """How this agent takes a way: its first hand-off, in the form in which it can call it."""
        return self.at(way.first)

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """Every chain of hand-offs that leads somewhere, shortest first."""
        return ways(self.belt)

    def takers(self, owners: tuple[str, ...], mask: int) -> list[Way]:
        """Ways to any of some tools: the owners' in file order, or without an owner's the shortest first."""
        rank = {owner: place for place, owner in enumerate(owners)}
        found = [way for way in self.ways if way.mask & mask and self.by(way)]
        owned = [way for way in found if way.agents[-1] in rank]
        if not owned:
            return sorted(found, key=lambda way: len(way.agents))
        return sorted(owned, key=lambda way: (rank[way.agents[-1]], len(way.agents)))

    def _starts(self, agent: str) -> bool:
        try:
            return not self.belt.child(agent).problems
        except PackbeltError:
            return False


def sayable(name: str) -> bool:
    """Whether a name that somebody made up can be shown exactly as it must be said back."""
    return harmless(name, len(name.encode("utf-8", "replace"))) == name and '"' not in name
