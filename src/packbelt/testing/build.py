"""Workspaces and snapshots in memory, for tests: small things said in few words.

```python
workspace = make_workspace(
    tools=["read_file", native("shell", permission="dangerous")],
    packs=[pack("system", ["read_file"], summary="The system's files.")],
    agents=[
        agent("orchestrator", tools=["*"], delegates="*"),
        agent("mcp_agent", handoff="use_mcp_server", tools=["*/*"]),
    ],
    policies={"*": policy(access="handoff", owners=["mcp_agent"])},
)
snapshot = make_snapshot({"github": ["search", server_tool("delete_repo", "Deletes it.")]})
belt = make_belt(workspace, snapshot, "orchestrator")
```

Everything goes through the constructors that the loader uses, and everything left out has the default that
a file without the key has. Levels and modes are written as in the files (`"execute"`, `"packed"`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from packbelt.belt import Belt, Scope, belt_of
from packbelt.catalog.discover import embedded_root
from packbelt.catalog.forms import native_tool
from packbelt.catalog.handoffs import handoff_tools
from packbelt.catalog.inherited import Files
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import Admitted, Snapshot
from packbelt.catalog.templates import read_templates
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import (
    Agent,
    BrokenAgent,
    Budget,
    Config,
    Pack,
    ServerPolicy,
    ServerSpec,
    Skill,
    Template,
    ToolPolicy,
    Workspace,
)
from packbelt.model import (
    NATIVE,
    Access,
    Exposure,
    Origin,
    Permission,
    Selector,
    ServerStatus,
    Tool,
    Where,
    WorkspaceError,
)

Level = Permission | str | None
ListedTool = str | Mapping[str, Any]
"""An entry of `tools/list`, or a bare name."""


def level(said: Level) -> Permission | None:
    """A permission from its word; None stays None."""
    return Permission.parse(said) if isinstance(said, str) else said


def selectors(
    entries: Iterable[str | Selector], file: str = "", *, lenient: bool = False
) -> tuple[Selector, ...]:
    """Entries of a list as selectors.

    Args:
        entries: as written.
        file: the file they stand in; the n-th entry is said to be on line n.
        lenient: whether they come from another tool's format.
    """
    return tuple(
        entry
        if isinstance(entry, Selector)
        else Selector(entry, Where(file, line) if file else None, lenient)
        for line, entry in enumerate(entries, 1)
    )


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    """An object schema: `schema("query", limit={"type": "integer"})`; what is only required is a string."""
    known = {name: {"type": "string"} for name in required} | properties
    return {"type": "object", "properties": known, "required": list(required)}


def native(
    name: str,
    description: str = "",
    input_schema: Mapping[str, Any] | None = None,
    *,
    permission: Level = None,
    approve: bool = False,
) -> Tool:
    """A tool that the host runs."""
    return native_tool(
        NATIVE,
        name,
        description,
        input_schema or {"type": "object"},
        permission=level(permission),
        approve=approve,
        where=Where("tools.py", 1),
    )


def server_tool(
    name: str, description: str = "", input_schema: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {
        "name": name,
        "description": description,
        "inputSchema": input_schema or {"type": "object"},
        **more,
    }


def pack(
    pack_id: str,
    members: Iterable[str] = (),
    *,
    summary: str = "",
    exposure: Exposure | str = Exposure.PACKED,
    access: Access | str = Access.OPEN,
    owners: Iterable[str] = (),
    carriers: Iterable[str] = (),
    direct: Iterable[str] = (),
    guide: str = "",
) -> Pack:
    """A pack's file."""
    return Pack(
        id=pack_id,
        summary=summary,
        exposure=Exposure(exposure),
        access=Access(access),
        owners=tuple(owners),
        carriers=tuple(carriers),
        direct=tuple(direct),
        guide=guide,
        members=tuple(members),
        file=f"packs/{pack_id}.yaml",
    )


def policy(
    *,
    exposure: Exposure | str = Exposure.AUTO,
    access: Access | str = Access.OPEN,
    owners: Iterable[str] = (),
    carriers: Iterable[str] = (),
    permission: Level = Permission.EXECUTE,
    approve: bool = False,
    concurrency: int = 8,
    tools: Mapping[str, ToolPolicy | Mapping[str, Any]] | None = None,
) -> ServerPolicy:
    """An entry of `servers:`, already merged over that of `"*"`; the parameters are its keys.

    `tools` says something of single tools: `{"delete_repo": {"permission": "dangerous"}}`.
    """
    said = {
        name: one
        if isinstance(one, ToolPolicy)
        else ToolPolicy(level(one.get("permission")), one.get("approve"))
        for name, one in (tools or {}).items()
    }
    return ServerPolicy(
        exposure=Exposure(exposure),
        access=Access(access),
        owners=tuple(owners),
        carriers=tuple(carriers),
        permission=level(permission) or Permission.NONE,
        approve=approve,
        concurrency=concurrency,
        tools=said,
        where=Where("packbelt.yaml", 1),
    )


