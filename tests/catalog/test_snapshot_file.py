import json

import pytest

from packbelt.catalog import Admitted, Skill, Snapshot
from packbelt.catalog.text import MAX_FILE
from packbelt.model import Code, Permission, ServerStatus, SnapshotError

FULL = """\
servers:
  github:
    status: connected
    instructions: null
    tools: [{name: search, description: "", inputSchema: {type: object}, annotations: {readOnlyHint: true}}]
  slow: {status: starting}
  broken: {status: failed, error: exited with 1}
skills: [{name: pdf, description: Reads PDFs., path: skills/pdf}]
disabled_agents: [planner]
ceiling: write
deny: ["github/delete_*"]
approve: []
admitted:
  - {id: server:github/search, placed: direct}
  - {id: native:read_file}
"""


@pytest.fixture
def snap(tmp_path):
    def read(text: str | bytes, name: str = "now.yaml") -> Snapshot:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Snapshot.from_file(path)

    return read


def test_a_snapshot_in_full(snap):
    snapshot = snap(FULL)
    github, slow, broken = (snapshot.servers[name] for name in ("github", "slow", "broken"))
    assert [tool.wire_name for tool in github.tools] == ["mcp__github__search"]
    assert github.tools[0].annotations == {"readOnlyHint": True}
    assert github.where is not None
    assert github.where.line == 2
    assert (slow.status, broken.status, broken.error) == (
        ServerStatus.STARTING,
        ServerStatus.FAILED,
        "exited with 1",
    )
    assert [(s.name, s.path) for s in snapshot.skills or ()] == [("pdf", "skills/pdf")]
    assert (snapshot.disabled_agents, snapshot.ceiling) == (("planner",), Permission.WRITE)
    assert [str(s.where).rsplit(":", 1)[1] for s in snapshot.deny] == ["11"]
    assert snapshot.admitted == (Admitted("server:github/search", "direct"), Admitted("native:read_file"))


def test_absent_and_empty_skills_are_two_things(snap):
    assert snap("servers: {}\n").skills is None
    assert snap("servers: {}\nskills: []\n").skills == ()
    assert snap("servers: {}\n").ceiling is None


def test_data_read_back_as_the_same_snapshot(snap):
    first = snap(FULL)
    data = json.loads(json.dumps(first.to_data()))
    second = Snapshot.from_data(data)
    assert second.to_data() == data
    assert second.servers["github"].tools == first.servers["github"].tools
    assert second.skills == (Skill("pdf", "Reads PDFs.", "skills/pdf"),)
    assert (second.deny[0].text, second.admitted, second.ceiling) == (
        "github/delete_*",
        first.admitted,
        first.ceiling,
    )


def test_json_and_yaml_give_one_snapshot(snap):
    as_yaml = snap(FULL)
    as_json = snap(json.dumps(as_yaml.to_data()), "now.json")
    assert as_json.to_data() == as_yaml.to_data()
    assert snap("{servers: {a: {status: starting}}}\n").servers["a"].status is ServerStatus.STARTING


def test_one_bad_tool_costs_itself(snap):
    tools = [
        {"description": "no name"},
        3,
        {"name": "x", "inputSchema": {"type": "array"}},
        {"name": "ok"},
        {"name": "ok"},
    ]
    state = snap(json.dumps({"servers": {"s": {"status": "connected", "tools": tools}}})).servers["s"]
    assert [tool.name for tool in state.tools] == ["ok"]
    assert [d.code for d in state.diagnostics] == [Code.TOOL_BROKEN] * 3 + [Code.TOOL_DUPLICATE]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("servers: {}\ndenny: []\n", ":2: unknown key `denny`; did you mean 'deny'?"),
        ("servers:\n  a: {status: connected, tols: []}\n", "did you mean 'tools'?"),
        ("servers:\n  a: {tools: []}\n", "`servers.a.status` is missing"),
        ("servers:\n  a: {status: conected}\n", "did you mean 'connected'?"),
        ("servers:\n  a: {status: connected, tools: }\n", "write [] or remove the key"),
        ("servers: [a]\n", "a list, not a mapping"),
        ("servers:\n", "has no value"),
        ('{"servers": {"a": {"status": "conn', "not valid JSON"),
        ('{"servers": {}', "ends too early"),
        ("servers: {a: {status: connected\n", ":"),
        ("- a\n", "not a mapping"),
        ("deny: ['a, b']\n", "one selector an entry"),
        ("admitted: [{id: search}]\n", "no tool's identity"),
        ("admitted: [{id: native:x, placed: here}]\n", "placed"),
        ("ceiling: max\n", "write one of"),
        ('{"servers": {"a": {"status": "connected"}, "a": {"status": "failed"}}}', "stands twice"),
        ('{"servers": {"\\ud800": {"status": "connected"}}}', "surrogate"),
        (b"servers: \xff", "not UTF-8"),
    ],
)
def test_what_a_snapshot_refuses(snap, text, words):
    with pytest.raises(SnapshotError) as caught:
        snap(text)
    assert words in str(caught.value)
    assert caught.value.mend
    assert caught.value.where is not None


def test_a_missing_file(tmp_path):
    with pytest.raises(SnapshotError, match="cannot be read"):
        Snapshot.from_file(tmp_path / "none.yaml")


def test_a_snapshot_may_be_larger_than_other_files(snap):
    tool = {"name": "x", "description": "d" * (MAX_FILE - 100)}
    servers = {name: {"status": "connected", "tools": [tool]} for name in "abc"}
    assert len(snap(json.dumps({"servers": servers})).servers) == 3


def test_data_need_no_file():
    with pytest.raises(SnapshotError, match="unknown key `server`; did you mean 'servers'"):
        Snapshot.from_data({"server": {}})
    assert Snapshot.from_data({}).servers == {}


def test_a_yaml_snapshot_that_breaks_off_inside_a_line_is_refused(snap):
    text = 'servers: {}\nceiling: none\ndeny: ["*/*"]\n'
    for end in range(1, len(text)):
        if text[end - 1] != "\n":
            with pytest.raises(SnapshotError):
                snap(text[:end])
    assert snap(text).ceiling is Permission.NONE
    assert snap(text + "...\n").ceiling is Permission.NONE
    assert snap("{servers: {}, ceiling: none}").ceiling is Permission.NONE
