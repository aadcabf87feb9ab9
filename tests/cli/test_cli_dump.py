"""`packbelt dump`: the JSON's keys, figures that add up, what people see, and the files it writes."""

import json
import re

import pytest

TOOL = {"name", "wire_name", "source", "state", "permission", "tokens", "description", "input_schema"}
BELT = {"agent", "digest", "tools", "withheld", "packs", "sections", "tokens", "diagnostics"}
TOKENS = {
    "encoding",
    "method",
    "overhead",
    "tools",
    "sections",
    "total",
    "if_unpacked",
    "low",
    "high",
    "verified",
}


@pytest.fixture
def belt(fleet, run_json):
    return run_json(fleet, "dump", "orchestrator", "--snapshot", "now.yaml")


def by_name(entries):
    return {entry["wire_name"]: entry for entry in entries}


def test_the_keys_are_those_of_the_contract(belt):
    assert set(belt) == BELT
    assert set(belt["tokens"]) == TOKENS
    assert all(set(pack) == {"id", "open", "tools", "tokens"} for pack in belt["packs"])
    assert all(set(one) == {"level", "code", "message", "where"} for one in belt["diagnostics"])
    for entry in belt["tools"]:
        assert TOOL <= set(entry) <= TOOL | {"pack", "target"}
    for entry in belt["withheld"]:
        assert TOOL | {"reasons", "routes"} <= set(entry) <= TOOL | {"pack", "target", "reasons", "routes"}
        assert entry["reasons"]
        assert all(set(reason) == {"rule", "detail", "where"} for reason in entry["reasons"])
        assert all(set(route) == {"via", "call", "arguments"} for route in entry["routes"])


def test_target_only_for_hand_offs_and_pack_only_in_one(belt):
    tools = by_name([*belt["tools"], *belt["withheld"]])
    assert {name for name, tool in tools.items() if "target" in tool} == {
        "delegate_to_broken",
        "delegate_to_refused",
        "use_mcp_server",
    }
    assert tools["use_mcp_server"]["target"] == "mcp_agent"
    assert tools["use_mcp_server"]["pack"] == "integrations"
    assert tools["mcp__weather__get_forecast"]["pack"] == "mcp:weather"
    assert "pack" not in tools["use_pack"]


def test_states_of_the_small_fleet(belt):
    assert [tool["wire_name"] for tool in belt["tools"]] == ["use_pack", "clock", "use_mcp_server"]
    assert {name: tool["state"] for name, tool in by_name(belt["withheld"]).items()} == {
        "delegate_to_broken": "unavailable",
        "delegate_to_refused": "off_belt",
        "file_read": "packed",
        "file_write": "packed",
        "mcp__weather__get_forecast": "reserved",
        "registry_search": "reserved",
        "shell": "denied",
    }


def test_reasons_have_the_line_and_routes_the_call(belt):
    search = by_name(belt["withheld"])["registry_search"]
    assert [(reason["rule"], reason["where"]) for reason in search["reasons"]] == [
        ("pack.access", "packs/integrations.yaml:3")
    ]
    assert search["routes"] == [{"via": "handoff", "call": "use_mcp_server", "arguments": {"request": "..."}}]
    packed = by_name(belt["withheld"])["file_read"]
    assert packed["routes"][0]["via"] == "opener"
    assert packed["routes"][0]["arguments"]["pack"] == "files"
    assert packed["routes"][0]["arguments"]["tool"] == "file_read"


def test_packs_count_what_is_put_away(belt):
    packs = {pack["id"]: pack for pack in belt["packs"]}
    withheld = by_name(belt["withheld"])
    saved = withheld["file_read"]["tokens"] + withheld["file_write"]["tokens"]
    assert packs["files"] == {"id": "files", "open": True, "tools": 2, "tokens": saved}
    assert packs["integrations"] == {"id": "integrations", "open": False, "tools": 0, "tokens": 0}
    assert packs["mcp:weather"]["open"] is False


@pytest.mark.parametrize("method", ["json", "openai", "anthropic"])
def test_tk05_lines_and_overhead_add_up_to_the_total(fleet, run_json, method):
    belt = run_json(fleet, "dump", "orchestrator", "--method", method)
    tokens = belt["tokens"]
    assert sum(tool["tokens"] for tool in belt["tools"]) + tokens["overhead"] == tokens["tools"]
    assert tokens["tools"] + tokens["sections"] == tokens["total"]
    assert (tokens["overhead"] > 0) is (method != "json")
    callable_tools = [tool for tool in belt["tools"] if tool["wire_name"] != "use_pack"]
    callable_tools += [tool for tool in belt["withheld"] if tool["state"] in ("packed", "deferred")]
    assert sum(tool["tokens"] for tool in callable_tools) + tokens["overhead"] == tokens["if_unpacked"]
    assert tokens["low"] <= tokens["total"] <= tokens["high"]


def test_tk08_a_packed_tool_has_its_price_and_the_opener_too(belt):
    assert all(tool["tokens"] > 0 for tool in [*belt["tools"], *belt["withheld"]])


