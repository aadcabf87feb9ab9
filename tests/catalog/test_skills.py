import pytest

from packbelt.catalog import load
from packbelt.model import Code


def skill(name: str, description: str = "Does it.") -> str:
    return f"---\nname: {name}\ndescription: {description}\nlicense: MIT\n---\nBody\n"


def codes(workspace) -> list[Code]:
    return [d.code for d in workspace.diagnostics]


def test_a_skill_and_its_place(write):
    workspace = load(write({"skills/pdf/SKILL.md": skill("pdf", "Reads PDFs.")}))
    (found,) = workspace.skills
    assert (found.name, found.description, found.path) == ("pdf", "Reads PDFs.", "skills/pdf")
    assert str(found.where) == "skills/pdf/SKILL.md:2"
    assert not workspace.diagnostics


def test_fm08_a_skill_with_bom_and_crlf(write):
    text = b"\xef\xbb\xbf" + skill("pdf").replace("\n", "\r\n").encode()
    assert [s.name for s in load(write({"skills/pdf/SKILL.md": text})).skills] == ["pdf"]


def test_sk10_the_nearer_of_two_skills_wins_and_the_other_is_shown(write):
    root = write(
        {
            "packbelt.yaml": "skills: [near, far]\n",
            "near/pdf/SKILL.md": skill("pdf", "Near."),
            "far/pdf/SKILL.md": skill("pdf", "Far."),
            ".claude/skills/pdf/SKILL.md": skill("pdf", "Claude."),
            ".claude/skills/csv/SKILL.md": skill("csv"),
        }
    )
    workspace = load(root)
    assert [(s.name, s.description) for s in workspace.skills] == [("pdf", "Near."), ("csv", "Does it.")]
    assert codes(workspace) == [Code.SKILL_SHADOWED] * 2
    assert all("near/pdf" in d.message for d in workspace.diagnostics)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\nname: pdf\ndescription: Use when: asked\n---\n", 3, "quotes"),
        ("---\nname: pdf\n---\n", 2, "`description` is missing"),
        ("---\ndescription: D.\n---\n", 2, "`name` is missing"),
        ("---\nname: pdf\ndescription:\n---\n", 3, "empty"),
        ("---\nname: 3\ndescription: D.\n---\n", 2, "quotes"),
        ("---\nname: ../../evil\ndescription: D.\n---\n", 2, "no name for a skill"),
        ("---\nname: ..\ndescription: D.\n---\n", 2, "no name for a skill"),
        ("# No front matter\n", 1, "no front matter"),
        ("---\nname: pdf\n", 1, "no end"),
    ],
)
def test_sk14_a_broken_skill_is_listed_with_file_line_and_reason(write, text, line, words):
    workspace = load(write({"skills/pdf/SKILL.md": text, "skills/ok/SKILL.md": skill("ok")}))
    assert [s.name for s in workspace.skills] == ["ok"]
    (diagnostic,) = workspace.diagnostics
    assert diagnostic.code is Code.SKILL_BROKEN
    assert str(diagnostic.where) == f"skills/pdf/SKILL.md:{line}"
    assert words in str(diagnostic)


def test_sk24_other_things_in_a_folder_of_skills_make_no_noise(write):
    workspace = load(
        write(
            {
                "skills/README.md": "# Skills\n",
                "skills/.git/SKILL.md": "junk",
                "skills/node_modules/SKILL.md": "junk",
                "skills/notes/readme.txt": "",
                "skills/pdf/SKILL.md": skill("pdf"),
            }
        )
    )
    assert [s.name for s in workspace.skills] == ["pdf"]
    assert not workspace.diagnostics


def test_sk26_names_that_differ_only_in_a_separator_are_one(write):
    workspace = load(
        write(
            {
                "skills/create-plan/SKILL.md": skill("create-plan"),
                "skills/create_plan/SKILL.md": skill("create_plan"),
            }
        )
    )
    assert [s.name for s in workspace.skills] == ["create-plan"]
    (diagnostic,) = workspace.diagnostics
    assert diagnostic.code is Code.SKILL_SHADOWED
    assert "skills/create_plan" in diagnostic.message
    assert "skills/create-plan" in diagnostic.message


def test_sk27_a_broken_skill_shadows_none(write):
    root = write({"skills/foo/SKILL.md": "junk", ".claude/skills/foo/SKILL.md": skill("foo")})
    workspace = load(root)
    assert [s.path for s in workspace.skills] == [".claude/skills/foo"]
    assert codes(workspace) == [Code.SKILL_BROKEN]


@pytest.mark.parametrize(("folder", "name"), [("one", "two"), ("-x", "-x"), ("A", "A"), ("a--b", "a--b")])
def test_names_that_the_format_does_not_take_are_warnings(write, folder, name):
    workspace = load(write({f"skills/{folder}/SKILL.md": skill(name)}))
    assert [s.name for s in workspace.skills] == [name]
    assert codes(workspace) == [Code.SKILL_NAME]


def test_the_usual_places_of_a_project_in_their_order(write):
    places = ["skills", ".agents/skills", ".claude/skills", ".github/skills"]
    # a is in all places, b in all but the first, and so on: each is read from the first place that has it.
    having = [(place, name) for n, name in enumerate("abcd") for place in places[n:]]
    workspace = load(write({f"{place}/{name}/SKILL.md": skill(name) for place, name in having}))
    nearest = {s.name: s.path for s in workspace.skills}
    assert nearest == {name: f"{place}/{name}" for place, name in zip(places, "abcd", strict=True)}
    assert {d.code for d in workspace.diagnostics} == {Code.SKILL_SHADOWED}


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("description: " + "x" * 1025, 3, "1,025 characters"),
        ("description: D.\ncompatibility: " + "x" * 501, 4, "501 characters"),
        ("description: D.\nmetadata: [a]", 4, "mapping of text to text"),
        ("description: D.\nmetadata:\n  version: 1.0", 4, "quotes"),
        ("description: D.\nallowed-tools: [Read, Bash]", 4, "blanks between"),
        ("description: D.\nlicense: {name: MIT}", 4, "licence"),
    ],
)
def test_what_the_format_does_not_take_is_said_and_the_skill_is_read(write, lines, line, words):
    workspace = load(write({"skills/pdf/SKILL.md": f"---\nname: pdf\n{lines}\n---\nBody\n"}))
    assert [s.name for s in workspace.skills] == ["pdf"]
    (diagnostic,) = workspace.diagnostics
    assert diagnostic.code is Code.SKILL_FORM
    assert str(diagnostic.where) == f"skills/pdf/SKILL.md:{line}"
    assert words in str(diagnostic)


def test_what_is_just_within_the_format_is_not_remarked_on(write):
    lines = f"description: {'x' * 1024}\ncompatibility: {'x' * 500}\nmetadata:\n  version: '1.0'\nallowed-tools: Read Bash"
    assert not load(write({"skills/pdf/SKILL.md": f"---\nname: pdf\n{lines}\n---\nBody\n"})).diagnostics
