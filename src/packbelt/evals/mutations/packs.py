"""Breakages of the packs: hand-offs put back behind the opener, specialists' tools opened to all."""

from collections.abc import Callable, Collection
from dataclasses import replace

from packbelt.catalog.workspace import Pack, Workspace
from packbelt.model import Access


def promotions(workspace: Workspace) -> tuple[str, ...]:
    """The hand-offs that packs leave on every belt, in the order of the packs."""
    handoffs = {agent.handoff for agent in workspace.agents.values()}
    return tuple(name for pack in workspace.packs.values() for name in pack.direct if name in handoffs)


def repack_handoffs(workspace: Workspace) -> Workspace:
    """Every promoted hand-off back in its pack; nothing else is changed."""
    return _repacked(workspace, promotions(workspace))


def repack(name: str) -> Callable[[Workspace], Workspace]:
    """One promoted hand-off back in its pack."""

    def repack_one(workspace: Workspace) -> Workspace:
        return _repacked(workspace, {name})

    return repack_one


def open_raw_tools(workspace: Workspace) -> Workspace:
    """Every pack that is kept for its owners open to all; the promoted hand-offs stay where they are."""

    def opened(pack: Pack) -> Pack:
        return replace(pack, access=Access.OPEN)

    return _with_packs(workspace, opened)


def _repacked(workspace: Workspace, names: Collection[str]) -> Workspace:
    def put_back(pack: Pack) -> Pack:
        return replace(pack, direct=tuple(name for name in pack.direct if name not in names))

    return _with_packs(workspace, put_back)


def _with_packs(workspace: Workspace, change: Callable[[Pack], Pack]) -> Workspace:
    return replace(workspace, packs={pack.id: change(pack) for pack in workspace.packs.values()})