def test_the_text_adds_up_too(fleet, run):
    text = run(fleet, "dump", "orchestrator", "--method", "anthropic").stdout
    direct = text.split("Direct:")[1].split("\n\n")[0]
    figures = {row.split()[0]: int(row.split()[-1].replace(",", "")) for row in direct.splitlines()[2:]}
    tools = figures.pop("tools")
    assert set(figures) == {"use_pack", "clock", "use_mcp_server", "overhead"}
    assert sum(figures.values()) == tools
    total, shown, sections = re.search(
        r"Total: ([\d,]+) tokens = ([\d,]+) tools \+ ([\d,]+) sections", text
    ).groups()
    assert int(shown.replace(",", "")) == tools
    assert int(total.replace(",", "")) == tools + int(sections.replace(",", ""))


def test_people_see_packs_routes_servers_and_what_is_approved(fleet, run):
    text = run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml").stdout
    assert re.search(r"^  files +2 ", text, re.MULTILINE)
    reserved = r"^  reserved +2  integrations, mcp:weather +pack\.access +use_mcp_server → mcp_agent$"
    assert re.search(reserved, text, re.MULTILINE)
    assert re.search(r"^  denied +1  shell +workspace\.deny +nothing$", text, re.MULTILINE)
    assert re.search(r"^  server weather +connected +1 tool$", text, re.MULTILINE)
    assert re.search(r"^  server slow +starting", text, re.MULTILINE)
    owner = run(fleet, "dump", "mcp_agent").stdout
    assert re.search(r"^  file_write +files +write \* ", owner, re.MULTILINE)
    assert "a person approves each call" in owner


def test_all_lists_every_tool_once(fleet, run, belt):
    text = run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml", "--all").stdout
    for name in by_name([*belt["tools"], *belt["withheld"]]):
        assert len(re.findall(rf"^ +{re.escape(name)}  ", text, re.MULTILINE)) == 1, name


def test_tk11_repeated_text_is_pointed_out(tmp_path, run):
    tools = "".join(
        f"  - {{name: t{i}, description: 'Number {i}.', input_schema: {{type: object, properties: "
        f"{{where: {{type: string, description: 'The very same long words about where the thing is to be found.'}}}}}}}}\n"
        for i in range(9)
    )
    files = {"packs/p.yaml": f"id: p\nexposure: direct\ntools:\n{tools}", "packbelt.yaml": "{}\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "tokens of it are repetitions" in run(tmp_path, "dump", "orchestrator").stdout


def test_all_agents_the_refused_beside_the_others(fleet, run_json):
    belts = run_json(fleet, "dump")
    assert [belt["agent"] for belt in belts] == ["orchestrator", "broken", "mcp_agent", "refused"]
    found = {belt["agent"]: belt for belt in belts}
    assert set(found["mcp_agent"]) == BELT
    assert set(found["broken"]) == set(found["refused"]) == {"agent", "refused"}
    broken, refused = found["broken"]["refused"][0], found["refused"]["refused"][0]
    assert (broken["code"], broken["where"]) == ("agent.broken", "prompts/agents/broken.md:4")
    assert refused["where"] == "prompts/agents/refused.md:4"
    assert "nowhere" in refused["message"]


def test_the_overview_says_what_to_run_next(fleet, run):
    text = run(fleet, "dump").stdout
    assert re.search(r"^  orchestrator +3 +2 +\d+ ", text, re.MULTILINE)
    assert re.search(r"^  refused +-.* refused$", text, re.MULTILINE)
    assert "prompts/agents/broken.md:4: " in text
    assert "packbelt dump orchestrator" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("command", ["dump", "report"])
def test_what_to_run_next_names_the_same_workspace_and_snapshot(fleet, run, monkeypatch, command):
    text = run(fleet.parent, command, "-w", "fleet", "--snapshot", "fleet/now.yaml").stdout
    following = re.findall(r"^  (packbelt .*?)  ", text.partition("\nNext\n")[2], re.MULTILINE)
    assert following
    assert all("-w fleet --snapshot fleet/now.yaml" in line for line in following), following
    monkeypatch.setenv("PACKBELT_SNAPSHOT", "now.yaml")
    assert "--snapshot" not in run(fleet, command).stdout.partition("\nNext\n")[2]


def test_files_are_written_whole_under_safe_names(fleet, run, tmp_path):
    agent = fleet / "prompts/agents/chef.md"
    agent.write_text("---\nname: .chef de café\ndescription: Cooks.\nhandoff: cook\n---\nYou cook.\n")
    out = tmp_path / "out"
    done = run(fleet, "dump", ".chef de café", "--out", out)
    assert (done.exit_code, done.stdout) == (0, "")
    names = sorted(path.name for path in out.iterdir())
    assert len(names) == 3
    stems = {re.sub(r"\.(tools\.json|prompt\.md|belt\.json)$", "", name) for name in names}
    assert len(stems) == 1
    assert re.fullmatch(r"chef_de_caf_-[0-9a-f]{8}", stems.pop())
    assert "You cook." in next(out.glob("*.prompt.md")).read_text()
    belt = json.loads(next(out.glob("*.belt.json")).read_text())
    form = json.loads(next(out.glob("*.tools.json")).read_text())
    assert [tool["wire_name"] for tool in belt["tools"]] == [tool["name"] for tool in form]
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in form)


