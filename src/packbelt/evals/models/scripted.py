"""Scripted models: a list of wishes, resolved against what is really shown.

A script that always calls the hand-off would prove nothing. This one takes what it can see, as the failing
model of the report did: tools in front of it first, then what a pack's listing shows; it makes up names and
repeats itself where its wishes say so.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packbelt.evals.bound import Bound
from packbelt.evals.cases import Wish
from packbelt.evals.models.model import Mind, Request, call, say
from packbelt.evals.models.sight import Seen, Sight, arguments_for

LOOKS = 2
"""Packs that are opened for one wish."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """A model that follows wishes.

    Attributes:
        name: how reports call it.
        wishes: what it would like to do in a case.
    """

    name: str
    wishes: Callable[[Bound], Sequence[Wish]]

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case; every repeat is the same."""
        del repeat
        return _Script(case.case.request, case.wanted, self.wishes(case))


class _Script:
    """One case: the wishes that are left. Once what was asked for is done, it stops."""

    def __init__(self, request: str, wanted: Sequence[Sequence[str]], wishes: Sequence[Wish]) -> None:
        self.request = request
        self.left = [set(step) for step in wanted]
        self.asked = bool(wanted)
        self.wishes = [wish for wish in wishes for _ in range(wish.times)]
        self.looks = 0
        self.number = 0

    async def reply(self, request: Request) -> Mapping[str, Any]:
        sight = Sight(request)
        while self.wishes and (self.left or not self.asked):
            action = self._act(self.wishes[0], sight)
            if action is not None:
                self.number += 1
                return call(self.number, *action)
            self._granted()
        return say("That is all that I could do." if self.number else "There is nothing to call for that.")

    def _granted(self) -> None:
        self.wishes.pop(0)
        self.looks = 0

    def _act(self, wish: Wish, sight: Sight) -> tuple[str, Mapping[str, Any]] | None:
        """The call that a wish comes to; None where it is passed over."""
        found = self._seen(wish, sight)
        if found is not None:
            self._granted()
            return self._call(found, sight)
        if wish.told or wish.read is not None:
            return None
        packs = sight.nearest_packs(" ".join((self.request, *wish.call)))
        if sight.opener and packs and wish.look and self.looks < LOOKS and not _placed(wish, sight):
            self.looks += 1
            return sight.opener.name, {"pack": packs[0]}
        if wish.guess is None:
            return None
        self._granted()
        place = _placed(wish, sight)
        if sight.opener and place:
            return sight.opener.name, {"pack": place, "tool": wish.guess, "arguments": {}}
        return wish.guess, {}

    def _seen(self, wish: Wish, sight: Sight) -> Seen | None:
        if wish.blind:
            return Seen(wish.call[0], "", {}) if wish.call else None
        if wish.told:
            named = re.findall(r"[A-Za-z0-9_-]+", sight.last_answer)
            tools = (sight.advertised[name] for name in named if name in sight.advertised)
            return next((tool for tool in tools if tool is not sight.opener), None)
        if wish.read is not None:
            named = sight.named_under(wish.read)
            return next((sight.known(name) for name in wish.call if name in named), None)
        ready = next((sight.advertised[name] for name in wish.direct if name in sight.advertised), None)
        if ready is not None:
            return ready
        shown = [sight.advertised] if wish.guess is not None else [sight.advertised, sight.listed]
        return next((place[name] for place in shown for name in wish.call if name in place), None)

    def _call(self, tool: Seen, sight: Sight) -> tuple[str, Mapping[str, Any]]:
        if self.left and tool.name in self.left[0]:
            self.left.pop(0)
        arguments = arguments_for(tool, self.request)
        if tool.pack is None or sight.opener is None:
            return tool.name, arguments
        return sight.opener.name, {"pack": tool.pack, "tool": tool.name, "arguments": arguments}


def _placed(wish: Wish, sight: Sight) -> str | None:
    """The pack in which a name is made up: the last that was opened."""
    return sight.opened[-1] if wish.guess is not None and sight.opened else None
