"""The peers: what each has to do, and which of them are installed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.catalogue import Catalogue

Handed = list[tuple[str, str | None, Any]]
"""Name, description and schema of each visible tool: what a request to a model is made of."""


@dataclass(frozen=True)
class Peer:
    """One peer in one of its forms.

    Attributes:
        name: the package and the form.
        visible: hands out the visible tools' schemas.
        spell: how it spells a tool of a server.
        one: decides one tool by its spelling, where it can; True if it is visible.
    """

    name: str
    visible: Callable[[], Awaitable[Handed]]
    spell: Callable[[str, str], str]
    one: Callable[[str], Awaitable[bool]] | None = None


PACKAGES = {"pydantic-ai-slim": "pydantic_ai", "openai-agents": "agents", "fastmcp": "fastmcp"}
"""Distribution and import name of each."""

_BUILDERS = {
    "pydantic-ai-slim": "bench.peer_pydantic_ai",
    "openai-agents": "bench.peer_openai_agents",
    "fastmcp": "bench.peer_fastmcp",
}


def installed() -> dict[str, str]:
    """Version of each peer that is installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def build(package: str, catalogue: Catalogue) -> list[Peer]:
    """A peer's forms on a catalogue, everything that it can do beforehand done."""
    return import_module(_BUILDERS[package]).build(catalogue)
