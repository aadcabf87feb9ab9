"""What was fetched of each source, kept between calls and between programs."""

import hashlib
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.to_thread

from packbelt.catalog.skills import FILE
from packbelt.toolkits.address import Source, is_url
from packbelt.toolkits.archives import open_archive, settle
from packbelt.toolkits.bundle import CHUNK, Bundle, Folder, open_folder
from packbelt.toolkits.download import download
from packbelt.toolkits.found import Skills, find_skills
from packbelt.toolkits.limits import Limits, ToolkitError
from packbelt.toolkits.repository import fetch


@dataclass(frozen=True, slots=True)
class Held:
    """A source as it was last fetched.

    Attributes:
        path: a directory, an archive or one file.
        commit: of a repository.
        sha256: of a download or an archive, in hexadecimal.
        fetched: seconds since 1970.
    """

    source: Source
    path: Path
    fetched: float
    commit: str = ""
    sha256: str = ""

    @contextmanager
    def open(self, limits: Limits) -> Iterator[Bundle]:
        """Its entries, and their bytes."""
        if self.source.kind in ("directory", "file"):
            with open_folder(self.path, limits) as folder:
                yield folder
        else:
            with open_archive(self.path, limits, strict=self.source.kind == "archive") as archive:
                yield archive


@dataclass(slots=True)
class Shelf:
    """The sources' keeper.

    Args:
        folder: where fetched repositories and archives are kept.
        limits: what a source may have.
        max_age: seconds after which a source is fetched anew.
        env: variables for git beside its minimal environment.
    """

    folder: Path
    limits: Limits
    max_age: float
    env: Mapping[str, str]
    _held: dict[Source, Held] = field(default_factory=dict)
    _skills: dict[Held, Skills] = field(default_factory=dict)
    _busy: dict[Source, anyio.Lock] = field(default_factory=dict)

    async def hold(self, source: Source, *, afresh: bool = False) -> Held:
        """A source, fetched where it has not been lately.

        Args:
            source: the source.
            afresh: whether it is fetched in any case.

        Raises:
            ToolkitError: it cannot be fetched, or is no archive, or is too large.
        """
        async with self._busy.setdefault(source, anyio.Lock()):
            held = self._held.get(source)
            if held and not afresh and time.time() - held.fetched < self.max_age and held.path.exists():
                return held
            self._held[source] = fresh = await self._fetch(source)
            if held and held != fresh:
                self._skills.pop(held, None)
                if held.path != fresh.path:
                    await anyio.to_thread.run_sync(_remove, held.path)
            return fresh

    async def skills(self, held: Held) -> Skills:
        """The skills of a source."""
        known = None if held.source.kind == "directory" else self._skills.get(held)
        if known is None:
            known = await self.look(held)
            self._skills[held] = known
        return known

    async def look(self, held: Held) -> Skills:
        """The skills of a source, read anew."""
        return await anyio.to_thread.run_sync(self._look, held)

    def _look(self, held: Held) -> Skills:
        with held.open(self.limits) as bundle:
            return find_skills(bundle)

    async def _fetch(self, source: Source) -> Held:
        if source.kind == "directory":
            path = Path(source.address)
            if not await anyio.Path(path).is_dir():
                raise ToolkitError(f"source {source.name!r} is no directory", mend="mend its path")
            return Held(source, path, time.time())
        async with self.borrowed(source) as held:
            # Named after its contents: another program that fetches the same source never changes a file
            # under this one's hands.
            kept = self.folder / f"{source.key}-{(held.commit or held.sha256)[:24]}"
            await anyio.Path(held.path).replace(kept)
            return replace(held, path=kept)

    @asynccontextmanager
    async def borrowed(self, source: Source) -> AsyncIterator[Held]:
        """A repository, an archive or a file, fetched for once and gone at the end.

        Raises:
            ToolkitError: it cannot be fetched, or is no archive, or is too large.
        """
        await anyio.Path(self.folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        made = await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix=".fetch-", dir=self.folder))
        try:
            yield await self._into(source, Path(made))
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_remove, Path(made))

    async def _into(self, source: Source, folder: Path) -> Held:
        now = time.time()
        if source.kind == "git":
            path = folder / "tree.tar"
            commit = await fetch(source, path, self.limits, self.env)
            return Held(source, path, now, commit=commit)
        path = folder / (FILE if source.kind == "file" else "archive")
        if is_url(source.address):
            digest = await download(source.address, path, self.limits, strict_tls=source.strict_tls)
        else:
            digest = await anyio.to_thread.run_sync(_copy, source, path, self.limits)
        if source.kind == "file":
            return Held(source, await _alone(path), now, sha256=digest)
        await anyio.to_thread.run_sync(settle, path, self.limits)
        return Held(source, path, now, sha256=digest)


async def _alone(path: Path) -> Path:
    """A folder that holds just this file."""
    folder = path.parent / "one"
    await anyio.Path(folder).mkdir()
    await anyio.Path(path).rename(folder / path.name)
    return folder


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _copy(source: Source, out: Path, limits: Limits) -> str:
    given = Path(source.address)
    folder = Folder(given.parent, {})
    digest, size = hashlib.sha256(), 0
    with folder.open(given.name) as file, out.open("xb") as copy:
        while data := file.read(CHUNK):
            size += len(data)
            if size > limits.source_bytes:
                raise ToolkitError(f"it has more than {limits.source_bytes:,} bytes")
            digest.update(data)
            copy.write(data)
    return digest.hexdigest()
