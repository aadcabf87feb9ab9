"""An installed skill's files, read and never run."""

import os
import re
import shutil
import stat
from pathlib import Path
from typing import Any

from packbelt.catalog.skills import FILE
from packbelt.catalog.text import read_text
from packbelt.live.environment import inherited
from packbelt.toolkits.bundle import path_problem
from packbelt.toolkits.found import RECORD
from packbelt.toolkits.limits import ToolkitError
from packbelt.toolkits.place import Place, read_record

_BUDGET = 200_000  # characters of one answer
_MAX_LISTED = 500
_MAX_WALKED = 20_000
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?")
_FIRST = 256  # bytes in which a script names its interpreter
_VERSION = re.compile(r"-?v?(\d+(?:\.\d+)*)$")
_BY_SUFFIX = {
    ".py": "python3",
    ".sh": "sh",
    ".bash": "bash",
    ".zsh": "zsh",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".rb": "ruby",
    ".pl": "perl",
    ".php": "php",
    ".ps1": "pwsh",
    ".lua": "lua",
    ".r": "Rscript",
}


def read_file(place: Place, name: str, path: str, offset: int, limit: int) -> str:
    """Some lines of a skill's file, under a line that says which; with SKILL.md also the skill's files.

    Args:
        place: where skills are.
        name: the skill.
        path: a file of it.
        offset: lines left out before.
        limit: most lines.

    Raises:
        ToolkitError: there is no such skill or file, or it is none of the skill's, or no text.
    """
    folder = place.find(name)
    shown = f"{name}/{path}"
    if problem := path_problem(path):
        raise ToolkitError(f"the path {path!r} {problem}", mend="give a path inside the skill")
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ToolkitError(f"{shown} is a link that leads out of the skill")
    if not file.is_file():
        raise ToolkitError(f"{shown} is no file", mend=f"choose one of: {', '.join(_files(folder)[:50])}")
    lines = read_text(file, shown, error=ToolkitError).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    kept: list[str] = []
    room = _BUDGET
    for line in lines[offset : offset + limit]:
        room -= len(line) + 1
        if room < 0 and kept:
            break
        kept.append(line[:_BUDGET])
    end = offset + len(kept)
    head = f"{file.relative_to(place.root).as_posix()}, lines {offset + 1} to {end} of {len(lines)}"
    if not kept:
        head = f"{file.relative_to(place.root).as_posix()} has {len(lines)} lines, none from {offset + 1} on"
    more = [f"... continue with offset {end}"] if kept and end < len(lines) else []
    return "\n".join([head, "", *kept, *more, *(_listing(folder) if path == FILE and not offset else [])])


def resolve_programs(place: Place, name: str) -> dict[str, Any]:
    """What a skill's scripts are run by, and which of it is here. A version is read from a file's name.

    Raises:
        ToolkitError: there is no such skill.
    """
    folder = place.find(name)
    needed: dict[str, list[str]] = {}
    for path in _files(folder):
        for program in _programs(folder / path):
            needed.setdefault(program, []).append(path)
    path_variable = inherited().get("PATH", os.defpath)
    rows = []
    for program, scripts in sorted(needed.items()):
        found = shutil.which(program, path=path_variable)
        row: dict[str, Any] = {"program": program, "present": found is not None, "scripts": scripts[:20]}
        if found:
            version = _VERSION.search(Path(found).resolve().name)
            row |= {"path": found, "version": version[1] if version else None}
        rows.append(row)
    record = read_record(folder)
    return {
        "name": name,
        "folder": folder.relative_to(place.root).as_posix(),
        "from": record.source if record else None,
        "programs": rows,
        "missing": [row["program"] for row in rows if not row["present"]],
    }


def _programs(path: Path) -> list[str]:
    """The program that a script names in its first line, else that of its ending."""
    try:
        with path.open("rb") as file:
            first = _SHEBANG.match(file.read(_FIRST).split(b"\n", 1)[0])
    except OSError:
        return []
    if first:
        program = first[1].decode("utf-8", "replace")
        if program.rpartition("/")[2] == "env" and first[2]:
            program = first[2].decode("utf-8", "replace")
        return [program.rpartition("/")[2]]
    by_suffix = _BY_SUFFIX.get(path.suffix.lower())
    return [by_suffix] if by_suffix else []


def _listing(folder: Path) -> list[str]:
    files = [name for name in _files(folder) if name != FILE]
    more = [f"... and {len(files) - _MAX_LISTED} more"] if len(files) > _MAX_LISTED else []
    return ["", f"Files beside it ({len(files)}):", *files[:_MAX_LISTED], *more] if files else []


def _files(folder: Path) -> list[str]:
    """The regular files of a folder; links are not followed."""
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != ".git")
        for name in names:
            path = Path(here, name)
            if name != RECORD and stat.S_ISREG(path.lstat().st_mode):
                found.append(path.relative_to(folder).as_posix())
        if len(found) > _MAX_WALKED:
            break
    return sorted(found)
