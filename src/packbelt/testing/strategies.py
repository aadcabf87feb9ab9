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
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from packbelt.belt import Belt, Scope
from packbelt.catalog.forms import server_tools
from packbelt.catalog.snapshot import Admitted, Snapshot
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

Catalogue = Mapping[str, Sequence[Mapping[str, Any]]]
"""What each server lists when it is connected, by full name."""

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


def _some(items: Sequence[Any], most: int = 3) -> st.SearchStrategy[list[Any]]:
    if not items:
        return st.just([])
    return st.lists(st.sampled_from(items), max_size=most, unique=True)


@st.composite
def listings(draw: st.DrawFn, most: int = 4) -> list[Mapping[str, Any]]:
    """What one server lists: tools with distinct names."""
    found = draw(_some(SERVER_TOOLS, most))
    if draw(st.integers(0, 9)) == 0:
        found = [*found, draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8))]
    return [
        server_tool(name, draw(st.sampled_from(WORDS)), draw(st.sampled_from(_SCHEMAS)))
        for name in dict.fromkeys(found)
    ]


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

    def grants(self, of: str | None) -> list[str]:
        """Entries that a `tools` list may hold."""
        entries = ["*", "*/*", *self.natives, *self.handoffs[:2], *(f"pack:{one}" for one in self.packs)]
        for name in self.shared:
            entries += [f"{name}/*", f"pack:mcp:{name}"]
            entries += [f"{name}/{tool['name']}" for tool in self.catalogue.get(name, ())]
        return entries + [f"{short}/*" for short in self.inline.get(of or "", ())]

    def denials(self) -> list[str]:
        """Entries that a deny or approve list may hold."""
        entries = [*self.grants(None), *self.handoffs, "*/delete_*", "*/search", "read_*"]
        entries += [f"{name}/delete_*" for name in self.shared]
        return entries + [f"{short}/*" for shorts in self.inline.values() for short in shorts]


def _policies(frame: _Frame) -> st.SearchStrategy[ServerPolicy]:
    people = [*frame.agents, *frame.lost, "nobody"]
    single = st.builds(ToolPolicy, st.none() | _LEVELS, st.none() | st.booleans())
    return st.builds(
        lambda exposure, access, owners, carriers, permission, approve, tools: policy(
            exposure=exposure,
            access=access,
            owners=owners,
            carriers=carriers,
            permission=permission,
            approve=approve,
            tools=tools,
        ),
        st.sampled_from((Exposure.AUTO, *Exposure)),
        st.sampled_from((Access.OPEN, *Access)),
        _some(people, 2),
        _some(people, 1),
        st.sampled_from((Permission.READ, Permission.EXECUTE, Permission.EXECUTE, Permission.DANGEROUS)),
        st.booleans(),
        st.dictionaries(st.sampled_from(SERVER_TOOLS[:4]), single, max_size=2),
    )


@st.composite
def _packs(draw: st.DrawFn, frame: _Frame) -> list[Pack]:
    free = [*frame.natives, *frame.handoffs, "registered_by_nobody"]
    people = [*frame.agents, *frame.lost, "nobody"]
    found = []
    for name in frame.packs:
        members = draw(_some(free, 5))
        free = [one for one in free if one not in members]
        found.append(
            pack(
                name,
                members,
                summary=draw(st.sampled_from(WORDS[:3])),
                exposure=draw(
                    st.sampled_from((Exposure.PACKED, *(e for e in Exposure if e is not Exposure.AUTO)))
                ),
                access=draw(st.sampled_from(Access)),
                owners=draw(_some(people, 2)),
                carriers=draw(_some(people, 1)),
                direct=draw(_some(members, 2)),
            )
        )
    return found


@st.composite
def _agents(draw: st.DrawFn, frame: _Frame, name: str) -> Agent:
    servers = [*frame.shared, "not configured"]
    own = [f"{name}.{short}" for short in frame.inline.get(name, ())]
    others = [f"{other}.{short}" for other, shorts in frame.inline.items() for short in shorts]
    people = [*frame.agents, *frame.lost]
    everyone = st.just("*")
    return agent(
        name,
        handoff=_handoff(name),
        tools=draw(st.none() | st.just(["*"]) | _some(frame.grants(name), 4)),
        disallowed_tools=draw(st.just([]) | _some(frame.denials(), 2)),
        delegates=draw(everyone | _some(people, 3)),
        mcp_servers=draw(_some([*servers, *others], 2)),
        inline=[one.removeprefix(f"{name}.") for one in own],
        inherit_mcp_servers=draw(
            st.sampled_from((True, True, False)) | _some([*servers, *others], 2).map(tuple)
        ),
        permission=draw(st.sampled_from((Permission.EXECUTE, Permission.READ, Permission.DANGEROUS))),
        ceiling=draw(st.none() | st.none() | _LEVELS),
    )


