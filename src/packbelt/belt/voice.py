"""How hints word calls and names, in the spelling of the target that their reader speaks through."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from packbelt.belt.offers import Offers
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import bits
from packbelt.model import Suggestion
from packbelt.model.encode import compact
from packbelt.model.text import few, inert

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

LISTED = 8
"""Names that a hint lists at most."""


class Voice:
    """The words of one belt in one spelling."""

    def __init__(self, belt: "Belt", spell: Spell = str) -> None:
        self.belt = belt
        self.registry = belt.registry
        self.spell = spell
        self.offers = Offers(belt)

    def calls(self, offers: Iterable[Suggestion]) -> str:
        """Calls to choose from."""
        return " or ".join(f"{self.spell(o.tool)}({inert(compact(o.arguments))})" for o in offers)

    def call(self, offers: Iterable[Suggestion]) -> str:
        """A sentence that says what to call; nothing without offers."""
        calls = self.calls(offers)
        return f" Call {calls}." if calls else ""

    def callable_of(self, pack: str) -> str:
        """The tools of a pack that its reader can call, by name."""
        mask = (self.registry.pack_mask(pack) or 0) & self.belt.callable
        return self.listed(self.registry.tools[i].wire_name for i in bits(mask))

    def what_there_is(self) -> str:
        """A sentence on the tools that are sent."""
        names = self.listed(tool.wire_name for tool in self.belt.tools)
        return f"On the belt: {names}." if names else "This agent has no tools."

    def listed(self, wire_names: Iterable[str]) -> str:
        """Names, cut to a number of them."""
        return few([self.spell(name) for name in wire_names], most=LISTED)


__all__ = ["LISTED", "Spell", "Voice"]