def test_files_of_all_agents_leave_out_the_refused(fleet, run, tmp_path):
    done = run(fleet, "dump", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert {path.name.split(".")[0] for path in (tmp_path / "out").iterdir()} == {"orchestrator", "mcp_agent"}
    assert "not written: prompts/agents/broken.md:4: " in done.stderr


def test_a_project_with_nothing_but_mcp_json_speaks_of_itself_and_starts_nothing(tmp_path, run):
    marker = tmp_path / "started"
    config = {"mcpServers": {"github": {"command": "touch", "args": [str(marker)]}}}
    (tmp_path / ".mcp.json").write_text(json.dumps(config))
    before = sorted(tmp_path.rglob("*"))
    done = run(tmp_path, "dump")
    assert done.exit_code == 0
    assert "server not connected: github (packbelt connect --save now.yaml)" in done.stdout
    assert done.stderr == ""
    assert run(tmp_path, "dump", "orchestrator").exit_code == 0
    assert run(tmp_path, "check").exit_code == 0
    assert not marker.exists()
    assert sorted(tmp_path.rglob("*")) == before


def test_text_from_servers_cannot_command_the_terminal(fleet, run):
    (fleet / "now.yaml").write_text('servers: {bad: {status: failed, error: "gone\\e[31m\\nred"}}\n')
    text = run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml").stdout
    assert re.search(r"^  server bad +failed +gone\[31m red$", text, re.MULTILINE)


def test_many_connected_servers_are_summed_up_and_the_others_named(fleet, run):
    lines = [f"  s{i}: {{status: connected, tools: [{{name: t}}]}}" for i in range(20)]
    (fleet / "now.yaml").write_text("\n".join(["servers:", *lines, "  bad: {status: failed, error: gone}\n"]))
    text = run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml").stdout
    assert "  20 servers connected, 20 tools\n" in text
    assert re.search(r"^  server bad +failed +gone$", text, re.MULTILINE)
    assert "server s1 " not in text


def test_a_failed_server_is_said_once(fleet, run):
    (fleet / "now.yaml").write_text("servers: {bad: {status: failed, error: gone for good}}\n")
    text = run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml").stdout
    assert text.count("gone for good") == 1
    assert "Remarks" not in text


def test_notes_that_ask_for_nothing_share_a_line(fleet, run):
    servers = "".join(f"  s{i}: {{status: connected, tools: [{{name: 'a b'}}]}}\n" for i in range(6))
    (fleet / "now.yaml").write_text("servers:\n" + servers)
    text = run(fleet, "dump", "mcp_agent", "--snapshot", "now.yaml").stdout
    notes = [line for line in text.splitlines() if "nothing needs to be done" in line]
    assert len(notes) == 1
    assert "; so with s1, s2, s3 and 2 more; nothing needs to be done" in notes[0]


def figures(fleet, run_json):
    return run_json(fleet, "dump", "orchestrator")["tokens"]


def test_putting_away_at_a_loss_is_called_one(fleet, run, run_json):
    tokens = figures(fleet, run_json)
    loss = tokens["tools"] - tokens["if_unpacked"]
    text = run(fleet, "dump", "orchestrator").stdout
    assert loss > 0
    assert f"putting away costs {loss} tokens more than it saves" in text
    assert "% is saved" not in text


def test_what_is_saved_is_net_of_the_opener(fleet, run, run_json):
    words = "Words that cost a lot. " * 60
    file = fleet / "packs/files.yaml"
    file.write_text(file.read_text().replace("Reads a file.", words))
    tokens = figures(fleet, run_json)
    net = tokens["if_unpacked"] - tokens["tools"]
    text = run(fleet, "dump", "orchestrator").stdout
    assert net > 0
    assert f"putting away saves {net} tokens (" in text
    assert "net of the opener, the sections not counted" in text


def test_nothing_put_away_is_nothing_to_compare(fleet, run):
    assert "putting away" not in run(fleet, "dump", "mcp_agent").stdout


def test_the_snapshot_of_the_environment(fleet, run, run_json, monkeypatch):
    given = run_json(fleet, "dump", "mcp_agent", "--snapshot", "now.yaml")
    monkeypatch.setenv("PACKBELT_SNAPSHOT", "now.yaml")
    assert run_json(fleet, "dump", "mcp_agent") == given
    assert "mcp__weather__get_forecast" in by_name(given["tools"])
    (fleet / "other.yaml").write_text("servers: {}\n")
    assert run_json(fleet, "dump", "mcp_agent", "--snapshot", "other.yaml") != given
    monkeypatch.setenv("PACKBELT_SNAPSHOT", "gone.yaml")
    done = run(fleet, "dump")
    assert done.exit_code == 2
    assert "gone.yaml: " in done.stderr
    assert "PACKBELT_SNAPSHOT names this file" in done.stderr
