"""One import under way."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packbelt.catalog.yaml import Document
from packbelt.importers.agents import FoundAgent, name_of
from packbelt.importers.report import Item
from packbelt.importers.rules import Rules
from packbelt.importers.servers import Context, Found
from packbelt.importers.sources import Client
from packbelt.model import Where


@dataclass(slots=True)
class Work:
    """One import under way.

    Attributes:
        context: what it goes by.
        items: what became of everything so far.
        servers: by name, the nearest of each.
        entries: those that can be used, as they are written.
        rules: what `packbelt.yaml` will say.
        agents: those that can be written.
        documents: the files that could be read, by path.
        there: the servers that the workspace has already, as its own file says them.
        unread: agents whose nearer file was refused, with its place.
        displaced: servers of each client in whose place another's of the same name is taken.
    """

    context: Context
    items: list[Item] = field(default_factory=list)
    servers: dict[str, Found] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    agents: list[FoundAgent] = field(default_factory=list)
    documents: dict[Path, Document] = field(default_factory=dict)
    there: dict[str, Any] = field(default_factory=dict)
    unread: dict[str, Where] = field(default_factory=dict)
    displaced: dict[Client, set[str]] = field(default_factory=dict)

    def name(self, path: Path) -> str:
        """A path as messages have it."""
        return name_of(path, self.context.path)
