from packbelt.catalog import Snapshot
from packbelt.model import Code, Level, Where

CONFIG = """
    servers:
      "*": {tools: {log: {approve: true}, push: {approve: true}}}
      gti: {permission: dangerous}
      git:
        tools:
          log: {permission: read}
          lgo: {permission: dangerous}
"""
MCP = '{"mcpServers": {"git": {"command": "x"}}}'
NOW = {"servers": {"git": {"status": "connected", "tools": [{"name": "log"}]}}}


def test_an_entry_for_a_server_that_nobody_has_is_a_note_before_and_a_warning_with_a_snapshot(build, find):
    workspace = build({"packbelt.yaml": CONFIG, ".mcp.json": MCP})
    (found,) = find(workspace, Code.SERVER_POLICY_UNUSED)
    assert (found.level, found.name, found.where) == (Level.NOTE, "gti", Where("packbelt.yaml", 3))
    assert found.mend == "did you mean 'git'?"
    first = [
        f for f in find(workspace, Code.SERVER_POLICY_UNUSED, Snapshot.from_data(NOW)) if f.name == "gti"
    ]
    assert [f.level for f in first] == [Level.WARNING]


def test_an_exception_for_a_tool_that_its_connected_server_lacks_is_a_warning_said_once(build, find):
    workspace = build({"packbelt.yaml": CONFIG, ".mcp.json": MCP})
    found = {f.name: f for f in find(workspace, Code.SERVER_POLICY_UNUSED, Snapshot.from_data(NOW))}
    assert set(found) == {"gti", "lgo", "push"}
    assert (found["lgo"].level, found["lgo"].where) == (Level.WARNING, Where("packbelt.yaml", 7))
    assert found["lgo"].mend == "did you mean 'log'?"
    assert found["push"].where == Where("packbelt.yaml", 2)


def test_tools_of_a_server_that_is_not_connected_are_nobodys_finding(build, find):
    workspace = build({"packbelt.yaml": CONFIG, ".mcp.json": MCP})
    now = Snapshot.from_data({"servers": {"git": {"status": "starting"}}})
    assert [f.name for f in find(workspace, Code.SERVER_POLICY_UNUSED, now)] == ["gti"]


def test_a_disabled_agent_that_is_none_is_a_warning_with_its_near_miss(build, find, agent):
    workspace = build({"prompts/agents/worker.md": agent()})
    now = Snapshot.from_data({"disabled_agents": ["wokrer", "worker"]})
    (found,) = find(workspace, Code.AGENT_DISABLED_UNKNOWN, now)
    assert (found.level, found.name, found.mend) == (Level.WARNING, "wokrer", "did you mean 'worker'?")
