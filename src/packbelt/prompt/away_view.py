"""What is not in an agent's list but within reach, as section templates see it: packs and hand-offs."""

from collections.abc import Iterator
from dataclasses import dataclass

from packbelt.belt import Belt
from packbelt.belt.opener import packs_of
from packbelt.belt.routes import Way
from packbelt.catalog.registry import bits
from packbelt.model import State
from packbelt.model.text import harmless
from packbelt.prompt.speak import Speaker, sayable
from packbelt.prompt.words import NAME, first_sentence


@dataclass(frozen=True, slots=True)
class PutAway:
    """A pack of which this agent can call a packed tool.

    Attributes:
        id: its id, as it must be said.
        summary: its summary; empty where only hand-offs of it are packed.
        tools: how many of its tools are packed, hand-offs aside.
        handoffs: names of its packed hand-offs, in backticks.
    """

    id: str
    summary: str
    tools: int
    handoffs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taker:
    """A hand-off that this agent can call now.

    Attributes:
        use: how it is called.
        agent: the agent that does the work.
        agents: the agents on the way to it, in order; one, unless hand-offs follow each other.
        says: the first sentence of that agent's description.
        direct: whether the hand-off stands in this agent's tool list.
    """

    use: str
    agent: str
    agents: tuple[str, ...]
    says: str
    direct: bool


@dataclass(frozen=True, slots=True)
class Family:
    """A pack whose tools are kept for specialists, and the hand-offs that get its work done."""

    id: str
    summary: str
    takers: tuple[Taker, ...]


def packs_put_away(belt: Belt) -> Iterator[PutAway]:
    """Packs with packed tools, servers aside."""
    registry = belt.registry
    for pack_id, mask in packs_of(belt, belt.packed & ~registry.server_tools).items():
        pack = registry.workspace.packs[pack_id]
        raw = mask & ~registry.handoffs
        if not sayable(pack_id):
            continue
        yield PutAway(
            pack_id,
            harmless(pack.summary) if raw else "",
            raw.bit_count(),
            tuple(f"`{registry.tools[i].wire_name}`" for i in bits(mask & registry.handoffs)),
        )


def families_of(speaker: Speaker) -> Iterator[Family]:
    """Packs kept for specialists whose work somebody can be asked to do."""
    belt = speaker.belt
    reserved = belt.fold.states[State.RESERVED] & ~belt.registry.server_tools
    for pack_id, mask in packs_of(belt, reserved).items():
        pack = belt.registry.workspace.packs[pack_id]
        takers: dict[str, Taker] = {}
        for way in speaker.takers(pack.owners, mask):
            taker = _taker(speaker, way)
            takers.setdefault(taker.use, taker)
        if takers:
            yield Family(pack_id, harmless(pack.summary), tuple(takers.values()))


def handoffs_of(speaker: Speaker) -> Iterator[Taker]:
    """Every hand-off that this agent can call now."""
    for way in speaker.ways:
        if len(way.agents) == 1 and speaker.by(way):
            yield _taker(speaker, way)


def _taker(speaker: Speaker, way: Way) -> Taker:
    agent = speaker.belt.registry.workspace.agents[way.agents[-1]]
    return Taker(
        speaker.by(way),
        harmless(agent.name, NAME),
        tuple(harmless(name, NAME) for name in way.agents),
        first_sentence(agent.description),
        bool(speaker.belt.direct >> way.first & 1),
    )
