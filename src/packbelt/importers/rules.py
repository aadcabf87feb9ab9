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
from packbelt.catalog.names import claude_readings, claude_splits, safe_handoff
from packbelt.catalog.problems import kind_of
from packbelt.catalog.yaml import Document
from packbelt.importers.report import Item, Kind, Outcome, Remark
from packbelt.importers.secrets import masked
from packbelt.importers.servers import Found
from packbelt.importers.sources import Source
from packbelt.model import Where
from packbelt.model.selector import glob
from packbelt.model.wire import PREFIX

_CALL = re.compile(r"([^()]*)\((.*)\)\s*\Z", re.DOTALL)
_SPAWN = ("Agent", "Task")
_FILES = {
    "Edit": ["Edit", "MultiEdit", "NotebookEdit", "Write"],
    "Read": ["Read", "Glob", "Grep", "LS", "NotebookRead"],
}
"""Claude Code holds these rules about paths against every tool of their kind."""
_ASKED = "a person is asked about every call of {}"
_ROOM = "write it into packbelt.yaml by hand"


@dataclass(slots=True)
class Rules:
    """What `packbelt.yaml` will say.

    Attributes:
        deny: selectors, each with the place it comes from.
        approve: likewise.
        servers: policies by server, in the keys of the file.
        wanted: servers that a rule names and nobody configures.
        spawned: final names of the agents, by each name that a rule may give them.
        held: policies that the workspace's own file has already; they stay.
        open: whether its ceiling lets everything through, so that no permission keeps a tool away.
    """

    deny: dict[str, Where] = field(default_factory=dict)
    approve: dict[str, Where] = field(default_factory=dict)
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    wanted: dict[str, Where] = field(default_factory=dict)
    spawned: dict[str, set[str]] = field(default_factory=dict)
    held: Mapping[str, Any] = field(default_factory=dict)
    open: bool = False

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
        policy = self._policy(found)
        if not _sayable(found.name, *found.deny) and found.deny:
            policy["exposure"] = "off"
            found.note(
                Outcome.APPROXIMATED, "is switched off: no selector can say what it denies", mend=_ROOM
            )
        elif found.deny:
            self.deny |= {f"{found.name}/{tool}": found.where() for tool in found.deny}
        if policy == {"approve": False}:
            policy.pop("approve")
            found.note(Outcome.LEFT_OUT, "is trusted without asking, which needs no rule here")
        if policy:
            self.servers[found.name] = policy

    def _policy(self, found: Found) -> dict[str, Any]:
        policy: dict[str, Any] = {}
        tools: dict[str, dict[str, Any]] = {}
        if found.allow is not None and self.open:
            policy["exposure"] = "off"
            message = "is switched off: it offers some tools only, and the workspace's ceiling is dangerous"
            found.note(
                Outcome.APPROXIMATED, message, mend="lower `ceiling` of packbelt.yaml, and import again"
            )
        elif found.allow is not None:
            policy["permission"] = "dangerous"
            for name in found.allow:
                tools.setdefault(name, {})["permission"] = "execute"
            message = "offers some tools only; the others need more than the workspace's ceiling allows"
            found.note(Outcome.APPROXIMATED, message, mend="leave `ceiling` below dangerous")
        if found.ask is not None:
            policy["approve"] = found.ask
        for name, asks in (*((n, False) for n in found.exempt), *((n, True) for n in found.asked)):
            tools.setdefault(name, {})["approve"] = asks
        return policy | ({"tools": tools} if tools else {})

    def handoffs(self, agent: str) -> list[str]:
        """The hand-offs to an agent, or for `*` to every agent that is imported."""
        names = set().union(*self.spawned.values()) if agent == "*" else self.spawned.get(agent, set())
        return sorted(safe_handoff(name) for name in names)

    def clash(self, found: Found) -> bool:
        """Whether the workspace's own policy of this server would take the place of what its entry says."""
        said = found.allow is not None or found.ask or found.asked
        return bool(said) and found.name in self.held


def _sayable(server: str, *tools: str) -> bool:
    """Whether selectors can name these tools of a server."""
    odd = any("," in text or text != text.strip() for text in (server, *tools))
    return not odd and not server.startswith("pack:") and not any(tool == "" for tool in tools)


