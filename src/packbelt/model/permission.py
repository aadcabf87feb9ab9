"""Permission: how much a tool may do, and how much an agent may ask for."""

from enum import IntEnum
from typing import Self


class Permission(IntEnum):
    """Five levels in one order; a tool above its caller's ceiling is not callable."""

    NONE = 0
    READ = 1
    WRITE = 2
    EXECUTE = 3
    DANGEROUS = 4

    @classmethod
    def parse(cls, word: str) -> Self:
        """The level of a word.

        Raises:
            KeyError: the word names no level.
        """
        return cls[word.upper()]

    def __str__(self) -> str:
        return self.name.lower()
