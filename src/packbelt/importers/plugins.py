"""Claude Code's plugins: those that a person has installed and switched on, and what each is called."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packbelt.catalog.text import Tree
from packbelt.importers.documents import read_json
from packbelt.model import PackbeltError

MANIFEST = ".claude-plugin/plugin.json"
_FOLDER = ".claude/plugins"
_INSTALLED = "installed_plugins.json"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")


def installed(home: Path) -> Iterator[tuple[Path, str]]:
    """The plugins of a person's own that Claude Code would load: directory and name, in a fixed order.

    Their list is `installed_plugins.json`, and `enabledPlugins` of the settings says which are on. One that
    is installed for a project only, that is gone, or that lies elsewhere is none of them.
    """
    found = _read(home, f"{_FOLDER}/{_INSTALLED}").get("plugins")
    listed: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    enabled: dict[str, Any] = {}
    for name in _SETTINGS:
        said = _read(home, name).get("enabledPlugins")
        enabled |= said if isinstance(said, Mapping) else {}
    tree = Tree(home / _FOLDER)
    for key in sorted(listed):
        entries = listed[key] if isinstance(listed[key], list) else [listed[key]]
        for entry in entries if enabled.get(key) is True else ():
            place = entry.get("installPath") if isinstance(entry, Mapping) else None
            if not isinstance(place, str) or "\0" in place or entry.get("scope", "user") != "user":
                continue
            path = tree.root / place
            if tree.holds(path) and path.is_dir():
                yield path, key.rpartition("@")[0] or key


def plugin_name(plugin: Path) -> str:
    """What a plugin calls itself in its manifest; else its directory's name."""
    name = _read(plugin, MANIFEST).get("name")
    return name.strip() if isinstance(name, str) and name.strip() else plugin.resolve().name


def _read(home: Path, name: str) -> dict[str, Any]:
    """A file's object; empty where there is none. What is wrong with it is said where it is imported."""
    path = home / name
    if not path.is_file():
        return {}
    try:
        data = read_json(Tree(home).read(path), name).data
    except PackbeltError:
        return {}
    return data if isinstance(data, dict) else {}
