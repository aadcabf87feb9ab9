"""The same workspace laid out otherwise, to see what the layout does."""

from collections.abc import Callable
from dataclasses import replace

from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.workspace import Pack, ServerPolicy, Workspace
from packbelt.model import Access, Exposure, PackbeltError


def packed(workspace: Workspace) -> Workspace:
    """As the report found it: hand-offs stay in their packs, beside tools that everyone may call."""
    handoffs = {agent.handoff for agent in workspace.agents.values()}

    def put_away(pack: Pack) -> Pack:
        if not handoffs & set(pack.direct):
            return pack
        kept = tuple(name for name in pack.direct if name not in handoffs)
        return replace(pack, direct=kept, access=Access.OPEN)

    return replace(workspace, packs={pack.id: put_away(pack) for pack in workspace.packs.values()})


def flat(workspace: Workspace) -> Workspace:
    """Nothing is put away or kept for anybody: all that an agent is granted is sent."""
    packs = {
        pack.id: replace(pack, exposure=Exposure.DIRECT, access=Access.OPEN)
        if pack.exposure is not Exposure.OFF
        else pack
        for pack in workspace.packs.values()
    }
    said = {"*": ServerPolicy(), **workspace.config.servers}
    servers = {
        name: replace(policy, exposure=Exposure.DIRECT, access=Access.OPEN)
        if policy.exposure is not Exposure.OFF
        else policy
        for name, policy in said.items()
    }
    return replace(workspace, packs=packs, config=replace(workspace.config, servers=servers))


def promoted(workspace: Workspace) -> Workspace:
    """As its files say."""
    return workspace


LAYOUTS: dict[str, Callable[[Workspace], Workspace]] = {"promoted": promoted, "packed": packed, "flat": flat}
"""Every layout by name."""


def layout_named(name: str) -> Callable[[Workspace], Workspace]:
    """The layout of a name.

    Raises:
        PackbeltError: there is none.
    """
    if name not in LAYOUTS:
        mend = suggestion(name, LAYOUTS, otherwise=f"there are: {listed(LAYOUTS)}")
        raise PackbeltError(f"no layout is called {name!r}", mend=mend, name=name)
    return LAYOUTS[name]
