"""A home directory that holds every client at once, imported, checked and resolved."""

import json

import pytest
from home_world import HOME, OTHER_SECRET, SECRET, SERVERS, snapshot_data, write_all

import packbelt
from packbelt.catalog import Snapshot, load
from packbelt.checks import run
from packbelt.importers import Kind, Outcome, gather, write
from packbelt.model import Level, Origin


@pytest.fixture
def home(tmp_path):
    return write_all(tmp_path / "home", HOME)


@pytest.fixture
def imported(home, tmp_path):
    found = gather(home, tmp_path / "ws")
    write(found.files, tmp_path / "ws")
    return found


def of(found, kind):
    return {item.name: item for item in found.report.items if item.kind is kind}


def test_it_loads_and_check_finds_no_error(imported, tmp_path):
    workspace = load(tmp_path / "ws")
    snapshot = Snapshot.from_data(snapshot_data(SERVERS))
    for findings in (run(workspace), run(workspace, snapshot)):
        assert [one.message for one in findings if one.level is Level.ERROR] == []
    assert sorted(workspace.servers) == sorted(SERVERS)
    assert sorted(workspace.agents) == ["orchestrator", "reader", "reviewer", "tester", "writer"]


def test_every_client_is_in_the_report_and_all_is_the_persons(imported):
    clients = {item.client for item in imported.report.items}
    assert clients == {"claude-code", "claude-desktop", "vscode", "cursor", "opencode", "codex", "gemini"}
    assert {item.scope for item in imported.report.items} == {Origin.USER}


def test_what_is_refused_and_left_out_has_a_reason_and_a_place(imported):
    servers = {(item.name, item.client): item for item in imported.report.items if item.kind is Kind.SERVER}
    old = servers["old", "vscode"]
    assert (old.outcome, str(old.where)) == (Outcome.REFUSED, ".config/Code/User/mcp.json:6")
    assert old.remarks[0].mend == "use the server's http address"
    assert servers["github", "cursor"].outcome is Outcome.LEFT_OUT
    assert "is nearer" in servers["github", "cursor"].remarks[0].message
    shop = servers["shop-db", "claude-code"]
    assert (shop.outcome, shop.remarks[0].mend) == (Outcome.LEFT_OUT, "import it with --into /srv/shop")
    assert [item.name for item in imported.report.items if item.outcome is Outcome.REFUSED] == ["old"]


def test_no_secret_is_written_anywhere_and_each_has_its_variable(imported, tmp_path):
    for path in (tmp_path / "ws").rglob("*"):
        if path.is_file():
            assert SECRET not in path.read_text()
            assert OTHER_SECRET not in path.read_text()
    entries = json.loads((tmp_path / "ws/.mcp.json").read_text())["mcpServers"]
    assert entries["github"]["env"] == {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "LOG": "info"}
    assert entries["search"]["headers"] == {"X-Api-Key": "${API_KEY}"}
    assert entries["tickets"]["headers"] == {"Authorization": "Bearer ${TICKETS}"}
    assert entries["docs"] == {
        "type": "stdio",
        "command": "docs-mcp",
        "args": ["--stdio"],
        "env": {"KEY": "${DOCS_KEY}"},
    }
    assert entries["wiki"]["args"] == ["--token", "${WIKI_TOKEN}"]
    assert entries["wiki"]["env"] == {"WIKI_HOME": "${WIKI_HOME}"}
    assert entries["remote"]["headers"] == {"Authorization": "Bearer ${REMOTE_TOKEN}"}
    assert entries["off"]["disabled"] is True
    wanted = {"API_KEY", "DOCS_KEY", "GITHUB_TOKEN", "REMOTE_TOKEN", "TICKETS", "WIKI_HOME", "WIKI_TOKEN"}
    assert set(imported.report.variables) == wanted


def test_the_belts_are_what_the_files_said(imported, tmp_path):
    workspace = load(tmp_path / "ws")
    snapshot = Snapshot.from_data(snapshot_data(SERVERS))

    def tools(agent):
        belt = packbelt.turn(workspace, snapshot, agent).belt
        return {
            name.removeprefix("mcp__") for name, one in belt.items() if one.state.callable and "mcp__" in name
        }

    assert tools("reviewer") == {"github__get_issue"}
    assert tools("tester") == {"github__get_issue", "github__list"}  # delete_repo is denied to all
    assert tools("reader") == {"docs__find"}
    everything = tools("orchestrator")
    assert not everything & {"github__delete_repo", "wiki__erase", "maps__route", "maps__traffic"}
    assert {"maps__find", "wiki__page", "files__read", "tickets__open"} <= everything
    assert not {name for name in tools("writer") if name.startswith("docs__")}


def test_a_second_import_changes_nothing_and_needs_no_force(imported, home, tmp_path):
    again = gather(home, tmp_path / "ws")
    assert write(again.files, tmp_path / "ws") == []


def test_the_servers_of_a_project_come_with_that_project(home, tmp_path):
    project = tmp_path / "shop"
    data = json.loads((home / ".claude.json").read_text())
    data["projects"] = {str(project): data["projects"]["/srv/shop"]}
    (home / ".claude.json").write_text(json.dumps(data))
    found = gather(home, project)
    assert "shop-db" in json.loads(found.files[".mcp.json"])["mcpServers"]