def server(name: str, *, owner: str | None = None, required: bool = False) -> ServerSpec:
    """A configured server; with an owner, one that this agent declares inline."""
    full = f"{owner}.{name}" if owner is not None else name
    where = Where(f"prompts/agents/{owner}.md" if owner is not None else ".mcp.json", 1)
    return ServerSpec(full, "stdio", command="serve", required=required, owner=owner, where=where)


def agent(
    name: str,
    *,
    description: str | None = None,
    handoff: str | None = None,
    tools: Iterable[str | Selector] | None = None,
    disallowed_tools: Iterable[str | Selector] = (),
    delegates: Iterable[str] | Literal["*"] = (),
    mcp_servers: Iterable[str] = (),
    inline: Iterable[str] = (),
    inherit_mcp_servers: bool | Iterable[str] = True,
    skills: Iterable[str] | None = None,
    permission: Level = Permission.EXECUTE,
    ceiling: Level = None,
    body: str = "",
    lenient: bool = False,
) -> Agent:
    """An agent's file; the parameters are its keys.

    `inline` are the short names of the servers that it declares for itself; `lenient` says that it was
    imported from another tool's format.
    """
    file = f"prompts/agents/{name}.md"
    keep = inherit_mcp_servers
    return Agent(
        name=name,
        description=f"Does the work of {name}." if description is None else description,
        handoff=f"delegate_to_{name}" if handoff is None else handoff,
        tools=None if tools is None else selectors(tools, file, lenient=lenient),
        disallowed_tools=selectors(disallowed_tools, file, lenient=lenient),
        delegates="*" if delegates == "*" else tuple(delegates),
        mcp_servers=tuple(mcp_servers),
        inline=tuple(f"{name}.{short}" for short in inline),
        inherit_mcp_servers=keep if isinstance(keep, bool) else tuple(keep),
        skills=None if skills is None else tuple(skills),
        permission=level(permission) or Permission.NONE,
        ceiling=level(ceiling),
        body=body,
        is_template=not lenient,
        file=file,
    )


def broken(name: str, *, handoff: str | None = None, problem: str = "front matter has no end") -> BrokenAgent:
    """An agent whose file did not load."""
    file = f"prompts/agents/{name}.md"
    error = WorkspaceError(problem, where=Where(file, 1), mend="mend the file", name=name)
    return BrokenAgent(name, f"delegate_to_{name}" if handoff is None else handoff, error, file)


def skill(name: str, description: str = "") -> Skill:
    """An installed skill."""
    return Skill(name, description, f"skills/{name}", Where(f"skills/{name}/SKILL.md", 1))


