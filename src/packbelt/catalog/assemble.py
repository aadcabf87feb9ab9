"""Files into one `Workspace`, each held against the others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packbelt.catalog import claude
from packbelt.catalog.config import read_config
from packbelt.catalog.drafts import Broken, Draft, break_agent, broken_diagnostic
from packbelt.catalog.fleet import Item, read_agents, unread
from packbelt.catalog.handoffs import Names, handoff_tools, settle
from packbelt.catalog.inherited import Files
from packbelt.catalog.itself import left_out, serves_itself
from packbelt.catalog.lock import read_lock
from packbelt.catalog.names import hashed_handoff, safe_handoff
from packbelt.catalog.natives import read_natives
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.packs import PackFileRead, read_packs
from packbelt.catalog.selectors import Known, check_denials, check_grants, check_matched, unheld
from packbelt.catalog.servers import FILE as SERVERS_FILE
from packbelt.catalog.servers import Servers, read_servers
from packbelt.catalog.skills import read_skills
from packbelt.catalog.templates import read_templates
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import (
    Agent,
    BrokenAgent,
    Config,
    ServerSpec,
    Template,
    Workspace,
)
from packbelt.model import (
    Code,
    Diagnostic,
    Level,
    Origin,
    PackbeltError,
    Tool,
    Where,
    WorkspaceError,
)

IMPLIED_BODY = """\
You take the user's request, do yourself what your own tools are for, and hand the rest to the agent whose \
job it is. Answer with what came back.

{{ sections.routing }}

{{ sections.capabilities }}

{{ sections.connected_mcp_servers }}

