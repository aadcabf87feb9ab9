"""The tools of the pack `skills`: find, install, read and remove Agent Skills. Nothing here runs a skill."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.to_thread

from packbelt.catalog.natives import tool
from packbelt.catalog.skills import name_key
from packbelt.model import PackbeltError, WorkspaceError
from packbelt.model.text import harmless
from packbelt.toolkits.address import Given, Source, read_url, ref_problem
from packbelt.toolkits.bundle import Bundle
from packbelt.toolkits.found import Found, Skills, files_of
from packbelt.toolkits.host import Changed, tell
from packbelt.toolkits.limits import ToolkitError
from packbelt.toolkits.place import Place, Record
from packbelt.toolkits.reading import read_file, resolve_programs
from packbelt.toolkits.search import matches
from packbelt.toolkits.shelf import Held, Shelf

_DESCRIPTION = 400  # bytes of a description in a listing
_LISTED = 20  # names in an error


@dataclass(frozen=True, slots=True)
class SkillTools:
    """One workspace's skills and the sources they come from. Its public methods are the tools.

    Args:
        place: where skills are installed.
        sources: by name.
        shelf: fetches them.
        local: whether addresses on this machine are taken from a model.
        changed: called after each change.
    """

    place: Place
    sources: Mapping[str, Source]
    shelf: Shelf
    local: bool
    changed: Changed | None

    def tools(self) -> list[Callable[..., Any]]:
        """The tools, for `packbelt.load(..., tools=...)`."""
        return [
            self.skill_registry_browse,
            self.skill_registry_search,
            self.skill_registry_install,
            self.skill_registry_sources,
            self.skill_registry_uninstall,
            self.skill_runtime_resolve_runtimes,
            self.install_workflow_from_url,
            self.uninstall_workflow,
            self.read_workflow_resource,
        ]

    @tool()
    async def skill_registry_browse(
        self,
        source: str | None = None,
        category: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """Lists the skills of the configured sources page by page."""
        seen = await self._look(source)
        rows = [
            (f"{name}:{found.id}", name, found)
            for name, skills in sorted(seen.skills.items())
            for found in sorted(skills.found, key=lambda each: each.id)
            if category is None or _in_category(found, category)
        ]
        rows = sorted(row for row in rows if cursor is None or row[0] > cursor)
        page, taken = rows[:limit], self._taken()
        answer = {"skills": [self._row(name, found, taken) for _, name, found in page], **seen.problems()}
        return answer | ({"cursor": page[-1][0]} if len(rows) > limit else {})

    @tool()
    async def skill_registry_search(
        self, query: str, source: str | None = None, limit: int = 10
    ) -> dict[str, Any]:
        """Searches the configured sources for skills by name or purpose."""
        seen = await self._look(source)
        rows = [(name, found) for name, skills in sorted(seen.skills.items()) for found in skills.found]
        found = matches(query, rows)
        taken = self._taken()
        skills = [self._row(name, each, taken) for name, each in found[:limit]]
        return {"skills": skills, "more": max(len(found) - limit, 0), **seen.problems()}

    @tool()
    async def skill_registry_sources(self) -> dict[str, Any]:
        """Lists the configured sources of skills, with address, number of skills and last refresh."""
        seen = await self._look(None)
        rows = []
        for name, each in self.sources.items():
            row: dict[str, Any] = {"name": name, "kind": each.kind, "address": each.address, "ref": each.ref}
            if name in seen.skills:
                held, skills = seen.held[name], seen.skills[name]
                row["skills"] = len(skills.found)
                row["refreshed"] = datetime.fromtimestamp(held.fetched, UTC).isoformat(timespec="seconds")
                row["commit"] = held.commit
                broken = [f"{one.path or '.'}: {harmless(one.problem)}" for one in skills.broken]
                row["broken"], row["broken_count"] = broken[:_LISTED], len(broken)
            else:
                row["problem"] = seen.failed[name]
            rows.append({key: value for key, value in row.items() if value not in (None, "", [])})
        return {"sources": rows}

    @tool(permission="write")
    async def skill_registry_install(
        self,
        id: str,  # noqa: A002 - the pack's name for it
        source: str | None = None,
        version: str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Installs a skill from a configured source by its id. Its scripts are not run."""
        name, chosen = await self._choose(id, source)
        if chosen.kind == "git" and version is not None:
            if problem := ref_problem(version):
                raise ToolkitError(problem)
            chosen = replace(chosen, ref=version)
        held = await self.shelf.hold(chosen, afresh=True)
        found = _only((await self.shelf.skills(held)).pick(id), id, name)
        if chosen.kind != "git" and version not in (None, found.version):
            raise ToolkitError(
                f"source {name!r} has {found.id!r} in version {found.version or '(none)'} only"
            )
        return await self._install(held, found, "registry", name, overwrite=overwrite)

    @tool(permission="write")
    async def skill_registry_uninstall(self, name: str) -> dict[str, Any]:
        """Removes a skill that came from a configured source, with all its files."""
        return await self._remove(name, "registry", "uninstall_workflow")

    @tool(permission="write")
    async def install_workflow_from_url(
        self,
        url: str,
        path: str | None = None,
        ref: str | None = None,
        sha256: str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Installs a skill from an https address: an archive, a SKILL.md or a git repository."""
        given = read_url(url, ref, local=self.local)
        if sha256 is not None and given.source.kind == "git":
            raise ToolkitError("a repository has no SHA-256", mend="pass a commit as `ref`")
        async with self.shelf.borrowed(given.source) as held:
            if sha256 is not None and held.sha256 != sha256.strip().lower().removeprefix("sha256:"):
                raise ToolkitError(
                    f"its SHA-256 is {held.sha256}, not the expected one; nothing was installed"
                )
            found = _of_address(await self.shelf.look(held), given, path)
            return await self._install(held, found, "address", url, overwrite=overwrite)

    @tool(permission="write")
    async def uninstall_workflow(self, name: str) -> dict[str, Any]:
        """Removes a skill that was installed from an address, with all its files."""
        return await self._remove(name, "address", "skill_registry_uninstall")

    @tool()
    async def read_workflow_resource(
        self, name: str, path: str = "SKILL.md", offset: int = 0, limit: int = 1000
    ) -> str:
        """Reads one file of an installed skill, and lists its files with its SKILL.md."""
        return await anyio.to_thread.run_sync(read_file, self.place, name, path, offset, limit)

    @tool()
    async def skill_runtime_resolve_runtimes(self, name: str) -> dict[str, Any]:
        """Says which programs an installed skill's scripts need, and which are here. Runs nothing."""
        return await anyio.to_thread.run_sync(resolve_programs, self.place, name)

    async def _choose(self, wanted: str, source: str | None) -> tuple[str, Source]:
        if source is not None:
            return source, self._source(source)
        seen = await self._look(None)
        having = [name for name, skills in sorted(seen.skills.items()) if skills.pick(wanted)]
        if len(having) == 1:
            return having[0], self.sources[having[0]]
        if having:
            raise ToolkitError(f"several sources have {wanted!r}", mend=f"pass source: {', '.join(having)}")
        broken = [
            f"{name}: {one.problem}"
            for name, skills in seen.skills.items()
            for one in skills.broken
            if wanted in (one.path, one.path.rpartition("/")[2])
        ]
        why = [*broken, *(f"{name}: {problem}" for name, problem in seen.failed.items())]
        because = f" ({'; '.join(why)})" if why else ""
        raise ToolkitError(f"no source has a skill {wanted!r}{because}", mend="search for it")

    def _source(self, name: str) -> Source:
        if name not in self.sources:
            listed = ", ".join(self.sources) or "none is configured"
            raise ToolkitError(f"{name!r} is no source", mend=f"choose one of: {listed}")
        return self.sources[name]

    async def _look(self, only: str | None) -> "_Seen":
        wanted = self.sources if only is None else {only: self._source(only)}
        seen = _Seen({}, {}, {})

        async def look(name: str, source: Source) -> None:
            try:
                seen.held[name] = await self.shelf.hold(source)
                seen.skills[name] = await self.shelf.skills(seen.held[name])
            except PackbeltError as error:
                seen.failed[name] = str(error)

        async with anyio.create_task_group() as tasks:
            for name, source in wanted.items():
                tasks.start_soon(look, name, source)
        if only is not None and only in seen.failed:
            raise ToolkitError(seen.failed[only])
        return seen

    def _taken(self) -> frozenset[str]:
        return frozenset(map(name_key, self.place.installed()))

    def _row(self, source: str, found: Found, taken: frozenset[str]) -> dict[str, Any]:
        row = {
            "id": found.id,
            "name": found.name,
            "source": source,
            "description": harmless(found.description, _DESCRIPTION),
            "version": harmless(found.version),
            "category": harmless(found.category),
            "path": found.path,
            "installed": name_key(found.name) in taken,
        }
        return {key: value for key, value in row.items() if value != ""}

    async def _install(
        self, held: Held, found: Found, origin: str, source: str, *, overwrite: bool
    ) -> dict[str, Any]:
        record = Record(found.name, origin, source, found.path, found.version or held.commit[:12])

        def install() -> tuple[Record, list[str]]:
            opened: AbstractContextManager[Bundle] = held.open(self.shelf.limits)
            with opened as bundle:
                files = files_of(bundle, found.path, self.shelf.limits)
                return self.place.put(record, files, bundle, self.shelf.limits, overwrite=overwrite), sorted(
                    files
                )

        self.place.check_free(found.name, overwrite=overwrite)
        placed, files = await anyio.to_thread.run_sync(install)
        return {
            "name": placed.name,
            "folder": f"{self.place.folder}/{placed.name}",
            "version": placed.version,
            "commit": held.commit,
            "source": placed.source,
            "digest": placed.digest,
            "files": files,
            **(await tell(self.changed)),
        }

    async def _remove(self, name: str, origin: str, otherwise: str) -> dict[str, Any]:
        record = await anyio.to_thread.run_sync(self.place.remove, name, origin, otherwise)
        return {"removed": record.name, "source": record.source, **(await tell(self.changed))}


@dataclass(frozen=True, slots=True)
class _Seen:
    held: dict[str, Held]
    skills: dict[str, Skills]
    failed: dict[str, str]

    def problems(self) -> dict[str, Any]:
        return {"unreachable": self.failed} if self.failed else {}


def _in_category(found: Found, category: str) -> bool:
    return category.casefold() in (found.category.casefold(), *found.path.casefold().split("/")[:-1])


def _only(found: Sequence[Found], wanted: str, source: str) -> Found:
    if len(found) == 1:
        return found[0]
    if not found:
        raise ToolkitError(f"source {source!r} has no skill {wanted!r}", mend="search for it")
    listed = ", ".join(each.id for each in found[:_LISTED])
    raise ToolkitError(f"source {source!r} has several called {wanted!r}", mend=f"pass one of: {listed}")


def _of_address(skills: Skills, given: Given, path: str | None) -> Found:
    folder = (given.path if path is None else path).strip("/")
    inside = [
        each for each in skills.found if not folder or each.path == folder or f"{folder}/" in f"{each.path}/"
    ]
    exact = [each for each in inside if each.path == folder]
    if len(inside) == 1 or (folder and exact):
        return (exact or inside)[0]
    if inside:
        listed = ", ".join(each.path or "." for each in inside[:_LISTED])
        raise ToolkitError(f"it has {len(inside)} skills", mend=f"pass path, one of: {listed}")
    why = "; ".join(f"{one.path or '.'}: {one.problem}" for one in skills.broken[:_LISTED])
    where = f" in {folder!r}" if folder else ""
    raise ToolkitError(f"it has no skill{where}{f' ({why})' if why else ''}")


def named(sources: Sequence[Source]) -> dict[str, Source]:
    """Sources by name.

    Raises:
        WorkspaceError: two have one name.
    """
    found: dict[str, Source] = {}
    for source in sources:
        if source.name in found:
            raise WorkspaceError(f"two sources are called {source.name!r}", mend="rename one")
        found[source.name] = source
    return found
