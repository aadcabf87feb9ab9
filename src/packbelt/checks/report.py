"""`report`: one workspace with what is connected, decided for every agent, priced and checked."""

from collections.abc import Iterator, Mapping
from functools import partial

from packbelt.belt.mends import entry_for
from packbelt.catalog.registry import Registry, bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import MCP, Pack, Workspace
from packbelt.checks.explained import Explanations, explain_all
from packbelt.checks.reported import (
    AgentReport,
    Bill,
    Family,
    Link,
    Part,
    PartKind,
    Piece,
    Report,
    ToolRow,
)
from packbelt.checks.run import findings
from packbelt.checks.workbench import Workbench, imported
from packbelt.cost import Method, line_tokens, scheme_of
from packbelt.model import Tool
from packbelt.turn import Turn

_KINDS: tuple[PartKind, ...] = ("handoffs", "native", "servers", "opener", "overhead", "sections")


def report(workspace: Workspace, snapshot: Snapshot | None = None, method: Method = "json") -> Report:
    """What can be said of a workspace: every belt with its reasons and cost, hand-offs, findings, prompts.

    It holds no time and no machine's name: the same workspace and snapshot give the same report.

    Args:
        workspace: what may exist.
        snapshot: what is true now; None for nothing connected.
        method: how tokens are counted.

    Raises:
        PackbeltError: there is no such method.
        VocabularyError: the vocabulary that tokens are counted with is missing or is not the published one.
    """
    bench = Workbench(workspace, snapshot)
    registry = bench.registry
    groups = tuple(_groups(registry))
    order = [i for _, mask in groups for i in bits(mask)]
    known = Explanations()
    agents = tuple(_agent(bench, name, order, known, method) for name in _names(bench))
    return Report(
        root=workspace.root,
        embedded=workspace.embedded,
        snapshot=bench.snapshot.file,
        orchestrator=bench.root,
        opener=workspace.config.opener,
        method=scheme_of(method).about,
        families=tuple(_families(registry, groups)),
        tools=tuple(_row(registry, i, method) for i in order),
        agents=agents,
        explanations=known.all,
        links=tuple(_links(bench)),
        findings=findings(bench),
    )


# rows -----------------------------------------------------------------------------------------------------


def _groups(registry: Registry) -> Iterator[tuple[str, int]]:
    """Each family's id and tools; every tool is in one."""
    yield from registry.index.packs.items()
    if registry.index.unpacked:
        yield "", registry.index.unpacked
    for server in registry.servers:
        yield MCP + server, registry.masks[server]


def _families(registry: Registry, groups: tuple[tuple[str, int], ...]) -> Iterator[Family]:
    first = 0
    for name, mask in groups:
        count = mask.bit_count()
        yield _family(registry, name, first, count)
        first += count


def _family(registry: Registry, name: str, first: int, count: int) -> Family:
    if not name:
        return Family(name, "none", "Hand-offs and tools of no pack.", first, count)
    pack: Pack = registry.pack(name)
    shared = partial(
        Family,
        id=name,
        first=first,
        count=count,
        exposure=pack.exposure,
        access=pack.access,
        owners=pack.owners,
        carriers=pack.carriers,
    )
    if name in registry.workspace.packs:
        return shared(kind="pack", summary=pack.summary, where=pack.where())
    server = name.removeprefix(MCP)
    state = registry.state(server)
    spec = registry.workspace.servers.get(server) or registry.workspace.inline.get(server)
    where = spec.where if spec else pack.where()
    return shared(kind="server", summary=state.error, where=where, status=state.status)


def _row(registry: Registry, i: int, method: Method) -> ToolRow:
    tool = registry.tools[i]
    own, theirs = (entry_for(registry, tool, imported=kind) for kind in (False, True))
    return ToolRow(tool, own, theirs, registry.permission(i), line_tokens(tool, method))


# agents ---------------------------------------------------------------------------------------------------


def _names(bench: Workbench) -> list[str]:
    names = [*bench.workspace.agents, *bench.workspace.broken]
    return sorted(names, key=lambda name: (name != bench.root, name))


def _agent(bench: Workbench, name: str, order: list[int], known: Explanations, method: Method) -> AgentReport:
    agent = bench.workspace.agents.get(name)
    broken = bench.workspace.broken.get(name)
    found = agent or broken
    shared = partial(
        AgentReport,
        name=name,
        description=agent.description if agent else "",
        handoff=found.handoff if found else "",
        where=agent.where() if agent else broken.error.where if broken else None,
        imported=agent is not None and imported(agent),
        depth=_depth(bench, name),
    )
    turn = bench.turns.get(name)
    if turn is None:
        return shared(refused=bench.refused[name])
    ways_in = (turn.belt.opener, turn.belt.finder)
    return shared(
        stretches=explain_all(turn.belt, order, known),
        ways_in=tuple(tool.wire_name for tool in ways_in if tool),
        bill=_bill(turn, method),
        prompt=tuple(_pieces(turn)),
        diagnostics=turn.diagnostics,
    )


def _depth(bench: Workbench, name: str) -> int | None:
    if name == bench.root:
        return 0
    return min((len(way.agents) for way in bench.ways if way.agents[-1] == name), default=None)


def _links(bench: Workbench) -> Iterator[Link]:
    for name, belt in bench.belts.items():
        for i in bits(belt.subject.delegated):
            tool = bench.registry.tools[i]
            yield Link(name, tool.target or "", tool.wire_name, belt.state(i))


# cost and prompt ------------------------------------------------------------------------------------------


def _bill(turn: Turn, method: Method) -> Bill:
    belt, cost = turn.belt, turn.cost if method == "json" else turn.measure(method)
    own = {tool.id for tool in (belt.opener, belt.finder) if tool}
    sent = dict.fromkeys(_KINDS, 0)
    for tool, (_, tokens) in zip(turn.tools, cost.lines, strict=True):
        sent["opener" if tool.id in own else _kind(tool)] += tokens
    unpacked = dict.fromkeys(_KINDS, 0)
    for i in bits(belt.callable):
        tool = belt.registry.tools[i]
        unpacked[_kind(tool)] += line_tokens(tool, method)
    sent["overhead"] = cost.overhead
    unpacked["overhead"] = cost.if_unpacked - sum(unpacked.values())
    sent["sections"] = unpacked["sections"] = cost.sections
    return Bill(cost, _split(sent), _split(unpacked))


def _kind(tool: Tool) -> PartKind:
    if tool.target is not None:
        return "handoffs"
    return "servers" if tool.id.server is not None else "native"


def _split(tokens: Mapping[PartKind, int]) -> tuple[Part, ...]:
    return tuple(Part(kind, count) for kind, count in tokens.items() if count)


def _pieces(turn: Turn) -> Iterator[Piece]:
    """The prompt cut at its sections; a section that does not stand in it word for word is not told apart."""
    text = turn.prompt
    places = sorted((at, name) for name, said in turn.sections.items() if (at := text.find(said)) >= 0)
    end = 0
    for at, name in places:
        if at < end:
            continue
        if at > end:
            yield Piece(None, text[end:at])
        end = at + len(turn.sections[name])
        yield Piece(name, text[at:end])
    if end < len(text):
        yield Piece(None, text[end:])


__all__ = ["report"]
