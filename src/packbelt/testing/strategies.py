"""Hypothesis strategies: workspaces, snapshots and scopes of every shape that the formats allow.

```python
from hypothesis import given
from packbelt.testing.strategies import worlds

@given(worlds())
def test_mine(world):
    belt = world.belt()
```

A `World` is a workspace, a snapshot and a scope that fit together: lists name tools that are there, mostly;
names are as nasty as real servers' names are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from packbelt.belt import Scope
from packbelt.catalog.forms import server_tools
from packbelt.catalog.snapshot import Admitted, Placed, Snapshot
from packbelt.catalog.workspace import Agent, Budget, Pack, ServerPolicy, ToolPolicy, Workspace
from packbelt.model import Access, Exposure, Permission, SelectorError, ServerStatus
from packbelt.testing.build import (
    agent,
    broken,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    path_of,
    policy,
    server_tool,
    skill,
)
from packbelt.testing.world import Catalogue, World

T = TypeVar("T")

SERVERS = (
    *("github", "GitHub", "my.server", "my_server", "my-server", "a", "a/b", "a__b", "_edge", "edge_"),
    *("Ünï", "with blank", "end_deadbeef", "s" * 200, "mcp__github"),
)
"""Names of shared servers: foreign characters, blurred edges, one the beginning of another."""
SHORT_NAMES = ("db", "github", "a/b", "_x")
"""Names of inline servers; one is also a shared server's."""
SERVER_TOOLS = (
    *("search", "read_file", "delete_repo", "delete_all", "get.item", "get_item", "get-item", "Get_Item"),
    *("__init__", "trail_", "*", "delete_*", "[x]", "b/c", "b", "ünï code", "end_deadbeef", "t" * 200),
)
"""Names of servers' tools; some are also native tools' names, some look like globs."""
NATIVES = (
    *("read_file", "write_file", "shell", "web_fetch", "memory_recall", "get_mcp_status", "search"),
    *("_under_", "A-b", "a_b", "ends_deadbeef", "n" * 64),
)
AGENTS = ("coder", "mcp_agent", "planner", "my agent", "a.b", "Ünit")
PACKS = ("system", "files", "web", "memory")
WORDS = ("List the open issues.", "Reads a file\nfrom disk.", "", "Sends <b>mail</b> # at once", "x" * 400)

_SCHEMAS: tuple[Mapping[str, Any], ...] = (
    {"type": "object"},
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3}, "deep": {"$ref": "#/$defs/d"}},
        "required": ["n", "deep"],
        "$defs": {"d": {"enum": ["on", "off"]}},
    },
    {"type": "object", "properties": {"v": {"type": "string", "pattern": "^[0-9]{4}$"}}, "required": ["v"]},
    {"type": "object", "properties": {}, "additionalProperties": False},
)
_LEVELS = st.sampled_from(Permission)


def names() -> st.SearchStrategy[str]:
    """Names that somebody might call: real ones, near ones, invented ones, junk."""
    known = (*SERVER_TOOLS, *NATIVES, "use_pack", "find_tools", "install_skill", "pdf", "mcp__github__search")
    prefixes = st.sampled_from(("", "mcp__", "functions.", "default_api:", "creating:", "tool_"))
    shapes = st.sampled_from((str, str.upper, str.title, lambda name: name.replace("_", "-")))
    near = st.builds(lambda p, n, f: p + f(n), prefixes, st.sampled_from(known), shapes)
    return near | st.text(max_size=30)


class _Dice:
    """Choices from one `draw`: each is an index, the plainest first, so it is quick to draw and to shrink."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        return self._draw(_indices(limit)) if limit > 1 else 0

    def rarely(self, times: int = 4) -> bool:
        """True once in so many times."""
        return self.below(times) == times - 1

    def one(self, items: Sequence[T]) -> T:
        """One of some items; the first is the plainest."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], most: int = 3, least: int = 0) -> list[T]:
        """Some of the items, each at most once."""
        left = list(items)
        count = min(least + self.below(most - least + 1), len(left))
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def seldom(self, items: Sequence[T], most: int) -> list[T]:
        """Mostly none, so that other rules get their say."""
        return self.some(items, most, 1) if self.rarely(8) else []

    def cut(self) -> Permission | None:
        """A ceiling that is mostly not there."""
        return self.one(tuple(Permission)) if self.rarely(12) else None


@cache
def _indices(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit - 1)


