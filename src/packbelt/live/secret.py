"""Values that no print, log or traceback may show."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NoReturn, Self, final

MASK = "***"

SHORTEST_PLACEHOLDER = 4
"""Characters; a shorter value is not masked in a server's words: it would blot out half of every text."""
SHORTEST_LITERAL = 8
"""Characters; as above, for values that the file itself holds: settings more often than secrets."""


@final
class Secret:
    """A string that shows itself only to `reveal`.

    `repr`, `str`, `format` and dataclass prints give `***`; `json` and `pickle` refuse it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def joined(cls, parts: Iterable["str | Secret"]) -> Self:
        """One secret out of plain text and secrets."""
        return cls("".join(part if isinstance(part, str) else part.reveal() for part in parts))

    def reveal(self) -> str:
        """The value. Call it where the value is handed over, and keep it in no variable."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")


@final
class Environ(Mapping[str, str]):
    """A process environment whose `repr` says how many names it has and nothing else."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<environment of {len(self._values)} names>"


def masked(text: str, secrets: Iterable[Secret]) -> str:
    """The text with every one of these values replaced by `***`, longest first.

    A value is known again where JSON, a `repr`, an address or a hint spells its characters otherwise.
    """
    pattern = _pattern(frozenset(secrets))
    return pattern.sub(MASK, text) if pattern else text


@lru_cache(maxsize=256)
def _pattern(secrets: frozenset[Secret]) -> re.Pattern[str] | None:
    values = sorted({secret.reveal() for secret in secrets} - {""}, key=len, reverse=True)
    spelled = ("".join(map(_ways, _PARTS.findall(value))) for value in values)
    return re.compile("|".join(spelled)) if values else None


_PARTS = re.compile(r"\s+|.", re.DOTALL)
_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\f": "f", "\v": "v", "\b": "b"}
_LOOKALIKES = dict(zip('<>`{}|[]"', "\u2039\u203a'()\u00a6()'", strict=True))
"""What a hint writes for characters that would be markup there."""
_SLASH = r"\\{1,8}"
"""Escapes inside escapes; bounded, so that no text makes the search slow."""


def _ways(part: str) -> str:
    """All ways to write one character, or one run of blanks."""
    if part.isalnum() and part.isascii():
        return part
    ways = sorted({way for character in part for way in _spellings(character)})
    every = f"(?:{'|'.join(ways)})"
    if part.isspace():
        return every + "{1,16}"
    # What no terminal shows is left out of one line.
    return f"{every}?" if unicodedata.category(part)[0] in "CZ" else every


def _spellings(character: str) -> Iterator[str]:
    code, utf8 = ord(character), character.encode("utf-8", "surrogatepass")
    utf16 = character.encode("utf-16-be", "surrogatepass").hex()
    yield rf"\\{{0,8}}{re.escape(character)}"
    yield "(?i:" + "".join(f"%{byte:02x}" for byte in utf8) + ")"
    yield "(?i:" + "".join(f"{_SLASH}x{byte:02x}" for byte in utf8) + ")"
    yield "(?i:" + "".join(f"{_SLASH}u{utf16[at : at + 4]}" for at in range(0, len(utf16), 4)) + ")"
    yield f"(?i:{_SLASH}x{code:02x}|{_SLASH}u{code:08x})"
    if character == "\\":
        yield _SLASH
    if character.isspace():
        yield r"[ +]"
    if letter := _LETTERS.get(character):
        yield _SLASH + letter
    if lookalike := _LOOKALIKES.get(character):
        yield re.escape(lookalike)
