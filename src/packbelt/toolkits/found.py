"""The skills of a source, and the files of one of them."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from packbelt.catalog.drafts import read_front_matter
from packbelt.catalog.skills import FILE, NAME_MEND, VENDOR, name_fits, parse_skill
from packbelt.catalog.text import MAX_FILE
from packbelt.model import PackbeltError
from packbelt.toolkits.bundle import Bundle, Entry, Kind, read_all
from packbelt.toolkits.limits import Limits, ToolkitError

RECORD = ".packbelt.json"
"""What an installed skill's folder says of where it came from."""
_MAX_SKILLS = 5_000


@dataclass(frozen=True, slots=True)
class Found:
    """A skill of a source.

    Attributes:
        id: its name; its folder where the source has several of that name.
        path: its folder in the source; empty for the source itself.
        version: as its front matter says; may be empty.
        category: likewise.
    """

    id: str
    name: str
    description: str
    path: str
    version: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A folder with a SKILL.md that is no skill."""

    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class Skills:
    """What a source has."""

    found: tuple[Found, ...]
    broken: tuple[Broken, ...]

    def pick(self, wanted: str) -> tuple[Found, ...]:
        """The skills of an id, a name or a folder."""
        return tuple(each for each in self.found if wanted in (each.id, each.name, each.path))


def find_skills(bundle: Bundle) -> Skills:
    """Every folder with a SKILL.md, whatever is around it; vendored code is left out."""
    found: list[Found] = []
    broken: list[Broken] = []
    for path in sorted(bundle.entries):
        whole = PurePosixPath(path)
        if whole.name != FILE or VENDOR.intersection(whole.parts):
            continue
        if len(found) + len(broken) >= _MAX_SKILLS:
            raise ToolkitError(f"it has more than {_MAX_SKILLS:,} skills")
        folder = "" if whole.parent == PurePosixPath() else whole.parent.as_posix()
        try:
            found.append(_read(bundle, path, folder))
        except PackbeltError as error:
            broken.append(Broken(folder, str(error)))
    names = Counter(each.name for each in found)
    unique = (each if names[each.name] == 1 else replace(each, id=each.path or each.name) for each in found)
    return Skills(tuple(unique), tuple(broken))


def _read(bundle: Bundle, path: str, folder: str) -> Found:
    entry = bundle.entries[path]
    if entry.kind is not Kind.FILE or entry.problem:
        raise ToolkitError(f"its {FILE} is no regular file")
    try:
        text = read_all(bundle, path, MAX_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ToolkitError(f"its {FILE} is not UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    skill, _ = parse_skill(text, path, folder)
    if not name_fits(skill.name):
        raise ToolkitError(f"{skill.name!r} is no name of the Agent Skills format", mend=NAME_MEND)
    document, _ = read_front_matter(text, path)
    more = document.data.get("metadata")
    keys = [document.data, more if isinstance(more, dict) else {}]
    return Found(
        skill.name, skill.name, skill.description, folder, _text(keys, "version"), _text(keys, "category")
    )


def _text(places: Iterable[Mapping[str, object]], key: str) -> str:
    values = (place[key] for place in places if key in place)
    return next((str(value).strip() for value in values if isinstance(value, str | int | float)), "")


@dataclass(slots=True)
class _Sum:
    files: dict[str, Entry] = field(default_factory=dict)
    size: int = 0


def files_of(bundle: Bundle, path: str, limits: Limits) -> Mapping[str, Entry]:
    """The regular files of a skill, by their path in it; the entry is where the bytes come from.

    A link to a file of the same skill stands for a copy of it.

    Raises:
        ToolkitError: an entry may not be installed, or there is too much. Nothing has been written.
    """
    prefix = f"{path}/" if path else ""
    inside = {name[len(prefix) :]: entry for name, entry in bundle.entries.items() if name.startswith(prefix)}
    total = _Sum()
    for name, entry in inside.items():
        if PurePosixPath(name).parts[0] == ".git" or name == RECORD:
            continue
        total.files[name] = _regular(name, entry, prefix, bundle, limits)
        total.size += total.files[name].size
        if len(total.files) > limits.skill_files:
            raise ToolkitError(f"the skill has more than {limits.skill_files:,} files")
        if total.size > limits.skill_bytes:
            raise ToolkitError(f"the skill has more than {limits.skill_bytes:,} bytes")
    _check_collisions(total.files)
    return total.files


def _regular(name: str, entry: Entry, prefix: str, bundle: Bundle, limits: Limits) -> Entry:
    if entry.problem:
        raise ToolkitError(f"its file {name!r} {entry.problem}")
    if entry.path in bundle.twice:
        raise ToolkitError(f"its file {name!r} stands in the archive twice")
    if entry.kind is Kind.LINK:
        target = bundle.entries.get(entry.target)
        if not entry.target.startswith(prefix) or not entry.target:
            raise ToolkitError(f"{name!r} is a link that leads out of the skill")
        if target is None or target.kind is not Kind.FILE or target.problem:
            raise ToolkitError(f"{name!r} is a link, and not to a file of the skill")
        entry = target
    if entry.size > limits.file_bytes:
        raise ToolkitError(f"its file {name!r} has more than {limits.file_bytes:,} bytes")
    return entry


def _check_collisions(names: Iterable[str]) -> None:
    """Refuse names that some systems take for one, or that want to be a file and a folder."""
    folded: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if (other := folded.setdefault(key, name)) != name:
            raise ToolkitError(f"its files {other!r} and {name!r} have one name on some systems")
        for parent in list(PurePosixPath(key).parents)[:-1]:
            folders[parent.as_posix()] = name
    for key in folders.keys() & folded.keys():
        raise ToolkitError(f"{folded[key]!r} is a file, and {folders[key]!r} lies in it")
