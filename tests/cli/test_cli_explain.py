"""`packbelt explain`: the verdict, every rule in order, routes with their agents."""

import re

import pytest


def steps(text):
    """Question number and answer of each line of the table of rules."""
    return [
        (int(n), answer)
        for n, answer in re.findall(r"^  (\d)\. is .*\?  +((?:also )?\w+)", text, re.MULTILINE)
    ] + [
        (int(n), answer)
        for n, answer in re.findall(r"^  (\d)\. how .*\?  +((?:also )?\w+)", text, re.MULTILINE)
    ]


def test_a_reserved_tool(fleet, run):
    done = run(fleet, "explain", "orchestrator", "registry_search")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].startswith("registry_search is reserved for orchestrator: ")
    assert steps(done.stdout) == [(1, "passed"), (2, "passed"), (3, "passed"), (4, "passed"), (5, "reserved")]
    assert "rule pack.access, packs/integrations.yaml:3" in done.stdout
    assert 'use_mcp_server(request="...")' in done.stdout
    assert "hands to mcp_agent, who can call it" in done.stdout


def test_a_denied_tool_shows_what_else_stands_in_the_way(fleet, run):
    (fleet / "now.yaml").write_text("ceiling: read\n")
    text = run(fleet, "explain", "orchestrator", "shell", "--snapshot", "now.yaml").stdout
    assert steps(text) == [
        (1, "denied"),
        (2, "passed"),
        (3, "passed"),
        (4, "also over_ceiling"),
        (5, "passed"),
    ]
    assert "rule workspace.deny, packbelt.yaml:3" in text
    assert "No route" in text


@pytest.mark.parametrize(
    ("tool", "answer", "rule"),
    [
        ("clock", "direct", "rule pack.exposure, packs/core.yaml:3"),
        ("file_read", "packed", "rule pack.exposure, packs/files.yaml"),
        ("use_mcp_server", "direct", "rule pack.direct, packs/integrations.yaml:5"),
        ("delegate_to_broken", "unavailable", "rule agent.broken, prompts/agents/broken.md:4"),
        ("delegate_to_refused", "off_belt", "rule agent.delegates, prompts/agents/orchestrator.md:4"),
    ],
)
def test_state_rule_and_place(fleet, run, tool, answer, rule):
    text = run(fleet, "explain", "orchestrator", tool).stdout
    assert text.startswith(f"{tool} is {answer} for orchestrator")
    assert rule in text


def test_the_chain_of_agents(fleet, run):
    """A hand-off to one who hands on is a route with both names."""
    (fleet / "prompts/agents/front.md").write_text(
        "---\nname: front\ndescription: Sits in front.\ntools: []\ndelegates: [orchestrator]\n---\nx\n"
    )
    (fleet / "packbelt.yaml").write_text("orchestrator: front\n")
    text = run(fleet, "explain", "front", "registry_search").stdout
    assert "hands to orchestrator hands on to mcp_agent, who can call it" in text


def test_a_reserved_tool_without_a_route_names_the_cut(fleet, run):
    (fleet / "now.yaml").write_text("disabled_agents: [mcp_agent]\n")
    text = run(fleet, "explain", "orchestrator", "registry_search", "--snapshot", "now.yaml").stdout
    assert "No route: every way in is cut" in text
    assert "agent 'mcp_agent' is disabled" in text
    assert "rule agent.disabled, now.yaml" in text


def test_the_opener_is_explained_too(fleet, run, run_json):
    assert run(fleet, "explain", "orchestrator", "use_pack").stdout.startswith(
        "use_pack is direct for orchestrator"
    )
    assert run_json(fleet, "explain", "orchestrator", "use_pack")["state"] == "direct"


@pytest.mark.parametrize("name", ["use_mcp_server", "registry_search", "shell", "mcp__weather__get_forecast"])
def test_json_is_the_dumps_element_with_reasons_and_routes(fleet, run_json, name):
    belt = run_json(fleet, "dump", "orchestrator", "--snapshot", "now.yaml")
    element = next(tool for tool in [*belt["tools"], *belt["withheld"]] if tool["wire_name"] == name)
    explained = run_json(fleet, "explain", "orchestrator", name, "--snapshot", "now.yaml")
    assert explained == {"reasons": explained["reasons"], "routes": explained["routes"]} | element
    assert explained["reasons"]


