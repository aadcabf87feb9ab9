"""All agents' files of a workspace, and which file has which name."""

from collections.abc import Callable, Iterator
from pathlib import Path

from packbelt.catalog import agents, claude
from packbelt.catalog.drafts import Broken, Draft, broken_diagnostic, broken_from_text
from packbelt.catalog.front_matter import has_front_matter
from packbelt.catalog.text import Listing, Tree
from packbelt.model import Code, Diagnostic, Level, Origin, PackbeltError, Where, WorkspaceError

_SUFFIX = ".md"
_DOCUMENTS = frozenset({"readme", "changelog", "contributing", "license", "index"})
"""Markdown that people put beside agents, and that is none unless it has front matter."""

Item = Draft | Broken


def read_agents(tree: Tree, origin: Origin) -> tuple[list[Item], list[Diagnostic]]:
    """Every agent of a workspace once, packbelt's own format first, each in the order of the files.

    Of two files in one folder with one name the first counts, even if it is broken: mending or breaking a
    file must not put another, wider one in its place.

    Raises:
        WorkspaceError: a folder leads out of the workspace or cannot be listed.
    """
    own = tree.find(tree.root / agents.FOLDER, _SUFFIX)
    other = tree.find(tree.root / claude.FOLDER, _SUFFIX, deep=True)
    items: dict[str, Item] = {}
    diagnostics = [_outside(tree, path) for path in (*own.outside, *other.outside)]
    for imported, listing in ((False, own), (True, other)):
        for item in _parse(tree, listing, origin, imported=imported):
            first = items.get(item.agent.name)
            if first is None:
                items[item.agent.name] = item
                if isinstance(item, Broken):
                    diagnostics.append(broken_diagnostic(item.agent.name, item.agent.error))
            else:
                diagnostics.append(_second(item, first))
    return list(items.values()), diagnostics


def _parse(tree: Tree, listing: Listing, origin: Origin, *, imported: bool) -> Iterator[Item]:
    for path in listing.files:
        file = tree.name(path)
        text = ""
        try:
            text = tree.read(path)
            if path.stem.lower() in _DOCUMENTS and not has_front_matter(text):
                continue
            yield _parser(path, origin, imported=imported)(text, file)
        except PackbeltError as problem:
            yield Broken(broken_from_text(text, path.stem, problem, file), imported)


def _parser(path: Path, origin: Origin, *, imported: bool) -> Callable[[str, str], Draft]:
    if imported:
        return lambda text, file: claude.parse_claude_agent(text, file, origin)
    return lambda text, file: agents.parse_agent(text, file, path.stem, origin)


def _second(item: Item, first: Item) -> Diagnostic:
    name, file = item.agent.name, item.agent.file
    if item.imported and not first.imported:
        message = f"agent {name!r} is left out: {first.agent.file} is nearer"
        return Diagnostic(
            Level.WARNING, Code.AGENT_SHADOWED, message, Where(file, 1), "rename one of them", name
        )
    problem = WorkspaceError(
        f"{first.agent.file} has the same name", where=Where(file, 1), mend="rename one of them", name=name
    )
    return broken_diagnostic(name, problem)


def _outside(tree: Tree, path: Path) -> Diagnostic:
    problem = WorkspaceError(
        "its folder is a link that leads out of the workspace",
        where=Where(tree.name(path)),
        mend="copy it in",
    )
    return broken_diagnostic(path.name, problem)
