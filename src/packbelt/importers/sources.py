"""Where each client keeps its files: in a project, in a home directory, in a plugin."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from packbelt.catalog import claude
from packbelt.catalog.near import suggestion
from packbelt.catalog.text import Tree
from packbelt.importers.plugins import MANIFEST, installed, plugin_name
from packbelt.model import Origin, Where, WorkspaceError


class Client(StrEnum):
    """Whose files can be read."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    VSCODE = "vscode"
    CURSOR = "cursor"
    OPENCODE = "opencode"
    CODEX = "codex"
    GEMINI = "gemini"


class Format(StrEnum):
    """The formats of files."""

    CLAUDE_AGENTS = "a folder of agents"
    CLAUDE_AGENT = "an agent"
    CLAUDE_JSON = "~/.claude.json"
    CLAUDE_SETTINGS = "Claude Code's settings"
    PLUGIN_MANIFEST = "a plugin's manifest"
    MCP_JSON = "mcpServers"
    VSCODE_MCP = "VS Code's mcp.json"
    VSCODE_SETTINGS = "VS Code's settings"
    CURSOR_MCP = "Cursor's mcp.json"
    OPENCODE = "opencode.json"
    OPENCODE_AGENTS = "a folder of OpenCode's agents"
    CODEX = "Codex's config.toml"
    GEMINI = "Gemini's settings"


@dataclass(frozen=True, slots=True)
class Source:
    """One file or folder that is read.

    Attributes:
        path: where it is.
        format: how it is read.
        client: whose it is.
        scope: where such a file counts.
        plugin: the plugin's name, for a plugin's.
        home: the directory that its relative paths start from: the project, the home or the plugin.
    """

    path: Path
    format: Format
    client: Client
    scope: Origin
    home: Path
    plugin: str = ""


_EDITORS = (".config/Code/User", "Library/Application Support/Code/User", "AppData/Roaming/Code/User")
_DESKTOPS = (".config/Claude", "Library/Application Support/Claude", "AppData/Roaming/Claude")
_C, _F = Client, Format
_PROJECT: tuple[tuple[str, Format, Client], ...] = (
    (claude.FOLDER, _F.CLAUDE_AGENTS, _C.CLAUDE_CODE),
    (".mcp.json", _F.MCP_JSON, _C.CLAUDE_CODE),
    (".claude/settings.json", _F.CLAUDE_SETTINGS, _C.CLAUDE_CODE),
    (".claude/settings.local.json", _F.CLAUDE_SETTINGS, _C.CLAUDE_CODE),
    (".vscode/mcp.json", _F.VSCODE_MCP, _C.VSCODE),
    (".vscode/settings.json", _F.VSCODE_SETTINGS, _C.VSCODE),
    (".cursor/mcp.json", _F.CURSOR_MCP, _C.CURSOR),
    *((name, _F.OPENCODE, _C.OPENCODE) for name in ("opencode.json", "opencode.jsonc")),
    *((f".opencode/{name}", _F.OPENCODE, _C.OPENCODE) for name in ("opencode.json", "opencode.jsonc")),
    *((f".opencode/{name}", _F.OPENCODE_AGENTS, _C.OPENCODE) for name in ("agent", "agents")),
    (".codex/config.toml", _F.CODEX, _C.CODEX),
    (".gemini/settings.json", _F.GEMINI, _C.GEMINI),
)
_USER: tuple[tuple[str, Format, Client], ...] = (
    (claude.FOLDER, _F.CLAUDE_AGENTS, _C.CLAUDE_CODE),
    (".claude.json", _F.CLAUDE_JSON, _C.CLAUDE_CODE),
    (".claude/settings.json", _F.CLAUDE_SETTINGS, _C.CLAUDE_CODE),
    (".claude/settings.local.json", _F.CLAUDE_SETTINGS, _C.CLAUDE_CODE),
    *((f"{folder}/claude_desktop_config.json", _F.MCP_JSON, _C.CLAUDE_DESKTOP) for folder in _DESKTOPS),
    *((f"{folder}/mcp.json", _F.VSCODE_MCP, _C.VSCODE) for folder in _EDITORS),
    *((f"{folder}/settings.json", _F.VSCODE_SETTINGS, _C.VSCODE) for folder in _EDITORS),
    (".cursor/mcp.json", _F.CURSOR_MCP, _C.CURSOR),
    *((f".config/opencode/{name}", _F.OPENCODE, _C.OPENCODE) for name in ("opencode.json", "opencode.jsonc")),
    *((f".config/opencode/{name}", _F.OPENCODE_AGENTS, _C.OPENCODE) for name in ("agent", "agents")),
    (".codex/config.toml", _F.CODEX, _C.CODEX),
    (".gemini/settings.json", _F.GEMINI, _C.GEMINI),
)
_PLUGIN: tuple[tuple[str, Format, Client], ...] = (
    ("agents", _F.CLAUDE_AGENTS, _C.CLAUDE_CODE),
    (".mcp.json", _F.MCP_JSON, _C.CLAUDE_CODE),
    (MANIFEST, _F.PLUGIN_MANIFEST, _C.CLAUDE_CODE),
)
_MANIFESTS = (MANIFEST, ".claude-plugin/marketplace.json")
_SPECIAL = {
    "claude_desktop_config.json": (_F.MCP_JSON, _C.CLAUDE_DESKTOP),
    ".claude.json": (_F.CLAUDE_JSON, _C.CLAUDE_CODE),
    "opencode.json": (_F.OPENCODE, _C.OPENCODE),
    "opencode.jsonc": (_F.OPENCODE, _C.OPENCODE),
}
_IN_FOLDER = {
    (".gemini", "settings.json"): (_F.GEMINI, _C.GEMINI),
    (".cursor", "mcp.json"): (_F.CURSOR_MCP, _C.CURSOR),
    **{(folder, "settings.json"): (_F.VSCODE_SETTINGS, _C.VSCODE) for folder in (".vscode", "User")},
    **{(folder, "mcp.json"): (_F.VSCODE_MCP, _C.VSCODE) for folder in (".vscode", "User")},
}
_SPECIAL_LAST = dict.fromkeys(("settings.json", "settings.local.json"), (_F.CLAUDE_SETTINGS, _C.CLAUDE_CODE))
"""Names whose folder decides first."""
_BY_SUFFIX = {
    ".toml": (_F.CODEX, _C.CODEX),
    **dict.fromkeys((".json", ".jsonc"), (_F.MCP_JSON, _C.CLAUDE_CODE)),
}
_BY_CLIENT = {
    _C.CLAUDE_DESKTOP: _F.MCP_JSON,
    _C.VSCODE: _F.VSCODE_MCP,
    _C.CURSOR: _F.CURSOR_MCP,
    _C.OPENCODE: _F.OPENCODE,
    _C.CODEX: _F.CODEX,
    _C.GEMINI: _F.GEMINI,
}