{{ sections.installed_skills }}"""


def assemble(root: Path, embedded: Path, given: Sequence[Callable[..., Any] | Tool]) -> Workspace:
    """The workspace in a directory.

    Args:
        root: the directory.
        embedded: packbelt's own workspace, whose section templates every workspace has.
        given: the host's native tools.

    Raises:
        WorkspaceError: see `load`.
    """
    tree = Tree(root)
    own = tree.root == embedded.resolve()
    origin = Origin.EMBEDDED if own else Origin.PROJECT
    config = read_config(tree)
    packs = read_packs(tree)
    natives, handlers = _natives(packs, given)
    names = Names.of(config.opener, natives)
    diagnostics: list[Diagnostic] = []
    plugins_only = config.plugins_only and not own
    servers = _without_servers(read_servers(tree)) if plugins_only else read_servers(tree)
    diagnostics += servers.diagnostics
    items, remarks = read_agents(tree, origin)
    diagnostics += remarks
    if plugins_only:
        items = [_without_own_servers(item, diagnostics) for item in items]
    known = _known(config, packs, natives, servers, items)
    items = [_checked(item, known, servers, diagnostics) for item in items]
    items = [_without_this_gateway(item, tree.root, diagnostics) for item in items]
    agents, broken = settle(items, names, diagnostics)
    inline = _inline(items, agents, servers)
    if config.orchestrator not in agents and config.orchestrator not in broken:
        if files := unread(items):
            broken = {config.orchestrator: _doubtful_root(config.orchestrator, names, files), **broken}
            diagnostics.append(broken_diagnostic(config.orchestrator, broken[config.orchestrator].error))
        else:
            diagnostics += _unknown_root(config, {*agents, *broken})
            agents = {config.orchestrator: _implied(config.orchestrator, origin), **agents}
    unusable = _unusable(items, agents, servers, inline)
    said = Files(config, servers.specs, inline)
    tools = [*natives.values(), *handoff_tools(agents, broken, config.orchestrator, said)]
    everything = replace(
        known,
        names=known.names | {tool.name for tool in tools},
        servers=known.servers | set(inline) | {spec.short_name for spec in inline.values()} | set(unusable),
    )
    check_matched(config.deny, "deny", everything)
    check_matched(config.approve, "approve", everything)
    for key, selectors in (("deny", config.deny), ("approve", config.approve)):
        diagnostics += unheld(selectors, key, everything, SERVERS_FILE)
    skills, remarks_on_skills = read_skills(tree, config.skills)
    diagnostics += remarks_on_skills
    return Workspace(
        root=tree.root,
        embedded=own,
        config=config,
        packs={read.pack.id: read.pack for read in packs},
        agents=agents,
        broken=broken,
        servers=servers.specs,
        inline=inline,
        skills=skills,
        tools=tuple(sorted(tools, key=lambda tool: tool.wire_name)),
        templates=_templates(tree, embedded, origin, diagnostics),
        handlers=handlers,
        lock=read_lock(tree),
        diagnostics=tuple(diagnostics),
        unusable_servers=unusable,
    )


def _natives(
    packs: Iterable[PackFileRead], given: Sequence[Callable[..., Any] | Tool]
) -> tuple[dict[str, Tool], dict[str, Callable[..., Any]]]:
    """Native tools by name. A callable that a pack defines in full is its handler; the definition stays."""
    hosts, handlers = read_natives(given)
    defined = {tool.name: tool for read in packs for tool in read.tools}
    for name, tool in hosts.items():
        if name in defined and name not in handlers and tool.digest != defined[name].digest:
            raise WorkspaceError(
                f"the pack's definition of {name!r} is not that of the tool which the host gives",
                where=defined[name].where,
                mend="name the tool in the pack without defining it",
                name=name,
            )
    return {**hosts, **defined}, handlers


def _without_servers(servers: Servers) -> Servers:
    if not servers.specs:
        return servers
    note = Diagnostic(
        Level.NOTE,
        Code.SERVER_IGNORED,
        f"`plugins_only` is set: {len(servers.specs)} servers of {SERVERS_FILE} are left out",
        Where(SERVERS_FILE),
    )
    return replace(
        servers, specs={}, unusable=dict.fromkeys(servers.named, ""), diagnostics=(*servers.diagnostics, note)
    )


def _without_own_servers(item: Item, diagnostics: list[Diagnostic]) -> Item:
    if isinstance(item, Broken) or not (item.agent.mcp_servers or item.inline):
        return item
    agent = item.agent
    message = f"`plugins_only` is set: the `mcp_servers` of agent {agent.name!r} are left out"
    where = agent.where("mcp_servers")
    diagnostics.append(Diagnostic(Level.NOTE, Code.SERVER_IGNORED, message, where, name=agent.name))
    return replace(item, agent=replace(agent, mcp_servers=(), inline=()), inline={}, unusable={})


def _without_this_gateway(item: Item, root: Path, diagnostics: list[Diagnostic]) -> Item:
    """The agent without inline servers that would start this workspace's own gateway."""
    if isinstance(item, Broken):
        return item
    own = {name: spec for name, spec in item.inline.items() if serves_itself(spec, root)}
    if not own:
        return item
    diagnostics += (left_out(spec) for spec in own.values())
    left = {name: spec for name, spec in item.inline.items() if name not in own}
    agent = replace(item.agent, inline=tuple(name for name in item.agent.inline if name not in own))
    return replace(item, agent=agent, inline=left, unusable={**item.unusable, **dict.fromkeys(own, "")})


def _known(
    config: Config,
    packs: Iterable[PackFileRead],
    natives: Mapping[str, Tool],
    servers: Servers,
    items: Iterable[Item],
) -> Known:
    """What the files name; a server that `packbelt.yaml` has a policy for may turn up later."""
    reads = list(packs)
    members = {name for read in reads for name in read.pack.members}
    return Known(
        packs=frozenset(read.pack.id for read in reads),
        servers=servers.named | (config.servers.keys() - {"*"}),
        names=frozenset({*natives, *members, *(item.agent.handoff for item in items)}),
        complete=servers.whole,
    )


