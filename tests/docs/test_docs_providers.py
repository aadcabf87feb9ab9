"""docs/providers.md is what the descriptors say; its lines of code compile, and its links lead somewhere."""

import ast
import importlib
import re
import runpy

import pytest
from pages import ROOT, fences, packbelt_commands, parses

from packbelt.model import PackbeltError
from packbelt.providers import TARGETS, Axis, target

PAGE = ROOT / "docs/providers.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def generator():
    return runpy.run_path(str(ROOT / "docs/generate_providers.py"))


def test_the_page_is_up_to_date(generator):
    """If this fails: `uv run python docs/generate_providers.py`."""
    assert generator["page"]() == TEXT


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_its_sentences_its_use_and_its_examples(name, generator):
    one = target(name)
    section = TEXT.split(f"## {one.title}\n")[1].split("\n## ")[0]
    for cells in (one.enforcement, *one.ways.values()):
        for axis in Axis:
            for sentence in (cells[axis].target, cells[axis].guard, cells[axis].open):
                assert sentence.replace("|", "\\|") in section
    assert one.proved_on in section
    assert re.escape(one.names.pattern.pattern).replace("\\", "") in section.replace("\\", "")
    use = generator["USE"][name]
    assert use in section
    assert 0 < len(use.splitlines()) <= 5
    (where,) = re.findall(r"\]\(how-to/([a-z-]+)\.md\)", section)
    shown = re.findall(r"\{literalinclude\} \.\./(\S+)", (ROOT / f"docs/how-to/{where}.md").read_text())
    examples = {f"examples/{where}/{path.name}" for path in (ROOT / "docs/examples" / where).glob("*.py")}
    assert set(shown) == examples


def test_every_target_is_used(generator):
    assert list(generator["USE"]) == list(TARGETS)


def test_links_lead_to_headings():
    headings = {
        line.removeprefix("## ").lower().replace(" ", "-") for line in TEXT.splitlines() if line[:3] == "## "
    }
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert len(links) == len(TARGETS)
    assert set(links) <= headings


@pytest.mark.parametrize("code", [text for kind, _, text in fences(PAGE) if kind == "python"])
def test_the_lines_are_python_and_name_what_there_is(code):
    body = "".join(f"    {line}\n" for line in code.splitlines())
    tree = ast.parse(f"async def use():\n{body}")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            try:
                module = importlib.import_module(node.module)
            except PackbeltError as missing:
                pytest.skip(str(missing))
            assert all(hasattr(module, each.name) for each in node.names)


def test_every_folder_of_examples_but_two_is_a_targets(generator):
    folders = {path.name for path in (ROOT / "docs/examples").iterdir()} - {"first-workspace", "ci"}
    assert {generator["EXAMPLES"].get(name, name) for name in TARGETS} == folders


@pytest.mark.parametrize("words", packbelt_commands(PAGE), ids=" ".join)
def test_every_command_is_one(words):
    assert parses(words).command.name == "compile"
