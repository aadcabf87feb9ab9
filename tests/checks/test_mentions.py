import pytest

from packbelt.checks.mentions import mentions

KNOWN = {"list", "shell", "file_read", "file_write", "use_pack", "mcp__git-hub__search"}


def named(text: str) -> list[tuple[str, int]]:
    return [(found.name, found.line) for found in mentions(text, KNOWN)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call `shell`.", ["shell"]),
        ("Use `list` and `shell`, then report.", ["list", "shell"]),
        ('Call `use_pack("files")` now.', ["use_pack"]),
        ("Write it with file_write.", ["file_write"]),
        ("(file_read, file_write)", ["file_read", "file_write"]),
        ("`file_read(path)` then stop", ["file_read"]),
        ("Through mcp__git-hub__search only.", ["mcp__git-hub__search"]),
    ],
)
def test_a_name_in_backticks_or_with_an_underscore_is_a_mention(text, names):
    assert [name for name, _ in named(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "Make a list of what the shell offers.",  # words of the language
        "See `the list` and `git list`.",  # code, and not a call of the tool
        "`foo bar` list `baz`",  # between two spans, in none
        "Open src/file_read.py, docs/file_write or file_read.md.",  # paths
        "A file_write-based approach, myfile_write, file_writer.",  # parts of other words
        "{{ sections.file_read }}",  # a placeholder
        "Set $file_read and @file_write.",  # variables and handles
    ],
)
def test_what_only_looks_like_a_name_is_none(text):
    assert named(text) == []


def test_lines_are_counted_from_the_texts_start_and_a_name_is_given_once():
    assert named("One.\n\nCall file_read.\nCall `shell`, then file_read again.") == [
        ("file_read", 2),
        ("shell", 3),
    ]


def test_a_sentence_that_says_not_available_here_promises_nothing():
    text = "The tool `shell` is not\navailable here. Use file_read."
    assert named(text) == [("file_read", 1)]
    assert named("`shell` is not available here; and\n\n- `list` is") == [("list", 2)]
