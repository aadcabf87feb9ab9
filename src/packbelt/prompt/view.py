"""What section templates are given: plain immutable data read off one belt, never the belt itself.

Every text that came from outside is made harmless here, and every way to call something is worded by
`Speaker`, so that a template can neither be broken into nor promise what the gate refuses. The names that a
template sees are those of `view_of`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.names import words
from packbelt.belt.opener import packs_of
from packbelt.belt.routes import Way
from packbelt.catalog.registry import MCP, bits
from packbelt.catalog.workspace import Skill
from packbelt.model import NATIVE, ServerStatus, State
from packbelt.model.text import LIMIT, harmless, one_line, quoted
from packbelt.prompt.speak import Speaker, Spell, sayable
from packbelt.prompt.words import Listing, first_sentence, fitted

NAME = 80
"""Bytes of a third party's name."""


@dataclass(frozen=True, slots=True)
class Server:
    """A connected server of whose tools this agent can get at least one used.

    Attributes:
        name: its name, harmless.
        says: its own words in quotes; empty if it says nothing.
        tools: how many tools it has.
        direct: how many of them are in this agent's tool list.
        packed: how many this agent reaches through `opened`.
        deferred: how many it finds with the search tool.
        opened: how its pack is opened; empty if nothing of it is packed.
        via: how the request is handed over for the tools that this agent cannot call; empty if it cannot be.
        cut: whether `says` is only a part of what it says.
    """

    name: str
    says: str
    tools: int
    direct: int = 0
    packed: int = 0
    deferred: int = 0
    opened: str = ""
    via: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Reached:
    """Connected servers whose use is handed over by one and the same call.

    Attributes:
        via: that call.
        servers: the servers.
    """

    via: str
    servers: Listing[Server]


@dataclass(frozen=True, slots=True)
class InstalledSkill:
    """An installed skill that this agent knows of.

    Attributes:
        name: its name, harmless.
        description: its own words in quotes; empty if it says nothing.
        path: its directory, harmless.
        cut: whether the description is only a part of what it says.
    """

    name: str
    description: str
    path: str
    cut: bool


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