def _checked(item: Item, known: Known, servers: Servers, diagnostics: list[Diagnostic]) -> Item:
    """The agent with its selectors held against the workspace; broken where they do not stand."""
    if isinstance(item, Broken):
        return item
    agent = item.agent
    diagnostics += item.diagnostics
    try:
        if item.imported:
            agent, remarks = claude.resolve(item, known.servers, complete=known.complete)
            diagnostics += remarks
        else:
            mine = replace(
                known,
                servers=known.servers | {spec.short_name for spec in item.inline.values()} | set(item.inline),
            )
            check_grants(agent.tools or (), "tools", mine)
            check_denials(agent.disallowed_tools, "disallowed_tools", mine)
    except PackbeltError as problem:
        diagnostics.append(broken_diagnostic(agent.name, problem))
        return Broken(break_agent(agent, problem), item.imported)
    inherited = agent.inherit_mcp_servers if isinstance(agent.inherit_mcp_servers, tuple) else ()
    for key, names in (("mcp_servers", agent.mcp_servers), ("inherit_mcp_servers", inherited)):
        diagnostics += (
            Diagnostic(
                Level.WARNING,
                Code.SERVER_UNKNOWN,
                f"agent {agent.name!r} names the server {name!r}, which {_absence(name, servers)}",
                agent.where(key),
                f"add it to {SERVERS_FILE}, or remove it",
                name,
            )
            for name in names
            if name not in servers.specs
        )
    return replace(item, agent=agent)


def _absence(name: str, servers: Servers) -> str:
    return "cannot be used" if name in servers.named or not servers.whole else "is not configured"


def _inline(items: Iterable[Item], agents: Mapping[str, Agent], servers: Servers) -> dict[str, ServerSpec]:
    """The servers that agents declare for themselves, each with a name of its own."""
    inline: dict[str, ServerSpec] = {}
    for item in items:
        if isinstance(item, Broken) or item.agent.name not in agents:
            continue
        for name, spec in item.inline.items():
            if other := servers.specs.get(name) or inline.get(name):
                raise WorkspaceError(
                    f"two servers are called {name!r}: here and in {other.where}",
                    where=spec.where,
                    mend="rename one of them",
                    name=name,
                )
            inline[name] = spec
    return inline


def _unusable(
    items: Iterable[Item], agents: Mapping[str, Agent], servers: Servers, inline: Mapping[str, ServerSpec]
) -> dict[str, str]:
    """The named servers that cannot be used, with the reasons; an inline one also by its short name."""
    unusable = dict(servers.unusable)
    for item in items:
        if isinstance(item, Draft) and item.agent.name in agents:
            for full, reason in item.unusable.items():
                for name in (full, full.removeprefix(f"{item.agent.name}.")):
                    unusable.setdefault(name, reason)
    return {name: unusable[name] for name in sorted(unusable) if name not in {*servers.specs, *inline}}


def _doubtful_root(name: str, names: Names, files: Sequence[str]) -> BrokenAgent:
    """The root agent that an unreadable file may define: an implied one would have every grant."""
    handoff = safe_handoff(name)
    problem = WorkspaceError(
        f"no readable file defines it, and a broken one whose name cannot be read may: {listed(files)}",
        where=Where(files[0]),
        mend="mend that file, move it away, or write the root agent's own",
        name=name,
    )
    return BrokenAgent(name, hashed_handoff(name) if handoff in names.taken else handoff, problem, files[0])


def _unknown_root(config: Config, agents: Iterable[str]) -> list[Diagnostic]:
    """A root that is named and has no file is implied, with every grant: a typo must not pass for a wish."""
    names = sorted(agents)
    if "orchestrator" not in config.lines or not names:
        return []
    problem = (
        f"orchestrator {config.orchestrator!r} has no file, so an implied root with every tool stands in"
    )
    mend = suggestion(config.orchestrator, names, otherwise="write its file, or remove the key")
    where = config.where("orchestrator")
    return [Diagnostic(Level.ERROR, Code.ROOT_UNKNOWN, problem, where, mend, config.orchestrator)]


def _implied(name: str, origin: Origin) -> Agent:
    """The root agent of a workspace that has no file for it."""
    return Agent(
        name=name,
        description="Takes the user's request and hands each part to the agent whose job it is.",
        handoff=safe_handoff(name),
        delegates="*",
        body=IMPLIED_BODY,
        origin=origin,
    )


def _templates(
    tree: Tree, embedded: Path, origin: Origin, diagnostics: list[Diagnostic]
) -> dict[str, Template]:
    """The workspace's section templates over the embedded ones; a broken one hides the embedded one."""
    templates, broken = read_templates(tree, origin)
    diagnostics += broken.values()
    base = {} if origin is Origin.EMBEDDED else read_templates(Tree(embedded), Origin.EMBEDDED)[0]
    merged = {**base, **templates}
    return {name: merged[name] for name in sorted(merged) if name not in broken}
