"""The lexical baseline: the tool whose name and description share the most words with the request.

A case that it already gets says little about a layout: the words of the request alone lead there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packbelt.evals.bound import Bound
from packbelt.evals.models.model import Mind, Request, call, say
from packbelt.evals.models.sight import Seen, Sight, arguments_for, ranked


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 over what is advertised; where that is the opener, over the packs, then over the listing.

    Attributes:
        name: how reports call it.
    """

    name: str = "lexical"

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case; every repeat is the same."""
        del repeat
        return _Ranking(case.case.request)


class _Ranking:
    """One case: it makes one choice, and through the opener one of a pack and one in it."""

    def __init__(self, request: str) -> None:
        self.request = request

    async def reply(self, request: Request) -> Mapping[str, Any]:
        sight, number = Sight(request), len(request.messages)
        if not sight.calls:
            return self._first(sight, number)
        if sight.opener is not None and sight.opened == [""] and (pack := self._pack(sight)):
            return call(number, sight.opener.name, {"pack": pack})
        inside = ranked(sight.listed.values(), self.request)
        if len(sight.calls) > len(sight.opened) or not inside or sight.opener is None:
            return say("Done.")
        found = inside[0]
        given = {"pack": found.pack, "tool": found.name, "arguments": arguments_for(found, self.request)}
        return call(number, sight.opener.name, given)

    def _first(self, sight: Sight, number: int) -> Mapping[str, Any]:
        found = ranked(sight.advertised.values(), self.request)
        if not found:
            return say("No tool shares a word with that.")
        if found[0] is not sight.opener:
            return call(number, found[0].name, arguments_for(found[0], self.request))
        return call(number, found[0].name, {"pack": self._pack(sight)})

    def _pack(self, sight: Sight) -> str:
        """The pack whose summary fits best; "" for none, which asks for the list of packs."""
        found = ranked((Seen(pack, text, {}) for pack, text in sight.packs.items()), self.request)
        return found[0].name if found else ""
