"""Servers as they are now: whether they may be started, what they are started with, what they offer.

Importing this package imports neither `mcp` nor an event loop; `packbelt.live.servers.connect` (`connect` and
`connect_now`) does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from packbelt.live.environment import INHERITED, PlaceholderError, Resolved, child_environment, resolve
    from packbelt.live.secret import Secret
    from packbelt.live.servers.connect import Progress, connect_now
    from packbelt.live.trust import Consent, Trust, TrustError, Verdict, describe

__all__ = [
    "INHERITED",
    "Consent",
    "PlaceholderError",
    "Progress",
    "Resolved",
    "Secret",
    "Trust",
    "TrustError",
    "Verdict",
    "child_environment",
    "connect_now",
    "describe",
    "resolve",
]

_HOMES = {
    **dict.fromkeys(("Progress", "connect_now"), "servers.connect"),
    **dict.fromkeys(("INHERITED", "PlaceholderError", "Resolved"), "environment"),
    **dict.fromkeys(("child_environment", "resolve"), "environment"),
    "Secret": "secret",
    **dict.fromkeys(("Consent", "Trust", "TrustError", "Verdict", "describe"), "trust"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
