"""Rules of other clients as `deny`, `approve` and `servers:` of `packbelt.yaml`.

What is denied outright is denied. What is denied or asked about for some arguments only is asked about
always, since no rule here sees arguments. What is allowed needs no rule: nobody is asked about a tool unless
a rule says so.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packbelt.catalog.claude_tools import means_builtin
from packbelt.catalog.names import claude_readings, claude_splits
from packbelt.catalog.yaml import Document
from packbelt.importers.report import Item, Kind, Outcome, Remark
from packbelt.importers.servers import Found
from packbelt.importers.sources import Source
from packbelt.model import Where
from packbelt.model.wire import PREFIX

_CALL = re.compile(r"([^()]*)\((.*)\)\s*\Z", re.DOTALL)
_ROOM = "write it into packbelt.yaml by hand"


@dataclass(slots=True)
class Rules:
    """What `packbelt.yaml` will say.

    Attributes:
        deny: selectors, each with the place it comes from.
        approve: likewise.
        servers: policies by server, in the keys of the file.
        wanted: servers that a rule names and nobody configures.
    """

    deny: dict[str, Where] = field(default_factory=dict)
    approve: dict[str, Where] = field(default_factory=dict)
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    wanted: dict[str, Where] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.deny or self.approve or self.servers)

    def add_to(self, base: Mapping[str, Any]) -> bool:
        """Join the rules that a `packbelt.yaml` holds already, and say whether these add to them.

        Its own policy of a server stays as it is.
        """
        new = bool(self.servers.keys() - base.get("servers", {}).keys())
        for key, mine in (("deny", self.deny), ("approve", self.approve)):
            theirs = base.get(key, [])
            new = new or bool(mine.keys() - set(theirs))
            joined = {text: Where("packbelt.yaml") for text in theirs} | mine
            mine.clear()
            mine.update(joined)
        self.servers = {**self.servers, **base.get("servers", {})}
        return new

    def of_server(self, found: Found) -> None:
        """The rules that a server's own entry holds."""
        policy: dict[str, Any] = {}
        tools: dict[str, dict[str, Any]] = {}
        if found.allow is not None:
            policy["permission"] = "dangerous"
            for name in found.allow:
                tools.setdefault(name, {})["permission"] = "execute"
            message = "offers some tools only; the others need more than the workspace's ceiling allows"
            found.note(Outcome.APPROXIMATED, message, mend="leave `ceiling` below dangerous")
        if found.ask is not None:
            policy["approve"] = found.ask
        for name, asks in (*((n, False) for n in found.exempt), *((n, True) for n in found.asked)):
            tools.setdefault(name, {})["approve"] = asks
        if not _sayable(found.name, *found.deny) and found.deny:
            policy["exposure"] = "off"
            found.note(
                Outcome.APPROXIMATED, "is switched off: no selector can say what it denies", mend=_ROOM
            )
        elif found.deny:
            self.deny |= {f"{found.name}/{tool}": found.where() for tool in found.deny}
        if policy.get("approve") is False and not tools:
            policy.pop("approve")
            found.note(Outcome.LEFT_OUT, "is trusted without asking, which needs no rule here")
        policy |= {"tools": tools} if tools else {}
        if policy:
            self.servers[found.name] = policy


def _sayable(server: str, *tools: str) -> bool:
    """Whether selectors can name these tools of a server."""
    return not any("," in text or text != text.strip() for text in (server, *tools))


def settings(document: Document, source: Source, servers: Iterable[str], rules: Rules) -> list[Item]:
    """`permissions` of Claude Code's settings; adds to the rules, and says what became of each entry."""
    data = document.data if isinstance(document.data, dict) else {}
    permissions = data.get("permissions")
    items: list[Item] = []
    if not isinstance(permissions, dict):
        return items
    names = {name: name for name in servers}
    for key in ("deny", "ask", "allow"):
        entries = permissions.get(key, [])
        if isinstance(entries, str):
            entries = [entries]
        for i, entry in enumerate(entries if isinstance(entries, list) else []):
            where = document.where("permissions", key, i)
            if isinstance(entry, str) and entry.strip():
                items.append(_entry(entry.strip(), key, where, source, servers=names, rules=rules))
    mode = permissions.get("defaultMode")
    if mode is not None:
        remark = Remark(
            Outcome.LEFT_OUT,
            f"`defaultMode: {mode}` is the client's way of asking",
            document.where("permissions", "defaultMode"),
            "say in `approve` what a person decides",
        )
        items.append(_item(f"defaultMode {mode}", Outcome.LEFT_OUT, remark.where, source, "", remark))
    return items


def switched_off(data: object) -> tuple[str, ...]:
    """Servers of `.mcp.json` that a person has refused in Claude Code's settings."""
    names = data.get("disabledMcpjsonServers") if isinstance(data, Mapping) else None
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _entry(
    entry: str, key: str, where: Where, source: Source, *, servers: Mapping[str, str], rules: Rules
) -> Item:
    called = f"{key} {entry}"
    if key == "allow":
        remark = Remark(
            Outcome.LEFT_OUT, "what is allowed needs no rule: nobody is asked about it here", where
        )
        return _item(called, Outcome.LEFT_OUT, where, source, "", remark)
    call = _CALL.match(entry)
    name = (call.group(1) if call else entry).strip()
    whole = call is None or call.group(2).strip() in ("", "*", ":*")
    selectors = _selectors(name, servers, rules, where)
    if not selectors:
        message = f"{name!r} is no tool that anything here has, or could have"
        mend = "once something has it, name it in `deny` of packbelt.yaml"
        return _item(
            called, Outcome.LEFT_OUT, where, source, "", Remark(Outcome.LEFT_OUT, message, where, mend)
        )
    target = rules.deny if key == "deny" and whole else rules.approve
    for selector in selectors:
        target.setdefault(selector, where)
    became = f"packbelt.yaml: {'deny' if target is rules.deny else 'approve'} {', '.join(selectors)}"
    if whole:
        return _item(called, Outcome.MAPPED, where, source, became)
    message = f"{entry!r} is about arguments, which no rule here sees; a person approves every call of {name}"
    mend = f"deny {name} in packbelt.yaml if that is not enough" if key == "deny" else ""
    return _item(
        called,
        Outcome.APPROXIMATED,
        where,
        source,
        became,
        Remark(Outcome.APPROXIMATED, message, where, mend),
    )


def _selectors(name: str, servers: Mapping[str, str], rules: Rules, where: Where) -> list[str]:
    """The selectors of a name in Claude's spelling; a server that nobody configures yet becomes known."""
    if name == "*":
        return ["*"]
    if not name.startswith(PREFIX):
        return [name] if means_builtin(name) and _sayable(name) else []
    if name in (PREFIX, f"{PREFIX}*"):
        return ["*/*"]
    found = claude_readings(name, servers)
    if not found:
        splits = list(claude_splits(name))
        found = [one for one in splits if one[1] != "*"][:1] or splits[:1]
        found = [(server.removesuffix("__*"), tool) for server, tool in found]
        if any("*" in server for server, _ in found):
            return ["*/*"]
        for server, _ in found:
            rules.wanted.setdefault(server, where)
    return [f"{server}/{tool}" for server, tool in found if _sayable(server, tool)]


def _item(
    name: str, outcome: Outcome, where: Where | None, source: Source, became: str, *remarks: Remark
) -> Item:
    place = where or Where(str(source.path))
    return Item(Kind.RULE, name, outcome, place, source.client, source.scope, became, remarks)
