"""docs/files.md says what the loader reads: the same keys, the same defaults, and examples that load."""

import dataclasses
import json
import re
import shutil

import pytest
from pages import FILES, ROOT, after, codes, fences, marks, table, write_examples

import packbelt
from packbelt.belt import belt_of
from packbelt.catalog import claude, forms, packs, servers, skills, text, yaml
from packbelt.catalog import schema as s
from packbelt.catalog.registry import bind
from packbelt.checks import run
from packbelt.live import environment, trust
from packbelt.live.servers import child, connect
from packbelt.model import Level, Permission
from packbelt.model.text import LIMIT
from packbelt.model.wire import LIMIT as WIRE
from packbelt.prompt import sandbox, view, words

SCHEMAS = {
    "config": s.ConfigFile,
    "policy": s.ServerPolicyFile,
    "tool policy": s.ToolPolicyFile,
    "budget": s.BudgetFile,
    "times": s.TimesFile,
    "pack": s.PackFile,
    "tool": s.ToolFile,
    "agent": s.AgentFile,
    "snapshot": s.SnapshotFile,
    "snapshot server": s.SnapshotServerFile,
    "snapshot skill": s.SkillFile,
    "admitted": s.AdmittedFile,
    "lock": s.LockFile,
}
STAND_INS = {
    *(("tool policy", key) for key in ("permission", "approve")),
    ("config", "budget"),
    ("config", "times"),
    ("pack", "id"),
    *(("agent", key) for key in ("name", "handoff", "tools", "skills", "ceiling")),
    *(("snapshot", key) for key in ("skills", "ceiling")),
}
"""Keys whose absence means something that no value of the schema says."""


def rows_of(mark):
    return {codes(row[0])[0]: row for row in table(FILES, f"keys: {mark}")}


@pytest.mark.parametrize("mark", SCHEMAS)
def test_a_table_has_exactly_the_keys_of_its_schema(mark):
    rows = table(FILES, f"keys: {mark}")
    assert [codes(row[0])[0] for row in rows] == list(SCHEMAS[mark].model_fields)


def test_every_schema_has_a_table():
    shapes = {
        each
        for each in vars(s).values()
        if isinstance(each, type) and issubclass(each, s.FileModel) and each is not s.FileModel
    }
    assert set(SCHEMAS.values()) == shapes


@pytest.mark.parametrize("mark", SCHEMAS)
def test_defaults_are_those_of_the_schema(mark):
    for key, field in SCHEMAS[mark].model_fields.items():
        default = rows_of(mark)[key][2]
        if field.is_required():
            assert default == "required", key
        elif (mark, key) in STAND_INS:
            assert default not in ("required", "empty", "none", "`[]`", "`{}`"), key
        elif field.default == "":
            assert default == "empty", key
        elif mark == "admitted":
            assert (default, field.default) == ("none", None)
        else:
            assert default == f"`{spelled(field.default)}`", key


def spelled(value):
    return json.dumps(value).replace('"', "")


@pytest.mark.parametrize("mark", SCHEMAS)
def test_the_words_of_a_closed_set_are_all_there(mark):
    for key, field in SCHEMAS[mark].model_fields.items():
        told = rows_of(mark)[key][1]
        words_of = [word for word in getattr(field.annotation, "__args__", ()) if isinstance(word, str)]
        if set(words_of) == {str(level) for level in Permission}:
            assert told == "permission", key
        elif words_of:
            assert set(codes(told)) == set(words_of), key


def test_permissions_in_order():
    line = "A permission is one of " + ", ".join(f"`{level}`" for level in Permission)
    assert line in FILES.read_text(encoding="utf-8").replace("\n", " ")


def test_servers_have_the_keys_that_are_read():
    assert set(rows_of("server")) == servers._KEYS


def test_claude_has_the_keys_that_are_read():
    read = {claude._plain(key) for key in rows_of("claude")}
    assert read == claude._EXACT | claude._LOOSE


def test_skills_have_the_keys_that_are_read():
    for key in rows_of("skill"):
        whole = {"name": "a", "description": "b"}
        del whole[key]
        lines = "".join(f"{name}: {value}\n" for name, value in whole.items())
        with pytest.raises(packbelt.WorkspaceError, match=f"`{key}` is missing"):
            skills.parse_skill(f"---\n{lines}---\n", "SKILL.md", "a")


def test_every_table_of_keys_is_held_against_something():
    held = {*SCHEMAS, "server", "claude", "skill", "view"}
    assert {mark.removeprefix("keys: ") for mark in marks(FILES) if mark.startswith("keys: ")} == held


# templates ----------------------------------------------------------------------------------------------


def test_templates_see_the_names_of_the_view():
    workspace = packbelt.load(ROOT)
    given = view.view_of(belt_of(bind(workspace, packbelt.Snapshot()), packbelt.Scope("orchestrator")))
    assert list(rows_of("view")) == list(given)


def test_fields_of_the_view():
    classes = [view.Server, view.Reached, view.InstalledSkill, view.PutAway, view.Taker, view.Family]
    expected = {
        each.__name__: {f.name for f in dataclasses.fields(each)} for each in (*classes, words.Listing)
    }
    told = {}
    for name, fields in table(FILES, "fields"):
        told[codes(name)[0]] = set(codes(re.sub(r"\([^)]*\)", "", fields)))
    assert told == expected


