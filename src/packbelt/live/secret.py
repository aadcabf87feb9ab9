"""Values that no print, log or traceback may show."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NoReturn, Self, final
from urllib.parse import quote, quote_plus

from packbelt.model.text import one_line
from packbelt.model.text import quoted as in_a_hint

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
    spelled = {spelling for secret in secrets for spelling in _spellings(secret.reveal())}
    longest_first = sorted(spelled, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if spelled else None


_ESCAPED = re.compile(r"(%[0-9A-Fa-f]{2})")
_SAFE = ("", "/", "!$&'()*+,;=:/?@[]{}|\\^%~", "!$&'()*+,;=:/@[]|%~")
"""Characters that addresses leave as they are, from the strictest to those of the HTTP client's queries."""


def _spellings(value: str) -> set[str]:
    """A value as it is, in an address, on one line, in a hint, and each of these in JSON and in a `repr`."""
    plain = {value, quote_plus(value)}
    for safe in _SAFE:
        plain.add(quote(value, safe))
        plain.add(
            "".join(one if _ESCAPED.fullmatch(one) else quote(one, safe) for one in _ESCAPED.split(value))
        )
    plain |= {one_line(one) for one in plain}
    plain.add(in_a_hint(value, 4 * len(value) + 8)[1:-1])
    inside = plain | {spelling for one in plain for spelling in _quoted(one)}
    return (inside | {spelling for one in inside for spelling in _quoted(one)}) - {""}


def _quoted(text: str) -> set[str]:
    # With both quotes in it, a repr escapes the single one; beside other text it may not.
    both = repr(text + "\"'")[1:-4], repr(text.encode("utf-8", "surrogatepass") + b"\"'")[2:-4]
    freed = (one.replace("\\'", "'") for one in both)
    doubled = (one.replace("\\'", "'").replace('"', '\\"') for one in both)
    return {*both, *freed, *doubled, *(json.dumps(text, ensure_ascii=only)[1:-1] for only in (True, False))}
