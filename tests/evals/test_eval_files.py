"""Suites as files: every form is read, and what is wrong is said with its line and the mend."""

import anyio
import pytest

from packbelt.catalog.load import load
from packbelt.evals import RESULTS, Result, choose, model_named, read_suites, run_suite
from packbelt.evals.cases import Message, Wish
from packbelt.model import PackbeltError, SnapshotError, WorkspaceError

CASE = "cases:\n  - id: a\n    request: x\n    expect: none\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "packbelt.yaml").write_text("orchestrator: orchestrator\n")
    (tmp_path / "evals").mkdir()
    return tmp_path


def read(root, text, name="one.yaml", now=None):
    (root / "evals" / name).write_text(text)
    return read_suites(load(root), now)


def test_every_form_is_read(root):
    (root / "evals" / "now.json").write_text('{"servers": {"s": {"status": "starting"}}}')
    text = """\
id: all
summary: Two
  lines.
steps: 3
snapshot: now.json
cases:
  - id: a
    agent: orchestrator
    conversation:
      - user: Hello
      - assistant: Good day
      - user: Install it
    expect: [setup_skills, {any_of: [run_skill, use_mcp_server]}]
    forbid: [pack:core]
    tags: [x]
    wishes:
      - setup_skills
      - [run_skill, use_mcp_server]
      - {call: [x], guess: y, look: false, times: 2}
      - {direct: [x, y], call: [z], read: Routing}
      - {call: [x], blind: true}
      - {told: true}
    answers: {setup_skills: It is there.}
  - id: b
    request: x
    expect: {any_of: [run_skill]}
    steps: 1
    snapshot: {servers: {}}
"""
    (suite,) = read(root, text)
    first, second = suite.cases
    assert (suite.id, suite.summary) == ("all", "Two lines.")
    assert first.conversation == (
        Message("user", "Hello"),
        Message("assistant", "Good day"),
        Message("user", "Install it"),
    )
    assert first.request == "Install it"
    assert first.expect == (("setup_skills",), ("run_skill", "use_mcp_server"))
    assert first.wishes == (
        Wish(("setup_skills",)),
        Wish(("run_skill", "use_mcp_server")),
        Wish(("x",), "y", look=False, times=2),
        Wish(("z",), direct=("x", "y"), read="Routing"),
        Wish(("x",), blind=True),
        Wish(told=True),
    )
    assert (first.steps, second.steps) == (3, 1)
    assert (list(first.snapshot.servers), list(second.snapshot.servers)) == (["s"], [])
    assert (second.agent, second.expect) == ("orchestrator", (("run_skill",),))
    assert str(first.where()) == "evals/one.yaml:7"


def test_the_id_is_the_file_s_name_and_what_is_connected_is_the_caller_s_where_nothing_is_said(root):
    from packbelt.catalog.snapshot import Snapshot

    now = Snapshot().connect("s", [])
    (suite,) = read(root, CASE, "named.yml", now)
    assert suite.id == "named"
    assert suite.cases[0].snapshot is now


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cases: []\n", "evals/one.yaml:1: `cases` is empty; write a case"),
        ("case: []\n", "evals/one.yaml:1: unknown key `case`; did you mean 'cases'?"),
        (
            CASE + "    forbidden: []\n",
            "evals/one.yaml:5: unknown key `cases[1].forbidden`; did you mean 'forbid'?",
        ),
        (CASE.replace("    request: x\n", ""), "evals/one.yaml:2: the case asks nothing; write either"),
        (CASE + "    conversation: [{user: x}]\n", "both `request` and `conversation` are given"),
        (CASE.replace("request: x", "conversation: [{assistant: x}]"), "does not end with the user; end it"),
        (
            CASE.replace("request: x", "conversation: [{system: x}]"),
            "evals/one.yaml:3: a line of `conversation`",
        ),
        (
            CASE.replace("none", "[]"),
            "evals/one.yaml:4: `cases[1].expect` is empty; write none where no tool",
        ),
        (
            CASE.replace("none", "setup_skills"),
            "`cases[1].expect` is text, not a list; write the calls in order",
        ),
        (CASE.replace("none", "[3]"), "`cases[1].expect[1]` is a number, not a name"),
        (CASE.replace("none", "{anyof: [x]}"), "unknown key `cases[1].expect.anyof`; did you mean 'any_of'?"),
        (
            CASE + "    agent: orchestrater\n",
            "evals/one.yaml:5: no agent is called 'orchestrater'; did you mean 'orch",
        ),
        (CASE + "    steps: 0\n", "evals/one.yaml:5: `cases[1].steps`"),
        (
            CASE + "    wishes: [{calls: [x]}]\n",
            "unknown key `cases[1].wishes[1].calls`; did you mean 'call'?",
        ),
        (
            CASE + CASE.removeprefix("cases:\n"),
            "evals/one.yaml:5: case 'a' stands twice, first on line 2; rename",
        ),
        (CASE + "    snapshot: ../../x.yaml\n", "x.yaml"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_the_mend(root, text, said):
    with pytest.raises(PackbeltError) as error:
        read(root, text)
    assert said in str(error.value)


@pytest.mark.parametrize("snapshot", ["{server: {}}", "3", "{servers: {s: {status: conected}}}"])
def test_a_snapshot_that_is_none_is_refused_with_the_line_of_the_case(root, snapshot):
    with pytest.raises(SnapshotError, match=r"^evals/one\.yaml:5: "):
        read(root, f"{CASE}    snapshot: {snapshot}\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("expect: [setup_skill]", "evals/one.yaml:4: no tool is called 'setup_skill' (`expect`); did you mean 'setup_skills'?"),
        ("expect: none\n    forbid: [shell, web_serch_tool]", "evals/one.yaml:5: 'web_serch_tool' in `forbid` matches nothing; did you mean 'web_search_tool'?"),
        ("expect: none\n    answers: {shel: x}", "no tool is called 'shel' (`answers`); did you mean 'shell'?"),
        ("expect: [setup_skills]\n    forbid: [pack:skills]", "case 'a' expects and forbids 'setup_skills'"),
    ],
)  # fmt: skip
def test_names_that_the_workspace_has_not_are_refused_before_anything_is_played(
    embedded, tmp_path, more, said
):
    from packbelt.catalog.text import Tree
    from packbelt.evals.files import parse_suite

    text = CASE.replace("expect: none", more)
    suite = parse_suite(text, "evals/one.yaml", embedded, Tree(tmp_path))
    with pytest.raises(WorkspaceError) as error:
        anyio.run(run_suite, embedded, suite, model_named("scripted"))
    assert said in str(error.value)


def test_two_suites_of_one_id_are_refused(root):
    read(root, "id: one\n" + CASE, "a.yaml")
    with pytest.raises(WorkspaceError, match=r"two suites have the id 'one': here and in evals/a\.yaml"):
        read(root, CASE, "one.yaml")


def test_a_suite_is_chosen_by_its_name(root):
    suites = read(root, CASE)
    assert choose(suites, None) == choose(suites, "one") == suites
    with pytest.raises(WorkspaceError, match="no suite is called 'on'; did you mean 'one'"):
        choose(suites, "on")
    with pytest.raises(WorkspaceError, match="has no suite of evals"):
        choose((), None)


def test_every_outcome_has_its_sentence():
    assert list(RESULTS) == list(Result)
    assert all(result.meaning.endswith(".") for result in Result)


def test_a_model_that_is_none_is_refused_with_the_nearest():
    with pytest.raises(PackbeltError, match="no model is called 'lexcal'; did you mean 'lexical'"):
        model_named("lexcal")
