"""`World`: a workspace, a snapshot and a scope that fit together, as the strategies give them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packbelt.belt import Belt, Scope
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.testing.build import make_belt

Catalogue = Mapping[str, Sequence[Mapping[str, Any]]]
"""What each server lists when it is connected, by full name."""


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

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """What hypothesis prints of a failing example."""
        printer.text(repr(self))

    def __repr__(self) -> str:
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
