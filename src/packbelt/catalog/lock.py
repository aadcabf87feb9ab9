"""`packbelt.lock`: the definitions of servers' tools that a person accepted."""

import json
import os
from collections.abc import Mapping

from packbelt.catalog.problems import read_model
from packbelt.catalog.schema import LockFile
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.text import Tree
from packbelt.catalog.yaml import parse_json

FILE = "packbelt.lock"
VERSION = 1


def read_lock(tree: Tree) -> Mapping[str, Mapping[str, str]] | None:
    """Accepted digests by server and tool, or None without a lock.

    A broken lock is no missing one: it would accept everything.

    Raises:
        WorkspaceError: it is not as `lock_text` writes it.
    """
    path = tree.root / FILE
    if not os.path.lexists(path):
        return None
    return read_model(LockFile, parse_json(tree.read(path), FILE)).servers


def lock_text(snapshot: Snapshot) -> str:
    """A lock that accepts every tool of a snapshot as it is; equal snapshots give equal bytes."""
    servers = {
        name: {tool.name: tool.digest for tool in state.tools} for name, state in snapshot.servers.items()
    }
    return (
        json.dumps({"version": VERSION, "servers": servers}, indent=2, sort_keys=True, ensure_ascii=False)
        + "\n"
    )
