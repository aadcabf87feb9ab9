"""What OpenCode says of tools: `tools` and `permission`, and its names in Claude Code's spelling."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from packbelt.catalog.claude_tools import means_builtin
from packbelt.catalog.names import claude_readings
from packbelt.catalog.problems import kind_of
from packbelt.catalog.yaml import Document
from packbelt.importers.report import Outcome, Remark
from packbelt.model import WorkspaceError

_CLAUDE = {
    "bash": ("Bash",),
    **dict.fromkeys(("edit", "write", "patch", "multiedit"), ("Edit", "MultiEdit", "NotebookEdit", "Write")),
    "read": ("Read",),
    "grep": ("Grep",),
    "glob": ("Glob",),
    "list": ("LS",),
    "lsp": ("LSP",),
    "task": ("Agent", "Task"),
    "skill": ("Skill",),
    "question": ("AskUserQuestion",),
    "todowrite": ("TodoWrite",),
    "todoread": ("TodoRead",),
    "webfetch": ("WebFetch",),
    "websearch": ("WebSearch",),
}
"""OpenCode's own tools, and those of Claude Code that do the same.

Each of those that write files is under the permission `edit`: switching one off switches off all.
"""
_GRANTED = {
    **_CLAUDE,
    "edit": ("Edit",),
    "patch": ("Edit",),
    "write": ("Write",),
    "multiedit": ("MultiEdit",),
}
"""A grant takes the narrower reading."""
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(slots=True)
class Said:
    """What `tools` and `permission` say.

    Attributes:
        denied: patterns that are off, in the order of the file; later entries win.
        granted: patterns that are on.
        asked: patterns of which a person is asked, in whole or for some arguments.
        closed: whether everything is off that is not granted.
        remarks: what could not be said.
    """

    denied: list[str] = field(default_factory=list)
    granted: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    closed: bool = False
    remarks: list[Remark] = field(default_factory=list)

    def set(self, pattern: str, *, on: bool) -> None:
        """One entry; it overrules those before it that it covers."""
        for some in (self.denied, self.granted):
            some[:] = [one for one in some if not fnmatchcase(one, _literal(pattern))]
        if pattern == "*":
            self.closed = not on
        else:
            (self.granted if on else self.denied).append(pattern)

    def before(self, pattern: str) -> str:
        """What the entries so far say of a pattern: it holds for arguments that its own rules leave out."""

        def among(some: list[str]) -> bool:
            return any(fnmatchcase(pattern, _literal(one)) for one in some)

        if among(self.denied) or (self.closed and not among(self.granted)):
            return "deny"
        return "ask" if among(self.asked) else "allow"


def said(holder: Mapping[str, Any], document: Document, *at: str) -> Said:
    """What an agent, or the file as a whole, says of tools; `permission` after `tools`.

    Raises:
        WorkspaceError: it cannot be understood; nobody guesses what a restriction means.
    """
    found = Said()
    tools = holder.get("tools", {})
    if not isinstance(tools, Mapping) or not all(isinstance(on, bool) for on in tools.values()):
        raise _unclear("tools", tools, document, at)
    for pattern, on in tools.items():
        found.set(pattern, on=on)
    if "permissions" in holder:
        raise _unclear("permissions", holder["permissions"], document, at)
    permission = holder.get("permission", {})
    if isinstance(permission, str):
        permission = {"*": permission}
    if not isinstance(permission, Mapping):
        raise _unclear("permission", permission, document, at)
    for pattern, rule in permission.items():
        effects = rule if isinstance(rule, Mapping) else {"*": rule}
        words = list(effects.values())
        if not words or not all(word in ("allow", "ask", "deny") for word in words):
            raise _unclear("permission", rule, document, (*at, "permission"))
        # What is denied unless an exception says otherwise is denied: the exceptions are about arguments.
        default = effects.get("*") or found.before(pattern)
        found.set(pattern, on=default != "deny")
        if default == "ask" or (default == "allow" and set(words) - {"allow"}):
            found.asked.append(pattern)
        if len(effects) > 1 or "*" not in effects:
            how = "denied" if default == "deny" else "asked about"
            message = (
                f"`permission.{pattern}` is about arguments, which no rule here sees; every call is {how}"
            )
            found.remarks.append(
                Remark(Outcome.APPROXIMATED, message, document.where(*at, "permission", pattern))
            )
    return found


def _unclear(key: str, value: object, document: Document, at: tuple[str, ...]) -> WorkspaceError:
    mend = (
        "write {name: true or false}"
        if key == "tools"
        else "write {tool: allow, ask or deny} under `permission`"
    )
    where = document.where(*at, key)
    return WorkspaceError(
        f"`{key}` cannot be understood ({kind_of(value)})", where=where, mend=mend, name=key
    )


@dataclass(frozen=True, slots=True)
class Spelling:
    """OpenCode's names in Claude Code's spelling.

    Args:
        servers: names of all servers that are known.
    """

    servers: tuple[str, ...]

    def denies(self, patterns: list[str]) -> list[str]:
        """What patterns deny, never less: one that may mean any server's tool denies them all."""
        return list(dict.fromkeys(name for pattern in patterns for name in self._deny(pattern)))

    def _deny(self, pattern: str) -> list[str]:
        names = [
            name for own, all_of in _CLAUDE.items() if fnmatchcase(own, _literal(pattern)) for name in all_of
        ]
        for server in self.servers:
            known = _FOREIGN.sub("_", server)
            names += (f"mcp__{known}__{rest}" for rest in _rests(pattern, f"{known}_"))
        if not names or "*" in pattern:
            names.append(pattern)
        return names

    def grants(self, patterns: list[str]) -> tuple[list[str], list[str]]:
        """What patterns grant, never more; and those that grant nothing."""
        names: list[str] = []
        lost: list[str] = []
        for pattern in patterns:
            found = list(_GRANTED.get(pattern, ()))
            for server in self.servers:
                plain = _FOREIGN.sub("_", server)
                tool = pattern.removeprefix(f"{plain}_")
                if tool != pattern and tool and (tool == "*" or "*" not in tool):
                    found.append(f"mcp__{plain}__{tool}")
            if len(found) == 1 or pattern in _GRANTED:
                names += found
            else:
                lost.append(pattern)
        return list(dict.fromkeys(names)), lost


def _rests(pattern: str, lead: str) -> list[str]:
    """What a pattern leaves for the tools of a server, whose names it sees with a lead before them.

    One for each way in which its beginning means the lead: a `*` may end in the lead, or go on after it.
    """
    rests: list[str] = []
    for i in range(len(pattern) + 1):
        if fnmatchcase(lead, _literal(pattern[:i])):
            open_end = i > 0 and pattern[i - 1] == "*"
            rests.append(_literal(f"*{pattern[i:].lstrip('*')}" if open_end else pattern[i:]) or "*")
    return ["*"] if "*" in rests else list(dict.fromkeys(rests))


def _literal(pattern: str) -> str:
    """A pattern in which only `*` and `?` are special, as in OpenCode."""
    return pattern.replace("[", "[[]")


def selectors_of(names: list[str], servers: tuple[str, ...]) -> list[str]:
    """Claude's spelling as selectors of `packbelt.yaml`, without plain names that nothing can answer to."""
    found: list[str] = []
    for name in names:
        if name.startswith("mcp__"):
            found += (
                f"{server}/{tool}" for server, tool in claude_readings(name, {one: one for one in servers})
            )
        elif means_builtin(name):
            found.append(name)
    return found
