"""Each agent's file in the workspace, and which of several with one name it is."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from packbelt.catalog import claude
from packbelt.importers.agents import FoundAgent, read_as, refused, renamed
from packbelt.importers.report import Outcome, Remark, reason_of
from packbelt.importers.work import Work
from packbelt.model import Origin, PackbeltError

_NEAR = {Origin.PROJECT: 0, Origin.USER: 1, Origin.PLUGIN: 2}


def place(work: Work) -> dict[str, str]:
    """The agents' files; says of each agent what became of it."""
    files: dict[str, str] = {}
    taken: dict[str, str] = {}
    for found in _apart(work):
        first = taken.setdefault(found.name, str(found.where))
        if first != str(found.where):
            remark = Remark(Outcome.LEFT_OUT, f"{first} defines it too, and is nearer", found.where)
            item = replace(found.item("", remark), outcome=Outcome.LEFT_OUT)
            work.items.append(replace(item, remarks=(remark,)))
            continue
        try:
            remarks = read_as(found, work.entries, work.displaced.get(found.source.client, ()))
        except PackbeltError as problem:
            work.items.append(
                refused(found.name, found.source, problem.where or found.where, reason_of(problem))
            )
            continue
        file = _free(found.file, files)
        in_place = (
            found.source.path.is_dir() and found.source.path.resolve() == work.context.target / claude.FOLDER
        )
        if not in_place:
            files[file] = found.text
        work.items.append(
            found.item(f"{file}" if not in_place else f"{found.where.file} (read in place)", *remarks)
        )
        for name in _called(found):
            work.rules.spawned.setdefault(name, set()).add(found.name)
    return files


def _called(found: FoundAgent) -> set[str]:
    """What a rule may call an agent: a plugin's also by its plugin, and by its name alone."""
    plugin = found.source.plugin
    alone = found.name.removeprefix(f"{plugin}-") if plugin else found.name
    return {found.name, alone, f"{plugin}:{alone}" if plugin else alone}


def _apart(work: Work) -> Iterator[FoundAgent]:
    """Agents, nearest first; a plugin's that shares its name has its plugin's in front."""
    counts = Counter(found.name for found in work.agents)
    for found in sorted(work.agents, key=lambda one: _NEAR[one.source.scope]):
        if found.source.scope is not Origin.PLUGIN or counts[found.name] == 1:
            yield found
            continue
        try:
            yield renamed(found, f"{found.source.plugin}-{found.name}")
        except PackbeltError as problem:
            work.items.append(refused(found.name, found.source, found.where, reason_of(problem)))


def _free(file: str, files: dict[str, str]) -> str:
    """A file name that no other agent has, whatever the file system thinks of upper case."""
    taken = {name.lower() for name in files}
    stem, number = file.removesuffix(".md"), 2
    while file.lower() in taken:
        file, number = f"{stem}-{number}.md", number + 1
    return file
