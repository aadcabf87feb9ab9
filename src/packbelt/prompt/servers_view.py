"""The connected servers, as section templates see them: which, in whose words, and how each is used."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packbelt.catalog.workspace import MCP
from packbelt.model import ServerStatus
from packbelt.model.text import LIMIT, harmless, quoted
from packbelt.prompt.speak import Speaker, sayable
from packbelt.prompt.words import NAME, Listing, fitted, is_long


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
class Servers:
    """The connected servers of one agent's world, told apart by who uses them.

    Attributes:
        own: those whose tools it calls itself.
        reached: those that others use for it, by the call that hands a request over.
        connected: how many it has, whether it can use them or not, and how many others use for it.
    """

    own: Listing[Server]
    reached: tuple[Reached, ...]
    connected: int


def servers_of(speaker: Speaker) -> Servers:
    """The connected servers that the agent has, and those that others can use for it."""
    connected = tuple(_connected(speaker))
    own: list[Server] = []
    by_call: dict[str, list[Server]] = {}
    for name, via in connected:
        server = _server(speaker, name, via)
        if server.direct or server.packed or server.deferred:
            own.append(server)
        elif via:
            by_call.setdefault(via, []).append(server)
    return Servers(
        own=_listed(own),
        reached=tuple(Reached(via, _listed(some)) for via, some in by_call.items()),
        connected=len(connected),
    )


def _connected(speaker: Speaker) -> Iterator[tuple[str, str]]:
    """Connected servers, each with the call for those of its tools that this agent cannot call itself.

    Who has a server is the scope's to say (`Subject.servers`). Of what is left, a shared one counts if
    somebody can be asked to use it; another agent's own one is that agent's business.
    """
    belt = speaker.belt
    registry = belt.registry
    has = frozenset(belt.subject.servers)
    for name in registry.servers:
        if registry.state(name).status is not ServerStatus.CONNECTED:
            continue
        if name not in has and name in registry.private:
            continue
        rest = registry.masks[name] & ~belt.callable
        via = _best(speaker, name, rest) if rest else ""
        if via or name in has:
            yield name, via


def _server(speaker: Speaker, name: str, via: str) -> Server:
    belt = speaker.belt
    registry, inline = belt.registry, belt.registry.workspace.inline
    mask = registry.masks[name]
    # Of a pack that could not be named in a way that the opener understands, nothing can be opened.
    packed = mask & belt.packed if sayable(MCP + name) else 0
    says = registry.state(name).instructions or ""
    return Server(
        name=harmless(inline[name].short_name if name in inline else name, NAME),
        says=quoted(says, LIMIT) if harmless(says) else "",
        tools=mask.bit_count(),
        direct=(mask & belt.direct).bit_count(),
        packed=packed.bit_count(),
        deferred=(mask & belt.deferred).bit_count(),
        opened=f"{speaker.opener} with pack `{MCP}{name}`" if packed else "",
        via=via,
        cut=is_long(says),
    )


def _best(speaker: Speaker, server: str, mask: int) -> str:
    """The call that hands a request over to the best agent that can call one of these tools."""
    takers = speaker.takers(speaker.belt.registry.pack(MCP + server).owners, mask)
    return speaker.by(takers[0]) if takers else ""


def _listed(servers: Iterable[Server]) -> Listing[Server]:
    return fitted(servers, lambda one: one.name, lambda one: len(f"{one.name}{one.says}".encode()) + 40)
