import pytest

from packbelt.catalog.front_matter import guess, split
from packbelt.model import WorkspaceError


def test_fm17_only_the_first_line_opens_and_the_next_fence_closes():
    text = "---\na: |\n  x\n  ---\n  y\nb: 1\n---\n\nBody\n\n---\n\nmore\n"
    parts = split(text, "f")
    assert parts.yaml == "a: |\n  x\n  ---\n  y\nb: 1"
    assert parts.body == "Body\n\n---\n\nmore"
    assert parts.body_line == text.split("\n").index("Body") + 1


@pytest.mark.parametrize("text", ["# Title\n\n---\na: 1\n---\n", "\n---\na: 1\n---\n", ""])
def test_fm17_a_fence_further_down_opens_nothing(text):
    with pytest.raises(WorkspaceError, match="has no front matter"):
        split(text, "f")


def test_front_matter_without_an_end():
    with pytest.raises(WorkspaceError, match="f:1: front matter has no end; close it"):
        split("---\na: 1\n\nBody\n ---\n", "f")


def test_an_empty_body_and_an_empty_front_matter():
    parts = split("---\n---\n", "f")
    assert (parts.yaml, parts.body) == ("", "")


def test_a_name_is_guessed_from_lines_only_inside_the_front_matter():
    text = "---\nname: 'x'\ndescription: a: b\n---\nhandoff: not_this\n"
    assert guess(text, "name") == "x"
    assert guess(text, "handoff") == ""
