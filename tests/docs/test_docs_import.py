"""docs/import.md names every client, place, outcome and list that the importers read."""

import runpy
from pathlib import Path

from packbelt.importers import Client, Outcome, clients, sources

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/import.md").read_text(encoding="utf-8")
NAMES = {
    Client.CLAUDE_CODE: "Claude Code",
    Client.CLAUDE_DESKTOP: "Claude Desktop",
    Client.VSCODE: "VS Code",
    Client.CURSOR: "Cursor",
    Client.OPENCODE: "OpenCode",
    Client.CODEX: "Codex",
    Client.GEMINI: "Gemini CLI",
}


def test_every_client_and_every_outcome():
    assert set(NAMES) == set(Client)
    for name in NAMES.values():
        assert f"\n| {name} |" in PAGE
    for outcome in Outcome:
        assert f"\n| `{outcome}` |" in PAGE


def test_every_place_that_is_looked_at():
    for table in (sources._PROJECT, sources._USER, sources._PLUGIN):
        for path, _, _ in table:
            folder, _, name = path.rpartition("/")
            assert path in PAGE or (name in PAGE and folder in PAGE), path


def test_every_list_of_tools_has_a_role_that_the_page_speaks_of():
    for key in (
        "alwaysAllow",
        "autoApprove",
        "includeTools",
        "enabled_tools",
        "excludeTools",
        "disabledTools",
    ):
        assert key in clients._LISTS
        assert f"`{key}`" in PAGE


def test_the_command_offers_the_same_clients_and_scopes():
    command = runpy.run_path(str(ROOT / "src/packbelt/cli/import_.py"))
    assert command["CLIENTS"] == tuple(Client)
