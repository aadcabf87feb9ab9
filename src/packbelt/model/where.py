"""Where a thing was written: a file and a line, for people to go and look."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """A place in a file.

    Attributes:
        file: the path, relative to the workspace where it lies inside.
        line: counted from 1; 0 means the file as a whole.
    """

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file