@dataclass(frozen=True)
class _Frame:
    """What lists may name."""

    agents: Sequence[str]
    lost: Sequence[str]
    natives: Sequence[str]
    handoffs: Sequence[str]
    packs: Sequence[str]
    shared: Sequence[str]
    inline: Mapping[str, Sequence[str]]
    catalogue: Catalogue

    @property
    def people(self) -> list[str]:
        """Whom owners and carriers may name."""
        return [*self.agents, *self.lost, "nobody"]

    @property
    def private(self) -> list[str]:
        """Full names of inline servers."""
        return [f"{name}.{short}" for name, shorts in self.inline.items() for short in shorts]

    def grants(self, of: str | None) -> list[str]:
        """Entries that a `tools` list may hold."""
        entries = ["*", "*/*", *self.natives, *self.handoffs[:2], *(f"pack:{one}" for one in self.packs)]
        for name in self.shared:
            entries += [f"{name}/*", f"pack:mcp:{name}"]
            entries += [f"{name}/{tool['name']}" for tool in self.catalogue.get(name, ())]
        return entries + [f"{short}/*" for short in self.inline.get(of or "", ())]

    def denials(self) -> list[str]:
        """Entries that a deny or approve list may hold."""
        entries = [*self.grants(None)[2:], *self.handoffs, "*/delete_*", "*/search", "read_*"]
        entries += [f"{name}/delete_*" for name in self.shared]
        entries += [f"{short}/*" for shorts in self.inline.values() for short in shorts]
        return [*entries, "*/*", "*"]


def _listing(dice: _Dice) -> list[Mapping[str, Any]]:
    found = dice.some(SERVER_TOOLS, 4)
    return [server_tool(name, dice.one(WORDS), dice.one(_SCHEMAS)) for name in found]


def _policy(dice: _Dice, frame: _Frame) -> ServerPolicy:
    levels = (Permission.EXECUTE, Permission.READ, Permission.DANGEROUS)
    single = {
        name: ToolPolicy(dice.one((None, *Permission)), dice.one((None, True, False)))
        for name in dice.some(SERVER_TOOLS[:4], 2)
    }
    return policy(
        exposure=dice.one((Exposure.AUTO, Exposure.PACKED, Exposure.DEFERRED, *Exposure)),
        access=dice.one((Access.OPEN, *Access)),
        owners=dice.some(frame.people, 2),
        carriers=dice.some(frame.people, 1),
        permission=dice.one(levels),
        approve=dice.rarely(),
        tools=single,
    )


def _pack_files(dice: _Dice, frame: _Frame) -> list[Pack]:
    free = [*frame.natives, *frame.handoffs, "registered_by_nobody"]
    exposures = (Exposure.PACKED, Exposure.PACKED, Exposure.DEFERRED, Exposure.DIRECT, Exposure.OFF)
    accesses = (Access.OPEN, Access.OWNERS, Access.HANDOFF)
    found = []
    for name in frame.packs:
        members = dice.some(free, 5, 1)
        free = [one for one in free if one not in members]
        found.append(
            pack(
                name,
                members,
                summary=dice.one(WORDS[:3]),
                exposure=dice.one(exposures),
                access=dice.one(accesses),
                owners=dice.some(frame.people, 2, 1),
                carriers=dice.some(frame.people, 1),
                direct=dice.some(members, 2),
            )
        )
    return found


def _agent_file(dice: _Dice, frame: _Frame, name: str) -> Agent:
    servers = [*frame.shared, *frame.private, "not configured"]
    inherit = dice.one((True, True, True, False, None))
    delegates = dice.some([*frame.agents, *frame.lost], 3) if dice.rarely(3) else "*"
    return agent(
        name,
        handoff=_handoff(name),
        tools=dice.one((None, ["*"], ["*"])) if dice.below(3) else dice.some(frame.grants(name), 4),
        disallowed_tools=dice.seldom(frame.denials(), 2),
        delegates="*" if isinstance(delegates, str) else delegates,
        mcp_servers=dice.some(servers, 2),
        inline=frame.inline.get(name, ()),
        inherit_mcp_servers=dice.some(servers, 2) if inherit is None else inherit,
        permission=dice.one((Permission.EXECUTE, Permission.READ, Permission.DANGEROUS)),
        ceiling=dice.cut(),
    )


