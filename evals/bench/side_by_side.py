"""The comparison: the visible third handed out, by everybody, in one loop."""

import json
from collections.abc import Callable
from typing import Any

from bench import engine
from bench.catalogue import Catalogue
from bench.clock import Case, Figure, measure
from bench.peers import Peer, build, installed

COLD = "packbelt, cold: nothing of the snapshot worked out"
NEXT = "packbelt, cold: next revision, same servers"
WARM = "packbelt, warm: same revision"
YARDSTICK = "(yardstick: json.dumps of all, keys sorted)"
"""How quick the machine is just now: compare runs by it."""


class Comparison:
    """Everybody on one catalogue.

    Attributes:
        peers: those that are installed, in all their forms.
        figures: by contender; `one: <peer>` for the decision about one tool.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.space = engine.workspace(catalogue)
        self.now = engine.snapshot(catalogue)
        self.peers: list[Peer] = [peer for package in installed() for peer in build(package, catalogue)]
        self.figures: dict[str, Figure] = {}

    def cases(self) -> list[Case]:
        """A case for each contender."""
        space, now = self.space, self.now
        run: Callable[[Any], Any] = lambda given: engine.visible(space, given)  # noqa: E731 - two cases share it
        made = [
            Case(COLD, run, lambda: engine.unread(now), samples=8),
            Case(NEXT, run, lambda: engine.next_revision(now), samples=8),
            Case(YARDSTICK, lambda _: json.dumps(self.catalogue.listed, sort_keys=True)),
            Case(WARM, lambda _: engine.turn(space, now, engine.READER).tools, calls=200, samples=2),
        ]
        server, tool = min(self.catalogue.visible)
        for peer in self.peers:
            made.append(Case(peer.name, _visible(peer)))
            if peer.one:
                made.append(Case(f"one: {peer.name}", _one(peer, peer.spell(server, tool))))
        return made

    async def run(self, seconds: float) -> None:
        """Measure."""
        self.figures = await measure(self.cases(), seconds)

    def fastest(self) -> str | None:
        """The fastest peer, None if no peer is installed."""
        names = (peer.name for peer in self.peers)
        return min(names, key=lambda name: self.figures[name].median, default=None)


def _visible(peer: Peer) -> Callable[[Any], Any]:
    async def run(_: object) -> None:
        await peer.visible()

    return run


def _one(peer: Peer, name: str) -> Callable[[Any], Any]:
    async def run(_: object) -> None:
        await peer.one(name)

    return run
