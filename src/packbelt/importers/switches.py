"""Servers that Claude Code leaves out although a file configures them."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

_OFF = ("disabledMcpjsonServers", "disabledMcpServers")


def switched_off(data: object, name: str, entry: Mapping[str, Any]) -> bool:
    """Whether settings, or what `.claude.json` keeps for a project, switch a server off.

    Args:
        data: what is read of it is `disabledMcpjsonServers`, `disabledMcpServers`, `deniedMcpServers` and
            `allowedMcpServers`.
        name: the server's name.
        entry: its entry, as its file has it.
    """
    if not isinstance(data, Mapping):
        return False
    if any(name == one for key in _OFF for one in _list(data.get(key))):
        return True
    if any(_meets(rule, name, entry) for rule in _list(data.get("deniedMcpServers"))):
        return True
    allowed = data.get("allowedMcpServers")
    return isinstance(allowed, list) and not any(_meets(rule, name, entry) for rule in allowed)


def _meets(rule: object, name: str, entry: Mapping[str, Any]) -> bool:
    return isinstance(rule, Mapping) and any(_each(rule, name, entry))


def _each(rule: Mapping[str, Any], name: str, entry: Mapping[str, Any]) -> Iterator[bool]:
    yield rule.get("serverName") == name
    if isinstance(command := rule.get("serverCommand"), list):
        yield command == [entry.get("command"), *_list(entry.get("args"))]
    if isinstance(url := rule.get("serverUrl"), str):
        yield fnmatchcase(str(entry.get("url", "")), url.replace("[", "[[]"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