def view_of(belt: Belt, spell: Spell = str) -> Mapping[str, Any]:
    """The names that every section template sees.

    - `agent`: this agent's name.
    - `way(name)`: how this agent calls a tool now, ready to print; empty if it cannot.
    - `opener`, `finder`: these tools' names, ready to print; empty without them.
    - `reached`: connected servers that others use for this agent, by hand-off (`Reached`).
    - `own`: a `Listing` of the connected servers whose tools it calls itself (`Server`).
    - `connected`: how many servers are connected in its scope, whether it can use them or not.
    - `skills`: a `Listing` of the installed skills (`InstalledSkill`).
    - `packs`: packs with packed tools, servers aside (`PutAway`).
    - `families`: packs kept for specialists (`Family`).
    - `deferred`: how many tools besides servers' are found with the search tool.
    - `handoffs`: every hand-off that it can call (`Taker`).
    - `web`: the tools for the web in its list, ready to print.
    """
    speaker = Speaker(belt, spell)
    servers = tuple(_servers(speaker))
    by_call: dict[str, list[Server]] = {}
    for server in servers:
        if not (server.direct or server.packed or server.deferred):
            by_call.setdefault(server.via, []).append(server)
    own = [server for server in servers if server.direct or server.packed or server.deferred]
    return {
        "agent": belt.agent,
        "way": _InTemplates(speaker),
        "opener": speaker.opener,
        "finder": speaker.finder,
        "reached": tuple(Reached(via, _listed(some)) for via, some in by_call.items()),
        "own": _listed(own),
        "connected": sum(1 for _ in _connected(belt)),
        "skills": _skills(belt),
        "packs": tuple(_packs(belt)),
        "families": tuple(_families(speaker)),
        "deferred": (belt.deferred & ~belt.registry.server_tools).bit_count(),
        "handoffs": tuple(_handoffs(speaker)),
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


# servers ------------------------------------------------------------------------------------------------


def _connected(belt: Belt) -> Iterator[str]:
    """Connected servers of the scope; other agents' own ones are those agents' business."""
    registry, inline = belt.registry, belt.registry.workspace.inline
    for name in registry.servers:
        if registry.state(name).status is not ServerStatus.CONNECTED:
            continue
        if name not in inline or inline[name].owner == belt.agent:
            yield name


def _servers(speaker: Speaker) -> Iterator[Server]:
    belt = speaker.belt
    registry, inline = belt.registry, belt.registry.workspace.inline
    for name in _connected(belt):
        mask = registry.masks[name]
        direct, packed, deferred = mask & belt.direct, mask & belt.packed, mask & belt.deferred
        if not sayable(MCP + name):
            packed = 0  # its pack could not be named in a way that the opener understands
        rest = mask & ~belt.callable
        via = _best(speaker, name, rest) if rest else ""
        if not (direct or packed or deferred or via):
            continue
        words_of_it = registry.state(name).instructions or ""
        yield Server(
            name=harmless(inline[name].short_name if name in inline else name, NAME),
            says=quoted(words_of_it, LIMIT) if harmless(words_of_it) else "",
            tools=mask.bit_count(),
            direct=direct.bit_count(),
            packed=packed.bit_count(),
            deferred=deferred.bit_count(),
            opened=f"{speaker.opener} with pack `{MCP}{name}`" if packed else "",
            via=via,
            cut=_is_long(words_of_it),
        )


def _best(speaker: Speaker, server: str, mask: int) -> str:
    """The call that hands a request over to the best agent that can call one of these tools."""
    takers = _ranked(speaker, speaker.belt.registry.pack(MCP + server).owners, mask)
    return speaker.by(takers[0]) if takers else ""


def _ranked(speaker: Speaker, owners: tuple[str, ...], mask: int) -> list[Way]:
    """Ways to any of some tools: the owners' in file order, or without an owner's the shortest first."""
    rank = {owner: place for place, owner in enumerate(owners)}
    found = [way for way in speaker.ways if way.mask & mask and speaker.by(way)]
    owned = [way for way in found if way.agents[-1] in rank]
    if not owned:
        return sorted(found, key=lambda way: len(way.agents))
    return sorted(owned, key=lambda way: (rank[way.agents[-1]], len(way.agents)))


def _is_long(text: str) -> bool:
    """Whether a third party says more than a prompt shows."""
    return len(one_line(text).encode("utf-8", "replace")) > LIMIT


def _listed(servers: list[Server]) -> Listing[Server]:
    return fitted(servers, lambda one: one.name, lambda one: len(f"{one.name}{one.says}".encode()) + 40)


# skills -------------------------------------------------------------------------------------------------


def _skills_of(belt: Belt) -> tuple[Skill, ...]:
    """The installed skills that the agent's `skills` leaves it, by name."""
    registry, wanted = belt.registry, belt.subject.agent.skills
    installed = registry.snapshot.skills
    found: dict[str, Skill] = {}
    for skill in registry.workspace.skills if installed is None else installed:
        if wanted is None or skill.name in wanted:
            found.setdefault(skill.name, skill)
    return tuple(found[name] for name in sorted(found))


def _skills(belt: Belt) -> Listing[InstalledSkill]:
    shown = [
        InstalledSkill(
            harmless(skill.name, NAME),
            quoted(skill.description, LIMIT) if harmless(skill.description) else "",
            harmless(skill.path),
            _is_long(skill.description),
        )
        for skill in _skills_of(belt)
    ]
    return fitted(shown, lambda one: one.name, lambda one: len(f"{one.name}{one.description}".encode()) + 20)


# what is not on the belt --------------------------------------------------------------------------------


def _packs(belt: Belt) -> Iterator[PutAway]:
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


def _families(speaker: Speaker) -> Iterator[Family]:
    belt = speaker.belt
    reserved = belt.fold.states[State.RESERVED] & ~belt.registry.server_tools
    for pack_id, mask in packs_of(belt, reserved).items():
        pack = belt.registry.workspace.packs[pack_id]
        takers: dict[str, Taker] = {}
        for way in _ranked(speaker, pack.owners, mask):
            taker = _taker(speaker, way)
            takers.setdefault(taker.use, taker)
        if takers:
            yield Family(pack_id, harmless(pack.summary), tuple(takers.values()))


def _handoffs(speaker: Speaker) -> Iterator[Taker]:
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


def _web(speaker: Speaker) -> Iterator[str]:
    """Native tools in the agent's list whose names speak of the web."""
    belt = speaker.belt
    for i in bits(belt.direct & ~belt.registry.server_tools):
        tool = belt.registry.tools[i]
        if tool.id.source == NATIVE and "web" in words(tool.name):
            yield speaker.at(i)
