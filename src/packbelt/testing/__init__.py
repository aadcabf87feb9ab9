"""For tests of your own: workspaces in memory, assertions that explain themselves, hypothesis strategies.

`packbelt.testing.strategies` needs hypothesis, which packbelt does not install; everything else here needs
nothing more than packbelt. `packbelt.testing.plugin` is the pytest plugin, which pytest finds by itself and
docs/testing.md shows; it lies in this package, so nothing here is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "assertions" if name.startswith("assert_") else "build"
    found = getattr(import_module(f"packbelt.testing.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