@pytest.mark.parametrize("name", ["weather/get_forecast", "server:weather/get_forecast", "get_forecast"])
def test_identities_and_plain_names(fleet, run_json, name):
    explained = run_json(fleet, "explain", "mcp_agent", name, "--snapshot", "now.yaml")
    assert (explained["wire_name"], explained["state"]) == ("mcp__weather__get_forecast", "direct")


def test_a_name_with_several_sources_lists_them(fleet, run):
    tool = "{name: search, inputSchema: {type: object}}"
    (fleet / "now.yaml").write_text(
        "servers:\n" + "".join(f"  {s}: {{status: connected, tools: [{tool}]}}\n" for s in ("one", "two"))
    )
    done = run(fleet, "explain", "orchestrator", "search", "--snapshot", "now.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "mcp__one__search" in done.stderr
    assert "mcp__two__search" in done.stderr


def test_an_unknown_tool(fleet, run):
    done = run(fleet, "explain", "orchestrator", "registry_serch")
    assert done.exit_code == 2
    assert done.stdout.startswith('"registry_serch" is unknown.')
    *_, last = done.stderr.splitlines()
    assert last.startswith("packbelt: error: ")
    assert "registry_search" in last


def test_an_unknown_tool_for_programs(fleet, run):
    import json

    done = run(fleet, "explain", "orchestrator", "nothing_like_it", "--json")
    assert done.exit_code == 2
    answer = json.loads(done.stdout)
    assert (answer["name"], answer["state"], answer["routes"]) == ("nothing_like_it", "unknown", [])
    assert [reason["rule"] for reason in answer["reasons"]] == ["no_such_tool"]


def test_an_unknown_tool_may_be_one_of_a_server_that_is_not_connected(tmp_path, run):
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"github": {"command": "x"}}}')
    done = run(tmp_path, "explain", "orchestrator", "mcp__github__search")
    assert done.exit_code == 2
    assert "those of github are not known before packbelt connect --save now.yaml" in done.stderr


def test_what_passes_says_why(fleet, run):
    text = run(fleet, "explain", "mcp_agent", "file_write").stdout
    assert "entry 'file_write' of its `tools` grants it" in text
    assert "rule agent.tools, prompts/agents/mcp_agent.md:5" in text
    assert "needs write, under the ceiling execute" in text
    assert "the workspace's ceiling is execute" in text
    default = run(fleet, "explain", "orchestrator", "file_read").stdout
    assert "`default_tools` is inherit" in default
    assert "needs read, under the ceiling execute" in default
    server = run(fleet, "explain", "mcp_agent", "get_forecast", "--snapshot", "now.yaml").stdout
    assert "server 'weather' is connected" in server


def test_an_agents_own_ceiling_is_named(fleet, run):
    file = fleet / "prompts/agents/mcp_agent.md"
    file.write_text(file.read_text().replace("handoff:", "ceiling: write\nhandoff:"))
    text = run(fleet, "explain", "mcp_agent", "file_write").stdout
    assert "needs write, under the ceiling write" in text
    assert "the ceiling of agent 'mcp_agent' is write, prompts/agents/mcp_agent.md:4" in text


@pytest.mark.parametrize(
    ("agent", "tool", "mend"),
    [
        ("mcp_agent", "file_read", "add `file_read` to `tools`, prompts/agents/mcp_agent.md:5"),
        ("narrow", "get_forecast", "add `weather/get_forecast` to `tools`, prompts/agents/narrow.md:4"),
        (
            "orchestrator",
            "delegate_to_refused",
            "add `refused` to `delegates`, prompts/agents/orchestrator.md:4",
        ),
    ],
)
def test_off_belt_has_a_mend(fleet, run, agent, tool, mend):
    (fleet / "prompts/agents/narrow.md").write_text(
        "---\nname: narrow\ndescription: Is narrow.\ntools: [clock]\n---\nx\n"
    )
    text = run(fleet, "explain", agent, tool, "--snapshot", "now.yaml").stdout
    assert f"mend: {mend}\n" in text
