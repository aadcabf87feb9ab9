"""The one catalogue that everybody is measured on.

Servers of twenty tools, about 700 bytes of JSON each; 7 of the 20 read, and three deny rules (create,
update, delete) take the other 13, so that a third is visible.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_SERVERS = """
accounting alarms analytics archive assets audit backups badges billing boards bookings branding budgets
calendar campaigns cargo catalog chat claims clinics cloud commerce compliance consent contacts contracts
courses crm dashboards delivery deploys desk dispatch dns documents donations energy events expenses
facilities farming fleet flights forms forum freight fuel gallery games grants harbour hiring hotels hr
identity incidents insurance inventory jobs kitchen labs leads ledger legal library loans lockers logs
mail maps marketing media metering museum news notes orders parking parts payroll permits pharmacy photos
planning podcasts polls ports pricing printing projects quality queues quotes rail recipes rentals
reports reviews routing safety
"""
SERVERS = tuple(_SERVERS.split())
"""A hundred names."""

_THINGS = """
account address agenda alert attachment balance batch booking branch category certificate channel comment
customer deadline device discount draft employee entry folder invoice item label lease license location
machine meeting member message note order package payment permission policy project receipt refund region
"""
THINGS = tuple(_THINGS.split())
"""What tools work on. Many servers share a thing, as they do in life."""

VERBS = ("get",) * 7 + ("create",) * 5 + ("update",) * 4 + ("delete",) * 4
"""By position among a server's twenty tools."""
DENIED = ("create", "update", "delete")
"""One deny rule each."""
DENY_RULES = tuple(f"*/{verb}_*" for verb in DENIED)


def denied(tool: str) -> bool:
    """Whether one of the deny rules takes a tool; what the peers' filters ask."""
    return tool.startswith(("create_", "update_", "delete_"))


def schema_of(thing: str) -> dict[str, Any]:
    """The arguments that each tool takes."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": f"Identifier of the {thing}, as its listing shows it."},
            "fields": {
                "type": "array",
                "items": {"type": "string"},
                "description": f"Names of the fields of the {thing} to return; all of them if left out.",
            },
            "locale": {
                "type": "string",
                "enum": ["en", "de", "fr", "es"],
                "description": "Language of texts.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "description": "Most in one answer.",
            },
            "dry_run": {"type": "boolean", "description": "Only say what would be done, and change nothing."},
        },
        "required": ["id"],
    }


def entry(server: str, name: str, verb: str, thing: str) -> dict[str, Any]:
    """One entry of a `tools/list` result."""
    text = f"{verb.capitalize()} one {thing} in {server}. Fails if it is locked by somebody else."
    return {"name": name, "description": text, "inputSchema": schema_of(thing)}


@dataclass(frozen=True)
class Catalogue:
    """Servers and their tools in MCP's wire form."""

    servers: int
    each: int = 20

    @cached_property
    def listed(self) -> dict[str, list[dict[str, Any]]]:
        """`tools/list` of each server."""
        found = {}
        for j in range(self.servers):
            server = SERVERS[j % 100] + (str(j // 100) if j >= 100 else "")
            entries = []
            for k in range(self.each):
                verb, block = VERBS[k % 20], k // 20
                first = VERBS.index(verb)
                thing = THINGS[(7 * j + k % 20 - first) % len(THINGS)]
                name = f"{verb}_{thing}" + (f"_{block}" if block else "")
                entries.append(entry(server, name, verb, thing))
            found[server] = entries
        return found

    @cached_property
    def size(self) -> int:
        """How many tools there are."""
        return sum(len(entries) for entries in self.listed.values())

    @cached_property
    def visible(self) -> frozenset[tuple[str, str]]:
        """(server, tool) of all that no deny rule takes."""
        pairs = ((server, e["name"]) for server, entries in self.listed.items() for e in entries)
        return frozenset((server, tool) for server, tool in pairs if not denied(tool))

    @cached_property
    def bytes_each(self) -> float:
        """Mean size of an entry as JSON without blanks."""
        entries = [e for listed in self.listed.values() for e in listed]
        return sum(len(json.dumps(e, separators=(",", ":"))) for e in entries) / len(entries)
