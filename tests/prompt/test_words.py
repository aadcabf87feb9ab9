"""First sentences and lists cut by entry."""

import pytest

from packbelt.prompt.words import first_sentence, fitted


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("Connects apps (e.g. Gmail, Slack). Then more.", "Connects apps (e.g. Gmail, Slack)."),
        ("Use it for files, i.e. Reports. Not else.", "Use it for files, i.e. Reports."),
        ("Pictures, clips etc. Hand over the rest.", "Pictures, clips etc."),
        ("Pictures, clips etc. and more. Next.", "Pictures, clips etc. and more."),
        ("Asks J. R. Smith for help. Next.", "Asks J. R. Smith for help."),
        ("Version 2.5 works. Next.", "Version 2.5 works."),
        ("Reads from 2024. Writes too.", "Reads from 2024."),
        ("1. Read it. 2. Write it.", "1. Read it."),
        ("Really? Yes.", "Really?"),
        ('Says "done." Then goes.', 'Says "done."'),
        ("No end", "No end"),
        ("读取文件。然后写入。", "读取文件。"),
        ("", ""),
        ("Two\nlines. Next.", "Two lines."),
        ("Uses `code`. Next.", "Uses 'code'."),
    ],
)
def test_first_sentence(text, first):
    assert first_sentence(text) == first


def test_a_long_sentence_is_cut_at_a_word():
    text = first_sentence("word " * 100)
    assert len(text.encode()) <= 200
    assert text.endswith("word…")


def test_a_list_is_cut_by_entry_into_lines_names_and_a_number():
    entries = [f"entry{i}" for i in range(10)]
    listing = fitted(entries, str, len, lines=3, line_bytes=100, name_bytes=30)
    assert listing.lines == ("entry0", "entry1", "entry2")
    assert listing.names == ("entry3", "entry4", "entry5")
    assert listing.more == 4


def test_after_the_first_entry_without_a_line_none_gets_one():
    listing = fitted(["a" * 50, "b"], str, len, line_bytes=10)
    assert listing.lines == ()
    assert listing.names == ("a" * 50, "b")