def _handoff(name: str) -> str:
    """A hand-off's name that any agent's name can have."""
    return {"mcp_agent": "use_mcp_server", "coder": "run_code"}.get(
        name, "delegate_to_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    )


@st.composite
def _worlds(draw: st.DrawFn) -> tuple[Workspace, Catalogue, _Frame]:
    shared = draw(_some(SERVERS, 3))
    people = draw(_some(AGENTS, 3))
    loaded = ["orchestrator", *people]
    inline = {name: draw(_some(SHORT_NAMES, 1)) for name in loaded if draw(st.integers(0, 2)) == 0}
    lost = [name for name in AGENTS[:3] if name not in people][: draw(st.integers(0, 1))]
    full = [f"{name}.{short}" for name, shorts in inline.items() for short in shorts]
    catalogue = {name: draw(listings()) for name in (*shared, *full)}
    frame = _Frame(
        agents=loaded,
        lost=lost,
        natives=draw(_some(NATIVES, 6)),
        handoffs=[_handoff(name) for name in (*loaded, *lost)],
        packs=draw(_some(PACKS, 3)),
        shared=shared,
        inline=inline,
        catalogue=catalogue,
    )
    workspace = make_workspace(
        tools=[
            native(
                name,
                draw(st.sampled_from(WORDS)),
                draw(st.sampled_from(_SCHEMAS)),
                permission=draw(st.none() | st.sampled_from((Permission.READ, Permission.DANGEROUS))),
                approve=draw(st.booleans()),
            )
            for name in frame.natives
        ],
        packs=draw(_packs(frame)),
        agents=[draw(_agents(frame, name)) for name in loaded],
        broken_agents=[broken(name, handoff=_handoff(name)) for name in lost],
        servers=[name for name in shared if draw(st.integers(0, 3))],  # the others come at run time
        policies=draw(
            st.dictionaries(
                st.sampled_from(("*", "*", *shared, *(s for each in inline.values() for s in each))),
                _policies(frame),
                max_size=2,
            )
        ),
        skills=[skill("pdf", "Reads PDF files.")] if draw(st.booleans()) else [],
        default_tools=draw(st.sampled_from(("inherit", "inherit", "none"))),
        ceiling=draw(st.sampled_from((Permission.EXECUTE, Permission.DANGEROUS, Permission.READ))),
        deny=draw(st.just([]) | _some(frame.denials(), 2)),
        approve=draw(_some(frame.denials(), 2)),
        budget=draw(
            st.sampled_from(
                (Budget(), Budget(server_tokens=120, belt_tokens=200), Budget(belt_tokens=100), Budget(60))
            )
        ),
        lock=_lock(draw, catalogue) if draw(st.integers(0, 4)) == 0 else None,
    )
    return workspace, catalogue, frame


def _lock(draw: st.DrawFn, catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """A lock that accepts most of what the servers list."""
    return {
        name: {
            tool.name: tool.digest if draw(st.integers(0, 3)) else "sha256:0"
            for tool in server_tools(name, listed)[0]
        }
        for name, listed in catalogue.items()
        if draw(st.booleans())
    }


def workspaces() -> st.SearchStrategy[Workspace]:
    """Workspaces: packs, agents, policies, denies, ceilings, broken files."""
    return _worlds().map(lambda world: world[0])


@st.composite
def _snapshots(draw: st.DrawFn, workspace: Workspace, catalogue: Catalogue, frame: _Frame) -> Snapshot:
    there = {name: listed for name, listed in catalogue.items() if draw(st.integers(0, 7))}
    status = {}
    for name in there:
        if draw(st.integers(0, 4)) == 0:
            status[name] = draw(st.sampled_from(ServerStatus))
    ids = [str(tool.id) for name, listed in there.items() for tool in server_tools(name, listed)[0]]
    ids += [str(tool.id) for tool in workspace.tools] + ["native:use_pack", "native:gone"]
    placed = st.sampled_from((None, "direct", "packed", "deferred"))
    admitted = st.lists(
        st.builds(Admitted, st.sampled_from(ids), placed), max_size=5, unique_by=lambda one: one.id
    )
    entries = [one for one in frame.denials() if "/" not in one or one.startswith(("*", "pack:"))]
    entries += [f"{name}/*" for name in there if name in frame.shared]
    return make_snapshot(
        there,
        status=status,
        skills=draw(st.none() | st.just([skill("pdf", "Reads PDF files.")])),
        disabled_agents=draw(_some(frame.agents, 1)),
        ceiling=draw(st.none() | st.none() | _LEVELS),
        deny=draw(st.just([]) | _some(entries, 1)),
        approve=draw(_some(entries, 1)),
        admitted=draw(st.just([]) | admitted),
    )


@st.composite
def _scopes(draw: st.DrawFn, workspace: Workspace, snapshot: Snapshot, frame: _Frame) -> Scope:
    people = list(workspace.agents)
    scope = Scope(draw(st.sampled_from(("orchestrator", *people))))
    known = sorted({*workspace.servers, *workspace.inline, *snapshot.servers})
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(people))
        scope = scope.spawn(
            name,
            mcp_servers=draw(st.none() | _some(known, 3)),
            tools=draw(st.none() | st.none() | _some(frame.grants(name), 3)),
            deny=draw(st.just([]) | _some(frame.denials(), 1)),
            approve=draw(_some(frame.denials(), 1)),
            ceiling=draw(st.none() | st.none() | _LEVELS),
        )
    try:
        make_belt(workspace, snapshot, scope)
    except SelectorError:  # a cut names a server that is not there
        return path_of(*scope.path)
    return scope


@dataclass(frozen=True)
class World:
    """A workspace, a snapshot and a scope that fit together.

    Attributes:
        workspace: what may exist.
        snapshot: what is true now.
        scope: who asks.
        catalogue: what each server lists when it is connected.
        grants: entries that the asking agent's `tools` list may hold.
        denials: entries that a deny list may hold.
    """

    workspace: Workspace
    snapshot: Snapshot
    scope: Scope
    catalogue: Catalogue
    grants: Sequence[str]
    denials: Sequence[str]

    def belt(self) -> Belt:
        """The belt of the scope, whether or not its agent can start."""
        return make_belt(self.workspace, self.snapshot, self.scope)

    def but(self, **changed: Any) -> "World":
        """The same world with other parts."""
        return replace(self, **changed)

    def __repr__(self) -> str:
        """Short: hypothesis prints it once for each failing example."""
        agents = ", ".join(
            f"{a.name}(tools={None if a.tools is None else [s.text for s in a.tools]}, "
            f"disallowed={[s.text for s in a.disallowed_tools]}, delegates={a.delegates}, "
            f"mcp_servers={a.mcp_servers}, inherit={a.inherit_mcp_servers}, inline={a.inline}, "
            f"ceiling={a.ceiling})"
            for a in self.workspace.agents.values()
        )
        packs = ", ".join(
            f"{p.id}({p.exposure}, {p.access}, owners={p.owners}, carriers={p.carriers}, direct={p.direct}, "
            f"members={p.members})"
            for p in self.workspace.packs.values()
        )
        config = self.workspace.config
        servers = {n: (str(s.status), list(s.by_name)) for n, s in self.snapshot.servers.items()}
        return (
            f"World(agents=[{agents}], packs=[{packs}], broken={list(self.workspace.broken)}, "
            f"configured={list(self.workspace.servers)}, policies={dict(config.servers)}, "
            f"default_tools={config.default_tools}, ceiling={config.ceiling}, budget={config.budget}, "
            f"deny={[s.text for s in config.deny]}, lock={self.workspace.lock}, servers={servers}, "
            f"snapshot_deny={[s.text for s in self.snapshot.deny]}, "
            f"snapshot_ceiling={self.snapshot.ceiling}, disabled={self.snapshot.disabled_agents}, "
            f"admitted={self.snapshot.admitted}, scope={self.scope})"
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Workspaces with a snapshot and a scope: spawned up to two deep, with cuts."""
    workspace, catalogue, frame = draw(_worlds())
    snapshot = draw(_snapshots(workspace, catalogue, frame))
    scope = draw(_scopes(workspace, snapshot, frame))
    return World(workspace, snapshot, scope, catalogue, frame.grants(scope.agent), frame.denials())


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
