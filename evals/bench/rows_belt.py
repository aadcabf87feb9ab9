"""Rows about deciding: state, explanation, fifty agents, at three sizes of registry."""

from bench import engine
from bench.catalogue import Catalogue
from bench.clock import Case, measure
from bench.table import Row, timed
from packbelt.turn import turn

SIZES = (Catalogue(10), Catalogue(100), Catalogue(200, 100))
"""200, 2,000 and 20,000 tools."""


def _wire(server: str, tool: str) -> str:
    return f"mcp__{server}__{tool}"


class Deciding:
    """One size of registry."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.space, self.now = engine.workspace(catalogue), engine.snapshot(catalogue)
        self.size = f"{catalogue.size:,}"
        server = sorted(catalogue.listed)[len(catalogue.listed) // 2]
        names = [entry["name"] for entry in catalogue.listed[server]]
        self.asked = {
            "direct": _wire(server, names[0]),
            "denied": _wire(server, names[-1]),
            "reserved": "vault_open",
        }

    def cases(self) -> list[Case]:
        """State and explanation, asked of a belt that stands, and asked first of one that does not."""
        space, now, root = self.space, self.now, engine.ROOT
        belt = turn(space, now, root).belt
        made = [
            Case(f"state {kind} {self.size}", lambda _, n=name: belt[n].state, calls=100, samples=2)
            for kind, name in self.asked.items()
        ]
        made += [
            Case(f"explain {kind} {self.size}", lambda _, n=name: belt[n].decision, calls=20, samples=2)
            for kind, name in self.asked.items()
        ]
        made.append(
            Case(
                f"first {self.size}",
                lambda given: turn(space, given, root).belt[self.asked["reserved"]].decision,
                lambda: engine.unread(now),
            )
        )
        return made


def _fifty(space: engine.Workspace, now: engine.Snapshot) -> Case:
    def run(given: engine.Snapshot) -> None:
        for agent in engine.WORKERS:
            engine.visible(space, given, agent)

    return Case("fifty", run, lambda: engine.unread(now))


async def rows(seconds: float, sizes: tuple[Catalogue, ...] = SIZES) -> list[Row]:
    """The rows."""
    deciding = [Deciding(catalogue) for catalogue in sizes]
    middle = deciding[len(deciding) // 2]
    cases = [case for one in deciding for case in one.cases()]
    figures = await measure([*cases, _fifty(middle.space, middle.now)], seconds)
    found = []
    for what, bar in (("state", 10.0), ("explain", 100.0)):
        for one in deciding:
            asked = {kind: figures[f"{what} {kind} {one.size}"] for kind in one.asked}
            worst = max(asked, key=lambda kind: asked[kind].median)
            label = "state of one tool" if what == "state" else "explain, with reasons and routes"
            note = f"a {worst} one, the slowest of three kinds"
            found.append(timed(f"{label}, among {one.size}", asked[worst], "µs", bar, note=note))
    for one in deciding:
        first = figures[f"first {one.size}"]
        note = "belt, name table and the belts of all agents it may hand to included"
        found.append(timed(f"explain, first question after a change, {one.size}", first, "ms", note=note))
    note = "each with a deny rule of its own, schemas handed out"
    found.append(timed(f"50 agents, cold, {middle.size} tools", figures["fifty"], "ms", 25.0, note=note))
    return found