def settings(document: Document, source: Source, servers: Iterable[str], rules: Rules) -> list[Item]:
    """`permissions` of Claude Code's settings; adds to the rules, and says what became of each entry."""
    data = document.data if isinstance(document.data, dict) else {}
    permissions = data.get("permissions")
    items: list[Item] = []
    if permissions is None:
        return items

    def unread(name: str, value: object, wanted: str, *at: str | int) -> None:
        where = document.where("permissions", *at)
        key = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in at)
        message = f"`permissions{key}` is {kind_of(value)}, not {wanted}"
        reason = Remark(Outcome.REFUSED, message, where, f"write {wanted}")
        items.append(_item(name, Outcome.REFUSED, where, source, "", reason))

    if not isinstance(permissions, dict):
        unread("permissions", permissions, "an object")
        return items
    names = {name: name for name in servers}
    for key in ("deny", "ask", "allow"):
        entries = permissions.get(key, [])
        if isinstance(entries, str):
            entries = [entries]
        if not isinstance(entries, list):
            unread(key, entries, "a list", key)
            continue
        for i, entry in enumerate(entries):
            where = document.where("permissions", key, i)
            if isinstance(entry, str) and entry.strip():
                items.append(_entry(entry.strip(), key, where, source, servers=names, rules=rules))
            else:
                unread(f"{key} {i + 1}", entry, "text", key, i)
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


def _entry(
    entry: str, key: str, where: Where, source: Source, *, servers: Mapping[str, str], rules: Rules
) -> Item:
    shown = masked(entry)
    called = f"{key} {shown}"
    if key == "allow":
        remark = Remark(
            Outcome.LEFT_OUT, "what is allowed needs no rule: nobody is asked about it here", where
        )
        return _item(called, Outcome.LEFT_OUT, where, source, "", remark)
    call = _CALL.match(entry)
    name = (call.group(1) if call else entry).strip()
    inside = call.group(2).strip() if call else ""
    whole = inside in ("", "*", ":*")
    if name in _SPAWN and not whole:
        selectors, message = rules.handoffs(inside), f"no agent here is called {inside!r}"
    else:
        selectors = _selectors(name, servers, rules, where, broad=not whole)
        message = f"{name!r} is no tool that anything here has, or could have"
    if not selectors:
        mend = "once something has it, name it in `deny` of packbelt.yaml"
        return _item(
            called, Outcome.LEFT_OUT, where, source, "", Remark(Outcome.LEFT_OUT, message, where, mend)
        )
    # Only tools of the client's own have rules about arguments; one about a server's tool is a slip.
    sure = whole or name in _SPAWN or name.startswith(PREFIX)
    target = rules.deny if key == "deny" and sure else rules.approve
    for selector in selectors:
        target.setdefault(selector, where)
    became = f"packbelt.yaml: {'deny' if target is rules.deny else 'approve'} {', '.join(selectors)}"
    if whole or name in _SPAWN:
        return _item(called, Outcome.MAPPED, where, source, became)
    how = f"every call of {name} is denied" if sure and key == "deny" else _ASKED.format(", ".join(selectors))
    mend = f"deny {name} in packbelt.yaml if nobody may allow it" if key == "deny" and not sure else ""
    message = f"{shown!r} is about arguments, which no rule here sees; {how}"
    remark = Remark(Outcome.APPROXIMATED, message, where, mend)
    return _item(called, Outcome.APPROXIMATED, where, source, became, remark)


def _selectors(
    name: str, servers: Mapping[str, str], rules: Rules, where: Where, *, broad: bool
) -> list[str]:
    """The selectors of a name in Claude's spelling; a server that nobody configures yet becomes known.

    Args:
        name: the tool's name, without arguments.
        servers: the servers that are known.
        rules: where others become known.
        where: the place of the rule.
        broad: whether it is about arguments: then `Edit` means every tool that writes files, and `Read` all
            that read them.
    """
    if name == "*":
        return ["*"]
    if not name.startswith(PREFIX):
        known = [name] if means_builtin(name) and _sayable(name) else []
        more = rules.handoffs("*") if any(map(glob(name).match, _SPAWN)) else []
        return [*(_FILES.get(name, known) if broad else known), *more]
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
