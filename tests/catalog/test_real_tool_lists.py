"""Real tool lists with the oddest names and schemas: every one loads, and its belt can be sent to any provider."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from packbelt.belt import Scope, belt_of
from packbelt.catalog import Snapshot, load
from packbelt.catalog.registry import bind

FIXTURE = Path(__file__).parent.parent / "fixtures" / "nasty_tool_lists.json"
EVERY_PROVIDER = re.compile(r"[A-Za-z0-9_-]{1,64}")


@pytest.fixture
def belt(tmp_path):
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {}}')
    return belt_of(bind(load(tmp_path), Snapshot.from_file(FIXTURE)), Scope("orchestrator"))


def listed():
    servers = json.loads(FIXTURE.read_text())["servers"]
    return {(server, tool["name"]): tool for server, state in servers.items() for tool in state["tools"]}


def test_every_tool_is_there_under_its_own_name(belt):
    known = {(tool.id.server, tool.name) for tool in belt.registry.tools if tool.id.server}
    assert known == set(listed())


def test_every_wire_name_fits_every_provider_and_is_one_tools_alone(belt):
    names = [tool.wire_name for tool in belt.registry.tools]
    assert all(EVERY_PROVIDER.fullmatch(name) for name in names)
    assert len(set(names)) == len(names)


def test_every_schema_that_is_sent_is_an_object_schema_with_properties(belt):
    for tool in belt.registry.tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert isinstance(tool.input_schema["properties"], dict)


def test_descriptions_and_schemas_arrive_as_their_servers_wrote_them(belt):
    raw = listed()
    for tool in belt.registry.tools:
        if tool.id.server:
            given = raw[tool.id.server, tool.name]
            assert tool.description == (given.get("description") or "")
            sent = json.loads(tool.line)["input_schema"]
            assert {key: sent[key] for key in given["inputSchema"]} == given["inputSchema"]


def test_names_that_had_to_change_are_reported_and_stay_apart(belt):
    altered = [tool for tool in belt.registry.tools if tool.altered]
    assert {tool.id.server for tool in altered} >= {"Feishu/Lark MCP Server", "shopify dev"}
    assert all(re.search(r"_[0-9a-f]{8}\Z", tool.wire_name) for tool in altered)
