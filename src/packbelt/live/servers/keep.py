"""What is kept of what the servers offered: a snapshot, and a lock that accepts it."""

import json
from dataclasses import replace

from packbelt.catalog.lock import lock_text
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.model import ServerStatus


def merged(known: Snapshot, found: Snapshot) -> Snapshot:
    """What was known, with what was found now; a server that failed keeps the tools it had."""
    servers = dict(known.servers)
    for name, state in found.servers.items():
        before = servers.get(name)
        if before and not state.tools and state.status is ServerStatus.FAILED:
            servers[name] = known.mark(name, state.status, state.error).servers[name]
        else:
            servers[name] = state
    return replace(known, servers=servers)


def lock_of(workspace: Workspace, found: Snapshot) -> str:
    """A lock that accepts what the connected servers offer now; for the others the old one stands."""
    connected = {
        name: state for name, state in found.servers.items() if state.status is ServerStatus.CONNECTED
    }
    data = json.loads(lock_text(replace(found, servers=connected)))
    data["servers"] = {**(workspace.lock or {}), **data["servers"]}
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
