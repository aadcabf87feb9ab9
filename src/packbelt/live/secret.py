"""Values that no print, log or traceback may show."""

from collections.abc import Iterable, Iterator, Mapping
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
    """The text with every one of these values replaced by `***`, longest first."""
    for value in sorted({secret.reveal() for secret in secrets}, key=len, reverse=True):
        if value:
            text = text.replace(value, MASK)
    return text
