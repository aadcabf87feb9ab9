"""packbelt on the catalogue: a workspace, a snapshot, and what counts as cold."""

from dataclasses import replace
from pathlib import Path

from bench.catalogue import DENY_RULES, THINGS, Catalogue
from packbelt.catalog.forms import handoff_tool, native_tool
from packbelt.catalog.snapshot import ServerState, Snapshot
from packbelt.catalog.workspace import Agent, Config, Pack, ServerPolicy, ServerSpec, Skill, Workspace
from packbelt.model import NATIVE, Access, Exposure, Permission, Selector, ServerStatus, Tool
from packbelt.turn import Turn, turn

READER = "reader"
"""Sees the visible third and nothing else, so that its belt is what the peers hand out."""
ROOT = "orchestrator"
"""Inherits everything and may hand to every agent."""
KEEPER = "keeper"
"""Owns the only reserved pack."""
WORKERS = tuple(f"worker_{k:02}" for k in range(50))
"""Each with a deny rule of its own, every fifth one with a glob that no prefix narrows."""


def selectors(*texts: str) -> tuple[Selector, ...]:
    """Entries of a list."""
    return tuple(map(Selector, texts))


def agents() -> dict[str, Agent]:
    """Root, reader, keeper and fifty workers."""
    made = [
        Agent(ROOT, "Takes every request.", f"to_{ROOT}", delegates="*"),
        Agent(READER, "Reads.", f"to_{READER}", tools=selectors("*/*")),
        Agent(KEEPER, "Keeps the vault.", f"to_{KEEPER}", tools=selectors("pack:vault")),
    ]
    for k, name in enumerate(WORKERS):
        thing = THINGS[k % len(THINGS)]
        own = selectors(f"*/*_{thing[:2]}*" if k % 5 == 0 else f"*/get_{thing}*")
        made.append(Agent(name, f"Does job {k}.", f"to_{name}", tools=selectors("*/*"), disallowed_tools=own))
    return {agent.name: agent for agent in made}


def natives() -> list[Tool]:
    """A reserved pack of three."""
    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    names = ("vault_open", "vault_seal", "vault_rotate")
    return [native_tool(NATIVE, n, "Works on the vault.", schema, permission=Permission.READ) for n in names]


def workspace_of(
    servers: list[str],
    *,
    deny: tuple[str, ...] = DENY_RULES,
    extra: tuple[Tool, ...] = (),
    skills: tuple[Skill, ...] = (),
    more: tuple[Agent, ...] = (),
) -> Workspace:
    """The workspace: servers direct for all, the deny rules, one reserved pack."""
    fleet = agents() | {agent.name: agent for agent in more}
    own = natives()
    links = [handoff_tool(a.handoff, a.name, a.description, a.permission, None) for a in fleet.values()]
    vault = Pack(
        "vault",
        "The vault.",
        access=Access.OWNERS,
        owners=(KEEPER,),
        members=tuple(tool.name for tool in own),
    )
    return Workspace(
        root=Path(),
        embedded=False,
        config=Config(
            deny=selectors(*deny), servers={"*": ServerPolicy(exposure=Exposure.DIRECT)}, file="packbelt.yaml"
        ),
        packs={vault.id: vault},
        agents=fleet,
        broken={},
        servers={name: ServerSpec(name, "stdio", "unused") for name in servers},
        inline={},
        skills=skills,
        tools=tuple(sorted((*own, *extra, *links), key=lambda tool: tool.wire_name)),
        templates={},
    )


def workspace(catalogue: Catalogue) -> Workspace:
    """The workspace of the side-by-side rows."""
    return workspace_of(list(catalogue.listed))


def snapshot(catalogue: Catalogue) -> Snapshot:
    """All servers connected."""
    made = Snapshot()
    for server, entries in catalogue.listed.items():
        made = made.connect(server, entries)
    return made


def unread(known: Snapshot) -> Snapshot:
    """The snapshot as loading leaves it: not a name, mask or table of it worked out yet."""
    fresh = {
        name: ServerState(name, ServerStatus.CONNECTED, state.tools) for name, state in known.servers.items()
    }
    return replace(known, servers=fresh)


def next_revision(known: Snapshot) -> Snapshot:
    """A snapshot that nobody has asked yet, of servers that were there in the one before."""
    return replace(known)


def handed(found: Turn) -> list[tuple[str, str, object]]:
    """Name, description and schema of each visible tool, as the peers hand them out."""
    return [(tool.wire_name, tool.description, tool.input_schema) for tool in found.tools]


def visible(space: Workspace, now: Snapshot, agent: str = READER) -> list[tuple[str, str, object]]:
    """The work that is compared: from workspace and snapshot to the schemas of one agent's belt."""
    return handed(turn(space, now, agent))
