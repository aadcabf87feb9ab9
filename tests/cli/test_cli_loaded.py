"""What did not load is never hidden: a line on standard error, whatever was asked for."""

import json

import pytest

SERVERS = {
    "half": {"args": ["x"]},
    "old": {"type": "sse", "url": "http://localhost/"},
    "fine": {"command": "x"},
}
ASKED = [
    ["dump"],
    ["dump", "orchestrator"],
    ["explain", "orchestrator", "delegate_to_one"],
    ["hint", "orchestrator", "delegate_to_one"],
    ["prompt", "orchestrator"],
]


@pytest.fixture
def broken(tmp_path):
    """A workspace with two server entries that cannot be used, one that can, and an imported agent."""
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": SERVERS}, indent=1))
    agent(tmp_path, "one", "name: one\ndescription: One.")
    return tmp_path


def agent(where, name, front):
    file = where / ".claude/agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{front}\n---\nx\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("args", ASKED)
def test_a_line_for_each_broken_entry(broken, run, args, form):
    done = run(broken, *args, *form)
    assert done.exit_code == 0
    first, second = done.stderr.splitlines()
    assert first.startswith("packbelt: .mcp.json:3: server 'half' has neither `command` nor `url`; ")
    assert second.startswith("packbelt: .mcp.json:9: server 'old' has the type 'sse'")
    if form:
        json.loads(done.stdout)


def test_check_lists_them_and_says_nothing_besides(broken, run):
    done = run(broken, "check")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "server 'half'" in done.stdout


def test_of_many_three_and_the_number(broken, run):
    for i in range(5):
        agent(broken, f"bad{i}", f"name: bad{i}\ndescription: Bad.\ntools:")
    lines = run(broken, "prompt", "one").stderr.splitlines()
    assert len(lines) == 4
    assert lines[-1] == "packbelt: and 4 more; packbelt check shows them"


def test_what_the_answer_says_itself_is_said_once(broken, run):
    agent(broken, "bad", "name: bad\ndescription: Bad.\ntools:")
    (broken / ".mcp.json").unlink()
    assert len(run(broken, "dump", "bad").stderr.splitlines()) == 1
    assert run(broken, "dump").stderr == ""
    assert "agent 'bad'" in run(broken, "dump", "one").stderr


def rows(done):
    return {line.split()[0]: line for line in done.stdout.splitlines()}


def test_connect_shows_broken_entries_as_failed(broken, run):
    done = run(broken, "connect", "half", "--trust")
    assert done.exit_code == 1
    assert set(rows(done)) == {"server", "half"}
    assert "failed" in rows(done)["half"]
    assert ".mcp.json:3: server 'half' has neither" in rows(done)["half"]
    assert "half" not in done.stderr
    everything = run(broken, "connect", "--trust", "--json")
    found = {server["name"]: server for server in json.loads(everything.stdout)["servers"]}
    assert everything.exit_code == 1
    assert {name: server["status"] for name, server in found.items()} == dict.fromkeys(SERVERS, "failed")
    assert set(found["half"]) == set(found["fine"])
    assert "has the type 'sse'" in found["old"]["error"]


def test_connect_shows_a_file_that_cannot_be_read(broken, run):
    (broken / ".mcp.json").write_text('{"mcpServers": {')
    done = run(broken, "connect")
    assert done.exit_code == 1
    assert "failed" in rows(done)[".mcp.json"]
    assert "no server is configured" not in done.stderr
    assert "is not valid JSON" in run(broken, "connect", "half").stderr


def test_connect_without_trust_names_them_too(broken, run):
    done = run(broken, "connect")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "server 'half'" in done.stderr
    assert "server 'old'" in done.stderr
