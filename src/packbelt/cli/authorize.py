"""Whoever sits at the terminal authorizes a server in a browser."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from packbelt.model.text import one_line

if TYPE_CHECKING:
    from packbelt.catalog.workspace import Workspace
    from packbelt.live.servers.oauth import OAuth


def from_terminal(workspace: "Workspace", say: Callable[[str], None] | None) -> "OAuth":
    """How the servers of a command are authorized.

    Args:
        workspace: for its times.
        say: shows a line to a person; None where nobody sits there. It must not break the line.

    Raises:
        TokenError: `PACKBELT_TOKENS` names no place, or the keyring's package is not installed.
    """
    from packbelt.live.servers.oauth import PATIENCE, OAuth
    from packbelt.live.servers.tokens import user_store

    def interact(server: str, address: str) -> None:
        if say is not None:
            say(f"{one_line(server)} wants authorization, within {PATIENCE / 60:g} minutes, at {address}")
            open_browser(address)

    return OAuth(user_store(), interact if say else None, seconds=workspace.config.times.start)


def open_browser(address: str, environ: Mapping[str, str] | None = None) -> bool:
    """Open an address in the user's browser, where there is a screen to show it on; whether it was tried.

    Without a screen some systems start a browser that takes the terminal over.
    """
    import webbrowser

    environ = os.environ if environ is None else environ
    screen = any(environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    return (screen or sys.platform in {"win32", "darwin"}) and webbrowser.open(address)
