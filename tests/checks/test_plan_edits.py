"""A plan in files: as little as it takes, taken by git, and read back as what was planned."""

import shutil
import subprocess

import pytest

from packbelt.catalog.load import load
from packbelt.checks.plan_answer import Plan, PlanError
from packbelt.checks.plan_edits import edits, patch

TOOLS = "tools: [{name: a}, {name: b}, {name: c}]\n"
HEAD = "# About it.\nid: p\nsummary: Tools.\n"

FORMS = [
    # before, wanted, after
    (TOOLS, "ab", f"direct: [a, b]\n{TOOLS}"),
    (f"direct: []  # none\n{TOOLS}", "a", f"direct: [a]  # none\n{TOOLS}"),
    (f"direct: [a, c]  # both\n{TOOLS}", "c", f"direct: [c]  # both\n{TOOLS}"),
    (f"direct: [a, c]  # both\n{TOOLS}", "a", f"direct: [a]  # both\n{TOOLS}"),
    (f"direct: [a, c]  # both\n{TOOLS}", "abc", f"direct: [a, c, b]  # both\n{TOOLS}"),
    (f"direct: ['a', \"c\"]\n{TOOLS}", "c", f'direct: ["c"]\n{TOOLS}'),
    (f"direct: [\n  a,  # first\n  b,  # second\n]\n{TOOLS}", "abc", f"direct: [\n  a,  # first\n  b, c,  # second\n]\n{TOOLS}"),
    (f"direct:\n  - a  # first\n  - c\n# then\n{TOOLS}", "c", f"direct:\n  - c\n# then\n{TOOLS}"),
    (f"direct:\n  - a  # first\n  - c\n\n# then\n{TOOLS}", "abc", f"direct:\n  - a  # first\n  - c\n  - b\n\n# then\n{TOOLS}"),
    (f"direct:\n- a\n# then\n{TOOLS}", "", f"# then\n{TOOLS}"),
    (f"direct: [a]  # gone\n{TOOLS}", "", TOOLS),
    (f"exposure: direct  # all\n{TOOLS}", "bc", f"exposure: packed  # all\ndirect: [b, c]\n{TOOLS}"),
    (f"exposure: direct\n{TOOLS}", "", f"exposure: packed\n{TOOLS}"),
    (f"{TOOLS}direct: [a]", "ab", f"{TOOLS}direct: [a, b]"),
    (f"{TOOLS}direct:\n  - a", "ab", f"{TOOLS}direct:\n  - a\n  - b"),
    (f"direct: [a]\n{TOOLS}", "b", f"direct: [b]\n{TOOLS}"),
    (f"direct: [a, b]  # two\n{TOOLS}", "c", f"direct: [c]  # two\n{TOOLS}"),
    (f"direct: [a, b, c]\n{TOOLS}", "c", f"direct: [c]\n{TOOLS}"),
    (f"direct:\n  - a\n  - b\n# then\n{TOOLS}", "c", f"direct:\n  - c\n# then\n{TOOLS}"),
    (f"? direct\n: [a]\n{TOOLS}", "b", f"? direct\n: [b]\n{TOOLS}"),
]  # fmt: skip


@pytest.fixture
def home(tmp_path):
    root = tmp_path / "home"
    (root / "packs").mkdir(parents=True)
    (root / "packbelt.yaml").write_text("{}\n")
    return root


def git(root, *args, text=None):
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *args],
        cwd=root,
        input=text,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "wanted", "after"), FORMS)
def test_lists_in_every_form(home, before, wanted, after, end):
    path = home / "packs/p.yaml"
    path.write_bytes((HEAD + before).replace("\n", end).encode())
    (made,) = edits(load(home), Plan((), {"p": frozenset(wanted)}))
    assert made.after == (HEAD + after).replace("\n", end)
    git(home, "init", "-q")
    git(home, "apply", "-", text=patch([made]).encode())
    assert path.read_bytes() == made.after.encode()
    pack = load(home).packs["p"]
    assert (set(pack.direct), pack.exposure) == (set(wanted), "packed")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tools: ['pack:p']  # its job", "tools: ['pack:p', a, c]  # its job"),
        (
            "tools:\n  - pack:p  # its job\n  # no more",
            "tools:\n  - pack:p  # its job\n  - a\n  - c\n  # no more",
        ),
        ("tools: [pack:p, a]", "tools: [pack:p, a, c]"),
    ],
)
def test_an_agents_own_tools(home, before, after):
    text = "---\nname: boss\ndescription: Says so.\n{}\ndelegates: []\n---\nYou say so. tools: [x]\n---\n"
    (home / "packs/p.yaml").write_text(HEAD + TOOLS)
    (home / "prompts/agents").mkdir(parents=True)
    (home / "prompts/agents/boss.md").write_text(text.format(before))
    (made,) = edits(load(home), Plan((), {}, {"boss": ("a", "c")}))
    assert made.after == text.format(after)
    git(home, "init", "-q")
    git(home, "apply", "-", text=patch([made]).encode())
    assert [one.text for one in load(home).agents["boss"].tools] == ["pack:p", "a", "c"]


def test_what_is_not_edited_is_refused(home):
    (home / "packs/p.yaml").write_text("{id: p, summary: Tools., tools: [{name: a}]}\n")
    with pytest.raises(PlanError, match=r"packs/p.yaml: cannot be edited: .*key on each line"):
        edits(load(home), Plan((), {"p": frozenset("a")}))


def test_in_a_folder_of_a_repository_too(home, tmp_path):
    (home / "packs/p.yaml").write_text(HEAD + TOOLS)
    made = edits(load(home), Plan((), {"p": frozenset("a")}))
    git(tmp_path, "init", "-q")
    git(home, "apply", "-", text=patch(made).encode())
    assert load(home).packs["p"].direct == ("a",)
    shutil.rmtree(tmp_path / ".git")


def test_a_name_that_yaml_would_read_as_something_else_is_quoted(home):
    names = ["12", "0x1F", "true", "null", "on", "-a"]
    tools = "".join(f"  - {{name: '{name}'}}\n" for name in names)
    for direct in ("", "direct: [b]\n", "direct:\n  - b\n"):
        (home / "packs/p.yaml").write_text(f"{HEAD}{direct}tools:\n  - {{name: b}}\n{tools}")
        (made,) = edits(load(home), Plan((), {"p": frozenset(names)}))
        (home / "packs/p.yaml").write_text(made.after)
        assert set(load(home).packs["p"].direct) == set(names)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}direct:\n  -\n    a\n  - b\n{TOOLS}",
        f"{HEAD}direct:\n  - # x-y\n    b\n{TOOLS}",
        f"{HEAD}? tools\n: [{{name: a}}, {{name: b}}, {{name: c}}]\n",
    ],
)
def test_no_edit_is_made_that_says_anything_else(home, text):
    (home / "packs/p.yaml").write_text(text)
    with pytest.raises(PlanError, match=r"packs/p.yaml: cannot be edited"):
        edits(load(home), Plan((), {"p": frozenset("bc")}))


def test_a_link_stays_a_link_and_what_it_leads_to_is_edited(home):
    (home / "shared.yaml").write_text(HEAD + TOOLS)
    (home / "packs/p.yaml").symlink_to("../shared.yaml")
    made = edits(load(home), Plan((), {"p": frozenset("a")}))
    git(home, "init", "-q")
    git(home, "apply", "-", text=patch(made).encode())
    assert (home / "packs/p.yaml").is_symlink()
    assert load(home).packs["p"].direct == ("a",)
