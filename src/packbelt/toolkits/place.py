"""A skills folder: skills are put into it and taken out of it whole, or not at all.

A new skill is written beside its place, into a folder that no reader of skills looks at, then renamed. What
an end in the middle left there is put right by the next one who changes the folder.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from packbelt.catalog.skills import FILE, name_fits, name_key
from packbelt.toolkits.bundle import CHUNK, Bundle, Entry, reading
from packbelt.toolkits.found import RECORD
from packbelt.toolkits.limits import Limits, ToolkitError

_STAGING = ".packbelt-staging"
_LOCK = ".packbelt.lock"
_PATIENCE = 30  # seconds for another install to end
_MAX_RECORD = 1 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """Where an installed skill came from; kept in its folder.

    Attributes:
        name: the skill.
        origin: `registry` for one of a configured source, `address` for one that a person named.
        source: the source's name, or the address.
        path: its folder there.
        version: its version, or the commit it was taken from; may be empty.
        digest: `sha256:` over its files' names and bytes.
    """

    name: str
    origin: str
    source: str
    path: str
    version: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace's skills folder.

    Args:
        root: the workspace.
        folder: where skills are installed.
        others: further folders of it that hold skills: a name that one of them has is taken.
    """

    root: Path
    folder: str = "skills"
    others: tuple[str, ...] = (".claude/skills",)

    @property
    def path(self) -> Path:
        """The folder."""
        return self.root / self.folder

    def installed(self) -> Mapping[str, Path]:
        """Every folder with a SKILL.md, by name; the first folder that has a name wins."""
        found: dict[str, Path] = {}
        for folder in (self.folder, *self.others):
            here = self.root / folder
            try:
                paths = sorted(here.iterdir())
            except OSError:
                continue
            for path in paths:
                if not path.name.startswith(".") and (path / FILE).is_file():
                    found.setdefault(path.name, path)
        return found

    def find(self, name: str) -> Path:
        """An installed skill's folder.

        Raises:
            ToolkitError: there is none of that name, or it is a link out of the workspace.
        """
        installed = self.installed()
        # Looked up among what is there: whatever a name holds, it leads nowhere else.
        if name not in installed:
            listed = ", ".join(sorted(installed)) or "none"
            raise ToolkitError(f"no skill {name!r} is installed", mend=f"choose one of: {listed}")
        path = installed[name]
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise ToolkitError(f"skill {name!r} is a link that leads out of the workspace")
        return path

    def check_free(self, name: str, *, overwrite: bool) -> None:
        """Whether a skill of this name may be put here.

        Raises:
            ToolkitError: one is there already, and may not be replaced.
        """
        if not name_fits(name):
            raise ToolkitError(f"{name!r} is no name for a skill")
        target = self.path / name
        for other, path in self.installed().items():
            if name_key(other) == name_key(name) and path != target:
                where = path.relative_to(self.root).as_posix()
                raise ToolkitError(f"{where} has a skill of that name", mend="remove it first")
        if not os.path.lexists(target):
            return
        if read_record(target) is None:
            raise ToolkitError(
                f"{self.folder}/{name} came from no registry and no address, so it is not replaced",
                mend="a person may move it away",
            )
        if not overwrite:
            raise ToolkitError(f"skill {name!r} is installed already", mend="pass overwrite to replace it")

    def put(
        self, record: Record, files: Mapping[str, Entry], bundle: Bundle, limits: Limits, *, overwrite: bool
    ) -> Record:
        """Write a skill's files, and only then give them their place.

        Returns:
            The record with its digest.

        Raises:
            ToolkitError: it may not be put here, or a file of it cannot be read. All is as before.
        """
        with self._staging() as staging:
            self.check_free(record.name, overwrite=overwrite)
            fresh = staging / "new"
            fresh.mkdir()
            with _said():
                digest = _write(fresh, files, bundle, limits)
                whole = Record(**{**asdict(record), "digest": digest})
                (fresh / RECORD).write_text(json.dumps(asdict(whole), indent=1) + "\n", encoding="utf-8")
                self._swap(fresh, staging, record.name)
        return whole

    def _swap(self, fresh: Path, staging: Path, name: str) -> None:
        target, old = self.path / name, staging / "old" / name
        if os.path.lexists(target):
            old.parent.mkdir()
            target.rename(old)
        try:
            fresh.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise

    def remove(self, name: str, origin: str, otherwise: str) -> Record:
        """Take an installed skill away with all its files.

        Args:
            name: the skill.
            origin: where it must have come from.
            otherwise: what a caller may use for one from elsewhere.

        Raises:
            ToolkitError: there is none, or it came from elsewhere.
        """
        with self._staging() as staging:
            path = self.find(name)
            record = read_record(path)
            if record is None or path.parent != self.path:
                raise ToolkitError(
                    f"skill {name!r} came from no registry and no address", mend="a person may remove it"
                )
            if record.origin != origin:
                raise ToolkitError(f"skill {name!r} came from an {record.origin}", mend=f"use {otherwise}")
            with _said():
                path.rename(staging / "new")  # gone at once; its files follow
        return record

    @contextmanager
    def _staging(self) -> Iterator[Path]:
        """A folder of one's own on the same file system, for one change at a time."""
        real = self.root.resolve()
        if not self.path.resolve().is_relative_to(real):
            raise ToolkitError(f"{self.folder} is a link that leads out of the workspace")
        with _said():
            self.path.mkdir(parents=True, exist_ok=True)
        staging = self.path / _STAGING
        lock = FileLock(self.path / _LOCK, timeout=_PATIENCE)
        try:
            lock.acquire()
        except Timeout:
            raise ToolkitError("another install is at work", mend="try again when it has ended") from None
        try:
            with _said():
                self._recover(staging)
                staging.mkdir()
            try:
                yield staging
            finally:
                self._recover(staging)
        finally:
            lock.release()

    def _recover(self, staging: Path) -> None:
        """Put back what was moved aside for a skill that never came, and throw the rest away."""
        if staging.is_symlink():
            staging.unlink()
        aside = staging / "old"
        for old in aside.iterdir() if aside.is_dir() else ():
            if not os.path.lexists(self.path / old.name):
                old.rename(self.path / old.name)
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolkitError(f"the skills folder cannot be changed: {error.strerror}") from None


