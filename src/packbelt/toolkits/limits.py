"""What a skill and its source may have at most, and the error of all tools here."""

from dataclasses import dataclass

from packbelt.model import PackbeltError


class ToolkitError(PackbeltError):
    """A tool of a toolkit could not do what was asked; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The same for every kind of source.

    Attributes:
        skill_files: files of one skill.
        skill_bytes: bytes of one skill, unpacked.
        file_bytes: bytes of one file of a skill.
        entries: files, folders and links of a whole source.
        source_bytes: bytes of a whole source, both as it is fetched and unpacked.
        seconds: for fetching a source.
    """

    skill_files: int = 2_000
    skill_bytes: int = 64 << 20
    file_bytes: int = 16 << 20
    entries: int = 100_000
    source_bytes: int = 512 << 20
    seconds: float = 120