def make_workspace(
    *,
    tools: Iterable[Tool | str] = (),
    packs: Iterable[Pack] = (),
    agents: Iterable[Agent] = (),
    broken_agents: Iterable[BrokenAgent] = (),
    servers: Iterable[ServerSpec | str] = (),
    required: Iterable[str] = (),
    policies: Mapping[str, ServerPolicy] | None = None,
    skills: Iterable[Skill] = (),
    orchestrator: str = "orchestrator",
    default_tools: Literal["inherit", "none"] = "inherit",
    ceiling: Level = Permission.EXECUTE,
    deny: Iterable[str | Selector] = (),
    approve: Iterable[str | Selector] = (),
    opener: str = "use_pack",
    budget: Budget | None = None,
    handlers: Mapping[str, Callable[..., Any]] | None = None,
    templates: Mapping[str, Template] | None = None,
    lock: Mapping[str, Mapping[str, str]] | None = None,
    root: Path = Path("workspace"),
) -> Workspace:
    """A workspace in memory; the parameters are the keys of `packbelt.yaml` and the files beside it.

    Hand-offs are made from the agents, broken ones included, as the loader does. Where no agent is the
    orchestrator, it has the implied one: `tools` absent, `delegates: "*"`. `tools` and `servers` take names
    for what needs no more; inline servers are taken from the agents, and `required` holds the full names
    (`<agent>.<name>`) of those that are. `policies` are the entries of `servers:`. Without `templates` it has
    packbelt's own.
    """
    loaded = {one.name: one for one in agents}
    lost = {one.name: one for one in broken_agents}
    if orchestrator not in loaded and orchestrator not in lost:
        loaded[orchestrator] = agent(orchestrator, delegates="*")
    configured = [server(one) if isinstance(one, str) else one for one in servers]
    needed = set(required)
    inline = {
        full: server(full.removeprefix(f"{one.name}."), owner=one.name, required=full in needed)
        for one in loaded.values()
        for full in one.inline
    }
    made = [native(one) if isinstance(one, str) else one for one in tools]
    config = Config(
        orchestrator=orchestrator,
        default_tools=default_tools,
        ceiling=level(ceiling) or Permission.NONE,
        deny=selectors(deny, "packbelt.yaml"),
        approve=selectors(approve, "packbelt.yaml"),
        opener=opener,
        servers=policies or {},
        budget=budget or Budget(),
        file="packbelt.yaml",
    )
    shared = {one.name: one for one in configured}
    made += handoff_tools(loaded, lost, orchestrator, Files(config, shared, inline))
    return Workspace(
        root=root,
        embedded=False,
        config=config,
        packs={one.id: one for one in sorted(packs, key=lambda one: one.id)},
        agents=dict(sorted(loaded.items())),
        broken=dict(sorted(lost.items())),
        servers=shared,
        inline=inline,
        skills=tuple(skills),
        tools=tuple(sorted(made, key=lambda one: one.wire_name)),
        templates=_shipped_templates() if templates is None else templates,
        handlers=handlers or {},
        lock=lock,
    )


@cache
def _shipped_templates() -> Mapping[str, Template]:
    """The section templates that packbelt ships: those of every workspace that brings none."""
    root = embedded_root()
    return read_templates(Tree(root), Origin.EMBEDDED)[0]


def make_snapshot(
    servers: Mapping[str, Iterable[ListedTool]] | None = None,
    *,
    status: Mapping[str, ServerStatus | str] | None = None,
    errors: Mapping[str, str] | None = None,
    instructions: Mapping[str, str] | None = None,
    skills: Iterable[Skill] | None = None,
    disabled_agents: Iterable[str] = (),
    ceiling: Level = None,
    deny: Iterable[str | Selector] = (),
    approve: Iterable[str | Selector] = (),
    admitted: Iterable[Admitted | str] = (),
) -> Snapshot:
    """A snapshot in memory; the parameters are the keys of a snapshot file.

    `servers` says what each server lists, `status` which of them are not connected now (one that never
    listed anything need not be in `servers`), `errors` why one failed, in one line.
    """
    snapshot = Snapshot(
        skills=None if skills is None else tuple(skills),
        disabled_agents=tuple(disabled_agents),
        ceiling=level(ceiling),
        deny=selectors(deny),
        approve=selectors(approve),
        admitted=tuple(Admitted(one) if isinstance(one, str) else one for one in admitted),
    )
    for name, listed in (servers or {}).items():
        entries = [server_tool(one) if isinstance(one, str) else one for one in listed]
        snapshot = snapshot.connect(name, entries, instructions=(instructions or {}).get(name))
    for name, said in (status or {}).items():
        snapshot = snapshot.mark(name, ServerStatus(said), (errors or {}).get(name, ""))
    return snapshot


def make_belt(
    workspace: Workspace, snapshot: Snapshot | None = None, scope: Scope | str = "orchestrator"
) -> Belt:
    """The belt of an agent or a scope, whether or not the agent can start.

    Raises:
        AgentBrokenError, UnknownAgentError: an agent on the path cannot be used.
        SelectorError: a spawn names what does not exist.
    """
    asked = Scope(scope) if isinstance(scope, str) else scope
    return belt_of(bind(workspace, Snapshot() if snapshot is None else snapshot), asked)


def path_of(*agents: str) -> Scope:
    """The scope at the end of a path of agents whose spawns cut nothing."""
    scope = Scope(agents[0])
    for name in agents[1:]:
        scope = scope.spawn(name)
    return scope


def states(belt: Belt) -> dict[str, str]:
    """The state of every known tool by wire name, as plain words, for comparisons in tests."""
    return {name: str(belt[name].state) for name in belt}


__all__: Sequence[str] = [
    "agent",
    "broken",
    "level",
    "make_belt",
    "make_snapshot",
    "make_workspace",
    "native",
    "pack",
    "path_of",
    "policy",
    "schema",
    "selectors",
    "server",
    "server_tool",
    "skill",
    "states",
]
