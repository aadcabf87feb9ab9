"""Markdown with front matter, split into its two parts."""

import re
from dataclasses import dataclass

from packbelt.model import PackbeltError, Where, WorkspaceError

FENCE = "---"
_KEY = r"^{}:[ \t]*(.*)$"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The two parts of a file.

    Attributes:
        yaml: what stands between the fences; it begins on the file's second line.
        body: what follows, without the blank lines around it.
        body_line: the line of the file on which the body begins.
    """

    yaml: str
    body: str
    body_line: int


def has_front_matter(text: str) -> bool:
    """Whether the first line opens one."""
    return text.split("\n", 1)[0].rstrip() == FENCE


def split(text: str, file: str, *, error: type[PackbeltError] = WorkspaceError) -> FrontMatter:
    """Split a file. Only a first line `---` opens; the next line `---`, at its very start, closes.

    Raises:
        PackbeltError: there is no front matter, or it has no end.
    """
    lines = text.split("\n")
    if not has_front_matter(text):
        raise error(
            "has no front matter", where=Where(file, 1), mend="begin the file with a line --- and the keys"
        )
    for end in range(1, len(lines)):
        if lines[end].rstrip() == FENCE:
            break
    else:
        raise error(
            "front matter has no end", where=Where(file, 1), mend="close it with a line that is just ---"
        )
    start = end + 1
    while start < len(lines) - 1 and not lines[start].strip():
        start += 1
    body = "\n".join(lines[start:]).rstrip()
    return FrontMatter("\n".join(lines[1:end]), body, start + 1)


def guess(text: str, key: str) -> str:
    """The value of a key in front matter that does not parse; empty where there is no such line."""
    lines = text.split("\n")
    ends = (i for i, line in enumerate(lines) if i and line.rstrip() == FENCE)
    for line in lines[: next(ends, len(lines))]:
        if found := re.match(_KEY.format(re.escape(key)), line):
            return found.group(1).strip().strip("\"'").strip()
    return ""
