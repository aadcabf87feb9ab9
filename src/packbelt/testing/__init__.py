"""For tests of your own: workspaces in memory, assertions that explain themselves, hypothesis strategies.

`packbelt.testing.strategies` needs hypothesis, which packbelt does not install; everything else here needs
nothing more than packbelt.
"""

from packbelt.testing.assertions import assert_belt, assert_reachable
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
    schema,
    server,
    server_tool,
    skill,
    states,
)

__all__ = [
    "agent",
    "assert_belt",
    "assert_reachable",
    "broken",
    "make_belt",
    "make_snapshot",
    "make_workspace",
    "native",
    "pack",
    "path_of",
    "policy",
    "schema",
    "server",
    "server_tool",
    "skill",
    "states",
]
