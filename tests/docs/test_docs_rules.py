"""docs/rules.md is what the closed tables say, and the tables are whole and used."""

import ast
import runpy

import pytest
from pages import ROOT

from packbelt.model import Code, HintClass, Rule, State
from packbelt.model.codes import CODES, RULES


@pytest.fixture(scope="module")
def generator():
    return runpy.run_path(str(ROOT / "docs/generate_rules.py"))


def used(enum):
    """The members of an enumeration that the source names, its own module aside."""
    source = ROOT / "src/packbelt"
    found = set()
    for path in source.rglob("*.py"):
        if path == source / "model/codes.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == enum.__name__
                and node.attr in enum.__members__
            ):
                found.add(enum[node.attr])
    return found


def test_the_page_is_up_to_date(generator):
    """If this fails: `uv run python docs/generate_rules.py`."""
    assert (ROOT / "docs/rules.md").read_text(encoding="utf-8") == generator["page"]()


def test_every_member_has_a_sentence(generator):
    tables = {Code: CODES, Rule: RULES, State: generator["STATES"], HintClass: generator["HINTS"]}
    for enum, sentences in tables.items():
        assert set(sentences) == set(enum), enum.__name__
        for member, sentence in sentences.items():
            assert sentence.endswith("."), member
            assert sentence[0].isupper() or sentence[0] == "`", member
            assert "\n" not in sentence, member
            assert "|" not in sentence, member  # it would end a table's cell


def test_every_state_stands_on_the_page_once(generator):
    assert sorted(generator["_ORDER"]) == sorted(State)


@pytest.mark.parametrize("enum", [Rule, HintClass, State])
def test_every_member_is_used(enum):
    assert used(enum) == set(enum)


def test_every_code_is_used_or_waits_for_the_runtime():
    assert used(Code) == set(Code)
