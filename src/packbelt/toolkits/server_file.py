"""`.mcp.json`, changed one entry at a time; the rest of it stays as it is."""

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packbelt.catalog.servers import FILE
from packbelt.catalog.text import Tree
from packbelt.model import WorkspaceError
from packbelt.toolkits.limits import ToolkitError

_WRAPPER = "mcpServers"


@dataclass(frozen=True, slots=True)
class ServerFile:
    """The file of a workspace.

    Args:
        root: the workspace.
    """

    root: Path

    def entries(self) -> dict[str, Any]:
        """Its entries by local name.

        Raises:
            ToolkitError: the file cannot be read.
        """
        servers = self._read().get(_WRAPPER, {})
        if not isinstance(servers, dict):
            raise ToolkitError(f"`{_WRAPPER}` in {FILE} is no object", mend="a person mends the file")
        return servers

    def add(self, name: str, entry: dict[str, Any]) -> None:
        """Add an entry.

        Raises:
            ToolkitError: one has that name, or the file cannot be read or written.
        """

        def change(servers: dict[str, Any]) -> None:
            if name in servers:
                raise ToolkitError(f"{FILE} has a server {name!r}", mend="pass another local name as server")
            servers[name] = entry

        self._change(change)

    def remove(self, name: str) -> None:
        """Remove an entry that came from a registry.

        Raises:
            ToolkitError: there is none, a person wrote it, or the file cannot be read or written.
        """

        def change(servers: dict[str, Any]) -> None:
            if name not in servers:
                raise ToolkitError(f"{FILE} has no server {name!r}", mend="list the installed ones")
            if not origin(servers[name])[0]:
                raise ToolkitError(f"server {name!r} came from no registry", mend="a person may remove it")
            del servers[name]

        self._change(change)

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        whole = self._read()
        change(whole.setdefault(_WRAPPER, {}))
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        path = (self.root / FILE).resolve()
        try:
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
            number, made = tempfile.mkstemp(prefix=".mcp-", dir=path.parent)
            try:
                with os.fdopen(number, "w", encoding="utf-8") as out:
                    out.write(text)
                Path(made).chmod(mode)
                Path(made).replace(path)
            finally:
                Path(made).unlink(missing_ok=True)
        except OSError as error:
            raise ToolkitError(f"{FILE} cannot be written: {error.strerror}") from None

    def _read(self) -> dict[str, Any]:
        path = self.root / FILE
        if not os.path.lexists(path):
            return {}
        try:
            whole = json.loads(Tree(self.root).read(path))
        except WorkspaceError as error:
            raise ToolkitError(f"{FILE} {error.problem}") from None
        except (ValueError, RecursionError):
            raise ToolkitError(f"{FILE} is not valid JSON", mend="a person mends the file") from None
        if not isinstance(whole, dict) or (whole and not isinstance(whole.get(_WRAPPER, {}), dict)):
            raise ToolkitError(f"{FILE} has no `{_WRAPPER}`", mend="a person mends the file")
        if whole and _WRAPPER not in whole:
            raise ToolkitError(f"{FILE} has its servers outside `{_WRAPPER}`", mend="a person mends the file")
        return whole


def origin(entry: object) -> tuple[str, str]:
    """The registry name and the version of an entry that a registry gave; empty where a person wrote it."""
    if not isinstance(entry, dict) or not isinstance(entry.get("link"), str):
        return "", ""
    name, _, version = str(entry["link"]).rpartition("/versions/")
    return (str(entry.get("name", "")), version) if "/v0.1/servers/" in name else ("", "")