def test_filters():
    told = {name for name in codes(after(FILES, "filters")) if name.isidentifier()}
    assert told == {name for name in sandbox._FILTERS if not name.startswith("_")}
    assert set(sandbox.Sandbox().globals) == {"range"}


# figures ------------------------------------------------------------------------------------------------


def test_the_environment_of_a_server():
    assert tuple(codes(after(FILES, "environment"))) == environment.INHERITED


def test_limits():
    assert text.MAX_FILE == trust._MAX_FILE
    expected = [
        (text.MAX_FILE,),
        (text.MAX_SNAPSHOT,),
        (yaml.MAX_DEPTH,),
        (packs.MAX_GUIDE,),
        (WIRE,),
        (forms.MAX_SCHEMA,),
        (forms.MAX_TOOLS,),
        (connect.MAX_SERVERS, connect.AT_ONCE),
        (child.MAX_MESSAGE,),
        (LIMIT,),
        (sandbox.SIZE,),
        (sandbox.STEPS, int(sandbox.SECONDS)),
        (words.LINES, words.LINE_BYTES, words.NAME_BYTES),
    ]
    told = [
        tuple(int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", row[1]))
        for row in table(FILES, "limits")
    ]
    assert told == expected


# examples -----------------------------------------------------------------------------------------------


@pytest.fixture
def examples(tmp_path):
    root = tmp_path / "workspace"
    write_examples(FILES, root)
    return root


def test_every_example_has_a_file_name():
    assert all(name for _, name, _ in fences(FILES))


def test_the_examples_are_one_workspace_that_loads_without_a_remark(examples):
    workspace = packbelt.load(examples)
    notes = [found for found in workspace.diagnostics if found.level is not Level.NOTE]
    assert notes == []
    assert set(workspace.agents) == {"orchestrator", "github_agent", "reviewer"}
    assert workspace.broken == {}
    assert set(workspace.servers) == {"github", "clock"}
    assert set(workspace.inline) == {"github_agent.issue_cache"}
    assert [skill.name for skill in workspace.skills] == ["changelog"]
    assert "team" in workspace.templates
    assert set(workspace.packs) == {"notes"}


def test_the_check_finds_the_failed_server_of_the_examples_and_nothing_worse(examples):
    snapshot = packbelt.Snapshot.from_file(examples / "now.yaml")
    found = run(packbelt.load(examples), snapshot)
    worse = [(one.code, one.name) for one in found if one.level is not Level.NOTE]
    assert worse == [("server.failed", "clock")]


def test_the_example_agent_sees_what_its_file_says(examples):
    snapshot = packbelt.Snapshot.from_file(examples / "now.yaml")
    turn = packbelt.turn(packbelt.load(examples), snapshot, "github_agent")
    states = {
        name: str(turn.belt[f"mcp__github__{name}"].state) for name in snapshot.servers["github"].by_name
    }
    assert states == {
        "delete_repository": "denied",
        "get_pull_request": "direct",  # its agent owns the server
        "merge_pull_request": "direct",
    }
    assert turn.belt["mcp__github__merge_pull_request"].approve
    assert turn.belt["note_find"].state == "direct"  # named exactly
    assert turn.belt["note_write"].state == "packed"
    assert turn.belt["note_delete"].state == "denied"
    assert "- reviewer: Reviews a change before it is merged. Call `delegate_to_reviewer`." in turn.prompt


def test_the_example_lock_accepts_the_example_snapshot_and_nothing_else(examples):
    workspace = packbelt.load(examples)
    snapshot = packbelt.Snapshot.from_file(examples / "now.yaml")
    assert bind(workspace, snapshot).changed == 0
    other = snapshot.connect("github", [{"name": "get_pull_request", "description": "Another."}])
    assert bind(workspace, other).changed != 0


def test_the_example_trust_file_trusts_the_example_server_and_no_other(examples, tmp_path):
    file = tmp_path / "trust.json"
    root = str(packbelt.load(examples).root)
    file.write_text((examples / "trust.json").read_text().replace("/srv/project", root))
    file.chmod(0o600)
    verdict = trust.Trust(file).resolve(packbelt.load(examples))
    assert [spec.name for spec in verdict.trusted] == ["clock"]
    assert list(verdict.refused) == ["github"]


def test_an_unknown_key_in_each_example_of_our_own_is_refused(examples):
    """So that the tables, which equal the schemas, are all that the loader takes."""
    for name, old in (
        ("packbelt.yaml", "default_tools:"),
        ("packs/notes.yaml", "summary:"),
        ("packbelt.lock", '"version": 1'),
    ):
        kept = (examples / name).read_text()
        new = old.replace("version", "versoin") if "version" in old else f"x_{old}"
        (examples / name).write_text(kept.replace(old, new, 1))
        with pytest.raises(packbelt.WorkspaceError):
            packbelt.load(examples)
        (examples / name).write_text(kept)
    packbelt.load(examples)


def test_yml_is_refused(examples):
    shutil.move(examples / "packbelt.yaml", examples / "packbelt.yml")
    with pytest.raises(packbelt.WorkspaceError, match=r"packbelt\.yml"):
        packbelt.load(examples)