def sources(path: Path, client: Client | None, scope: Origin | None) -> list[Source]:
    """What is to be read below a path, nearest scope first, in a fixed order.

    Args:
        path: a file, or a project, a home directory, a plugin, a directory of plugins, or a folder of agents.
        client: only this client's files; a file, or a folder of agents, is then in this client's format.
        scope: how the directory is to be understood; None to tell by what lies in it.

    Raises:
        WorkspaceError: there is no such path, or nothing in it that can be read.
    """
    if path.is_file():
        return [_file(path, client, scope or Origin.PROJECT)]
    if not path.is_dir():
        raise WorkspaceError(
            "there is no such path", where=Where(str(path)), mend="name a file or a directory"
        )
    scope = scope or scope_of(path)
    found = [one for one in _directory(path, scope) if client in (None, one.client)]
    if not found and client in (Client.CLAUDE_CODE, Client.OPENCODE) and _pages(path):
        kind = Format.CLAUDE_AGENTS if client is Client.CLAUDE_CODE else Format.OPENCODE_AGENTS
        found = [Source(path, kind, client, scope, path, path.name if scope is Origin.PLUGIN else "")]
    if not found:
        agents = "; for a folder of agents say --from claude-code" if client is None and _pages(path) else ""
        raise WorkspaceError(
            f"nothing here is a {'' if client is None else f'{client} '}file that can be imported",
            where=Where(str(path)),
            mend=f"name a project, a home directory or a file such as .mcp.json{agents}",
        )
    return found


def scope_of(path: Path) -> Origin:
    """Whether a directory is a person's home, a plugin or marketplace, or a project, by what lies in it."""
    if any((path / name).is_file() for name in _MANIFESTS):
        return Origin.PLUGIN
    try:
        home = path.resolve() == Path.home().resolve()
    except RuntimeError:  # no home directory at all
        home = False
    return Origin.USER if home or (path / ".claude.json").is_file() else Origin.PROJECT


def _directory(path: Path, scope: Origin) -> Iterator[Source]:
    if scope is not Origin.PLUGIN:
        for name, kind, client in _USER if scope is Origin.USER else _PROJECT:
            if (path / name).exists() or (path / name).is_symlink():
                yield Source(path / name, kind, client, scope, path)
    plugins = [(path, plugin_name(path))] if scope is Origin.PLUGIN else []
    if scope is Origin.USER:
        plugins += installed(path)
    else:
        below = _below(path / "plugins", bare=scope is Origin.PLUGIN)
        plugins += ((plugin, plugin_name(plugin)) for plugin in below)
    for plugin, called in plugins:
        for name, kind, client in _PLUGIN:
            if (plugin / name).exists():
                yield Source(plugin / name, kind, client, Origin.PLUGIN, plugin, called)


def _below(folder: Path, *, bare: bool) -> list[Path]:
    """The plugins of a directory; `bare` for those without a manifest too."""
    if not folder.is_dir():
        return []
    return [
        one
        for one in Tree(folder).entries(folder.resolve())
        if (one / _MANIFESTS[0]).is_file() or (bare and (one / "agents").is_dir())
    ]


def _pages(path: Path) -> bool:
    return any(path.rglob("*.md"))


def _file(path: Path, client: Client | None, scope: Origin) -> Source:
    kind, whose = _format(path, client)
    inner = path.absolute().parent
    home = inner.parent if inner.name.startswith(".") else inner
    plugin = inner.name if scope is Origin.PLUGIN else ""
    return Source(path, kind, whose, scope, home, plugin)


def _format(path: Path, client: Client | None) -> tuple[Format, Client]:
    """A single file's format: what the caller says, else by its name and its folder's."""
    name, folder = path.name, path.absolute().parent.name
    if path.suffix == ".md":
        whose = client or (Client.OPENCODE if ".opencode" in path.parts else Client.CLAUDE_CODE)
        return (Format.OPENCODE_AGENTS if whose is Client.OPENCODE else Format.CLAUDE_AGENT), whose
    known = _SPECIAL.get(name) or _IN_FOLDER.get((folder, name)) or _SPECIAL_LAST.get(name)
    if known and client in (None, known[1]):
        return known
    if client is not None and client in _BY_CLIENT:
        return _BY_CLIENT[client], client
    if path.suffix in _BY_SUFFIX:
        return _BY_SUFFIX[path.suffix]
    names = (*_SPECIAL, ".mcp.json", "mcp.json", "settings.json", "config.toml")
    mend = suggestion(name, names, otherwise=f"say whose it is: --from {', '.join(Client)}")
    raise WorkspaceError("is no file that can be imported", where=Where(str(path)), mend=mend)