def _handoff(name: str) -> str:
    """A hand-off's name that any agent's name can have."""
    telling = {"mcp_agent": "use_mcp_server", "coder": "run_skill", "planner": "setup_skills"}
    return telling.get(
        name, "delegate_to_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    )


def _frame(dice: _Dice) -> _Frame:
    shared = dice.some(SERVERS, 3)
    people = dice.some(AGENTS, 3)
    loaded = ["orchestrator", *people]
    inline = {name: dice.some(SHORT_NAMES, 1) for name in loaded if dice.rarely(3)}
    lost = [name for name in AGENTS[:3] if name not in people][: dice.below(2)]
    full = [f"{name}.{short}" for name, shorts in inline.items() for short in shorts]
    return _Frame(
        agents=loaded,
        lost=lost,
        natives=dice.some(NATIVES, 6, 2),
        handoffs=[_handoff(name) for name in (*loaded, *lost)],
        packs=dice.some(PACKS, 3, 1),
        shared=shared,
        inline=inline,
        catalogue={name: _listing(dice) for name in (*shared, *full)},
    )


def _workspace(dice: _Dice, frame: _Frame) -> Workspace:
    ceilings = (Permission.DANGEROUS, Permission.EXECUTE, Permission.DANGEROUS, Permission.READ)
    budgets = (Budget(), Budget(120, belt_tokens=200), Budget(belt_tokens=100), Budget(60))
    short = [one for each in frame.inline.values() for one in each]
    return make_workspace(
        tools=[
            native(
                name,
                dice.one(WORDS),
                dice.one(_SCHEMAS),
                permission=dice.one((None, Permission.READ, Permission.EXECUTE, Permission.DANGEROUS)),
                approve=dice.rarely(),
            )
            for name in frame.natives
        ],
        packs=_pack_files(dice, frame),
        agents=[_agent_file(dice, frame, name) for name in frame.agents],
        broken_agents=[broken(name, handoff=_handoff(name)) for name in frame.lost],
        servers=[name for name in frame.shared if not dice.rarely()],  # the others come at run time
        policies={name: _policy(dice, frame) for name in dice.some(["*", *frame.shared, *short], 2)},
        skills=[skill("pdf", "Reads PDF files.")] if dice.below(2) else [],
        default_tools="none" if dice.rarely(5) else "inherit",
        ceiling=dice.one(ceilings),
        deny=dice.seldom(frame.denials(), 2),
        approve=dice.some(frame.denials(), 2),
        budget=dice.one(budgets),
        lock=_lock(dice, frame.catalogue) if dice.rarely(5) else None,
    )


def _lock(dice: _Dice, catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """A lock that accepts most of what the servers list."""
    return {
        name: {
            tool.name: "sha256:0" if dice.rarely() else tool.digest for tool in server_tools(name, listed)[0]
        }
        for name, listed in catalogue.items()
        if dice.below(2)
    }


def _snapshot(dice: _Dice, workspace: Workspace, frame: _Frame) -> Snapshot:
    there = {name: listed for name, listed in frame.catalogue.items() if not dice.rarely(8)}
    status = {name: dice.one(tuple(ServerStatus)) for name in there if dice.rarely(5)}
    ids = [str(tool.id) for name, listed in there.items() for tool in server_tools(name, listed)[0]]
    ids += [str(tool.id) for tool in workspace.tools] + ["native:use_pack", "native:gone"]
    placed: tuple[Placed | None, ...] = (None, "direct", "packed", "deferred")
    admitted = dice.some(ids, 5) if dice.rarely(3) else []
    entries = [one for one in frame.denials() if "/" not in one and not one.startswith("pack:mcp:")]
    entries += [f"{name}/*" for name in there if name in frame.shared]
    return make_snapshot(
        there,
        status=status,
        skills=[skill("pdf", "Reads PDF files.")] if dice.rarely() else None,
        disabled_agents=dice.seldom(frame.agents, 1),
        ceiling=dice.cut(),
        deny=dice.seldom(entries, 1),
        approve=dice.some(entries, 1),
        admitted=[Admitted(one, dice.one(placed)) for one in admitted],
    )


def _scope(dice: _Dice, workspace: Workspace, snapshot: Snapshot, frame: _Frame) -> Scope:
    scope = Scope(dice.one(["orchestrator", *frame.agents]))
    known = sorted({*workspace.servers, *workspace.inline, *snapshot.servers})
    for _ in range(dice.below(3)):
        name = dice.one(frame.agents)
        scope = scope.spawn(
            name,
            mcp_servers=dice.some(known, 3) if dice.rarely() else None,
            tools=dice.some(frame.grants(name), 3) if dice.rarely() else None,
            deny=dice.seldom(frame.denials(), 1),
            approve=dice.some(frame.denials(), 1),
            ceiling=dice.cut(),
        )
    try:
        make_belt(workspace, snapshot, scope)
    except SelectorError:  # a cut names a server that is not there
        return path_of(*scope.path)
    return scope


@st.composite
def listings(draw: st.DrawFn) -> list[Mapping[str, Any]]:
    """What one server lists: entries of `tools/list` with distinct names."""
    return _listing(_Dice(draw))


@st.composite
def workspaces(draw: st.DrawFn) -> Workspace:
    """Workspaces: packs, agents, policies, denies, ceilings, broken files."""
    dice = _Dice(draw)
    return _workspace(dice, _frame(dice))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Workspaces with a snapshot and a scope: spawned up to two deep, with cuts."""
    dice = _Dice(draw)
    frame = _frame(dice)
    workspace = _workspace(dice, frame)
    snapshot = _snapshot(dice, workspace, frame)
    scope = _scope(dice, workspace, snapshot, frame)
    grants, denials = frame.grants(scope.agent), frame.denials()
    return World(workspace, snapshot, scope, frame.catalogue, grants, denials)


__all__ = [
    "AGENTS",
    "NATIVES",
    "PACKS",
    "SERVERS",
    "SERVER_TOOLS",
    "Catalogue",
    "World",
    "listings",
    "names",
    "workspaces",
    "worlds",
]
