"""Installed skills: `<folder>/<name>/SKILL.md` in the Agent Skills format."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packbelt.catalog.drafts import read_front_matter
from packbelt.catalog.problems import kind_of
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import Skill
from packbelt.model import Code, Diagnostic, Level, PackbeltError, WorkspaceError

FILE = "SKILL.md"
SHARED_FOLDERS = (".agents/skills", ".claude/skills", ".github/skills")
"""Where other tools of a project keep skills, the nearest first: the folder that clients agreed on, Claude
Code's (which most clients read too), and that of GitHub Copilot."""

VENDOR = frozenset({"node_modules", "vendor", "venv", "__pycache__"})
"""Folders in which nobody looks for skills."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
_MAX_NAME, _MAX_DESCRIPTION, _MAX_COMPATIBILITY = 64, 1024, 500
NAME_MEND = f"write at most {_MAX_NAME} of a-z, 0-9 and single - inside"


@dataclass(slots=True)
class _Found:
    skills: dict[str, Skill] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def read_skills(tree: Tree, folders: Iterable[str]) -> tuple[tuple[Skill, ...], tuple[Diagnostic, ...]]:
    """The skills of these folders, then of `SHARED_FOLDERS`; the first folder that has a name wins.

    A broken skill shadows no other. Names that differ only in case, `-` and `_` count as one, since a
    model would pick either.
    """
    found = _Found()
    for folder in dict.fromkeys((*folders, *SHARED_FOLDERS)):
        for path in _folders(tree, tree.root / folder, found):
            _read(tree, path, found)
    return tuple(found.skills.values()), tuple(found.diagnostics)


def _folders(tree: Tree, root: Path, found: _Found) -> list[Path]:
    if not os.path.lexists(root):
        return []
    try:
        entries = tree.entries(root)
    except WorkspaceError as problem:
        found.diagnostics.append(_broken(problem, root.name))
        return []
    return [path for path in entries if not path.name.startswith(".") and path.name not in VENDOR]


def _read(tree: Tree, folder: Path, found: _Found) -> None:
    path = folder / FILE
    if problem := tree.refusal(folder):
        found.diagnostics.append(_broken(problem, folder.name))
        return
    if not os.path.lexists(path):
        return
    file = tree.name(path)
    try:
        skill, remarks = parse_skill(tree.read(path), file, tree.name(folder))
    except PackbeltError as refused:
        found.diagnostics.append(_broken(refused, folder.name))
        return
    key = name_key(skill.name)
    if first := found.skills.get(key):
        message = f"skill {skill.name!r} of {skill.path} is left out: {first.path} has {first.name!r}"
        where = skill.where
        found.diagnostics.append(
            Diagnostic(Level.WARNING, Code.SKILL_SHADOWED, message, where, "keep one of them", skill.name)
        )
        return
    found.skills[key] = skill
    found.diagnostics += remarks
    if skill.name != folder.name:
        message = f"skill {skill.name!r} lies in a folder called {folder.name!r}"
        mend = "give both one name"
    elif not name_fits(skill.name):
        message = f"skill {skill.name!r} has a name that the Agent Skills format does not take"
        mend = NAME_MEND
    else:
        return
    found.diagnostics.append(
        Diagnostic(Level.WARNING, Code.SKILL_NAME, message, skill.where, mend, skill.name)
    )


def name_fits(name: str) -> bool:
    """Whether a name is one that the Agent Skills format takes."""
    return bool(_NAME.match(name)) and len(name) <= _MAX_NAME


def name_key(name: str) -> str:
    """What two names have in common that a model would take for one."""
    return name.lower().replace("_", "-")


def parse_skill(text: str, file: str, folder: str) -> tuple[Skill, tuple[Diagnostic, ...]]:
    """One SKILL.md, and what the Agent Skills format says against it though it can be read.

    Keys beside the format's own are other readers' business.

    Raises:
        WorkspaceError: its front matter is broken, or lacks a usable name or description.
    """
    document, _ = read_front_matter(text, file)
    values: dict[str, str] = {}
    for key in ("name", "description"):
        if key not in document.data:
            problem = f"the key `{key}` is missing"
            raise WorkspaceError(problem, where=document.where(), mend=f"add `{key}:`", name=key)
        value = document.data[key]
        if not isinstance(value, str) or not value.strip():
            what = "empty" if value == "" else kind_of(value)
            mend = "put it in quotes" if isinstance(value, int | float) else "write text"
            raise WorkspaceError(
                f"`{key}` is {what}, not text", where=document.where(key), mend=mend, name=key
            )
        values[key] = value.strip()
    name = values["name"]
    # A name becomes a path when a skill is installed or run.
    if name in (".", "..") or any(letter in name for letter in "/\\:") or not name.isprintable():
        raise WorkspaceError(
            f"{name!r} is no name for a skill",
            where=document.where("name"),
            mend="write a-z, 0-9 and -",
            name=name,
        )
    skill = Skill(name, values["description"], folder, document.where("name"))
    remarks = (
        Diagnostic(Level.NOTE, Code.SKILL_FORM, f"skill {name!r}: {what}", document.where(key), mend, name)
        for key, what, mend in _against(document.data)
    )
    return skill, tuple(remarks)


def _against(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Key, problem and mend of what the format does not take.

    Source: https://agentskills.io/specification (limits of length, `metadata` from text to text,
    `allowed-tools` one text with blanks between).
    """
    for key, most in (("description", _MAX_DESCRIPTION), ("compatibility", _MAX_COMPATIBILITY)):
        value = data.get(key)
        if isinstance(value, str) and len(value.strip()) > most:
            yield key, f"`{key}` has {len(value.strip()):,} characters", f"write at most {most:,}"
    metadata = data.get("metadata")
    if metadata is not None and not (
        isinstance(metadata, dict)
        and all(isinstance(part, str) for pair in metadata.items() for part in pair)
    ):
        yield "metadata", "`metadata` is not a mapping of text to text", "put its values in quotes"
    for key, mend in (
        ("license", "name the licence or its file"),
        ("compatibility", "write one text"),
        ("allowed-tools", "write one text with blanks between"),
    ):
        value = data.get(key)
        if value is not None and not isinstance(value, str):
            yield key, f"`{key}` is {kind_of(value)}, not text", mend


def _broken(problem: PackbeltError, name: str) -> Diagnostic:
    message = f"skill {name!r}: {problem.problem}"
    return Diagnostic(Level.ERROR, Code.SKILL_BROKEN, message, problem.where, problem.mend, name)