def _write(folder: Path, files: Mapping[str, Entry], bundle: Bundle, limits: Limits) -> str:
    """Write files and give their digest. Sizes are counted anew: a source may have lied."""
    whole = hashlib.sha256()
    left = limits.skill_bytes
    for name in sorted(files):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        one, size = hashlib.sha256(), 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with (
            bundle_file(bundle, files[name]) as source,
            os.fdopen(os.open(path, flags, 0o755 if files[name].executable else 0o644), "wb") as out,
        ):
            while data := _chunk(source):
                size += len(data)
                if size > min(limits.file_bytes, left):
                    raise ToolkitError(f"its file {name!r} has more bytes than its source says")
                one.update(data)
                out.write(data)
        left -= size
        whole.update(f"{len(name)} {name} {one.hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


@contextmanager
def bundle_file(bundle: Bundle, entry: Entry) -> Iterator[Callable[[int], bytes]]:
    """The reader of an entry's bytes."""
    with reading():
        file = bundle.open(entry.path)
    with file:
        yield file.read


def _chunk(read: Callable[[int], bytes]) -> bytes:
    with reading():
        return read(CHUNK)


def read_record(folder: Path) -> Record | None:
    """What an installed skill's folder says of its origin; None where it says nothing, or is a link."""
    file = folder / RECORD
    try:
        if folder.is_symlink() or file.is_symlink() or file.stat().st_size > _MAX_RECORD:
            return None
        values = json.loads(file.read_text("utf-8"))
        return Record(**{key: str(value) for key, value in values.items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return None
