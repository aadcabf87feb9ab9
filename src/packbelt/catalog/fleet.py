"""All agents' files of a workspace, and which file has which name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from packbelt.catalog import agents, claude
from packbelt.catalog.drafts import Broken, Draft, break_agent, broken_diagnostic
from packbelt.catalog.front_matter import guess, has_front_matter
from packbelt.catalog.guesses import agent_name
from packbelt.catalog.names import safe_handoff
from packbelt.catalog.near import listed
from packbelt.catalog.text import Listing, Tree
from packbelt.catalog.workspace import BrokenAgent
from packbelt.model import Code, Diagnostic, Level, Origin, PackbeltError, Where, WorkspaceError
from packbelt.model.wire import plain_name_problem

_SUFFIX = ".md"
_DOCUMENTS = frozenset({"readme", "changelog", "contributing", "license", "index"})
"""Markdown that people put beside agents, and that is none unless it has front matter."""

Item = Draft | Broken


def read_agents(tree: Tree, origin: Origin) -> tuple[list[Item], list[Diagnostic]]:
    """Every agent of a workspace once, packbelt's own format first, each in the order of the files.

    Of two files in one folder with one name the first counts, even if it is broken: mending or breaking a
    file must not put another, wider one in its place. For the same reason a broken file in the nearer folder
    whose name cannot be read for sure breaks every agent of the farther folder but those that the nearer one
    defines: it may be the nearer definition of any of them. Within one folder it costs only itself, since two
    files of one name there were an error before.

    Raises:
        WorkspaceError: a folder leads out of the workspace or cannot be listed.
    """
    own = tree.find(tree.root / agents.FOLDER, _SUFFIX)
    other = tree.find(tree.root / claude.FOLDER, _SUFFIX, deep=True)
    items: dict[str, Item] = {}
    diagnostics: list[Diagnostic] = []
    for imported, listing in ((False, own), (True, other)):
        nearer = unread(items.values())
        for found in _parse(tree, listing, origin, imported=imported):
            item = _doubtful(found, nearer) if nearer and found.agent.name not in items else found
            first = items.get(item.agent.name)
            if first is None:
                items[item.agent.name] = item
                if isinstance(item, Broken):
                    diagnostics.append(broken_diagnostic(item.agent.name, item.agent.error))
            else:
                diagnostics.append(_second(item, first))
    return list(items.values()), diagnostics


def unread(items: Iterable[Item]) -> list[str]:
    """The files that may be any agent's: broken, and of a name that cannot be read for sure."""
    return [item.agent.file for item in items if isinstance(item, Broken) and not item.agent.named]


def _doubtful(item: Item, nearer: Sequence[str]) -> Item:
    if isinstance(item, Broken):
        return item
    problem = WorkspaceError(
        f"a nearer file whose name cannot be read may define it too: {listed(nearer)}",
        where=Where(item.agent.file, 1),
        mend="mend or remove the nearer file",
        name=item.agent.name,
    )
    return Broken(break_agent(item.agent, problem), item.imported)


def _parse(tree: Tree, listing: Listing, origin: Origin, *, imported: bool) -> Iterator[Item]:
    for path in listing.files:
        file = tree.name(path)
        try:
            text = tree.read(path)
            if passed_over(path, text):
                continue
            yield _parser(path, origin, imported=imported)(text, file)
        except PackbeltError as problem:
            text = tree.peek(path)
            if not (text and passed_over(path, text)):
                yield Broken(_broken(text, path.stem, problem, file, imported=imported), imported)
    for folder in listing.outside:
        file = tree.name(folder)
        outside = WorkspaceError(
            "its folder is a link that leads out of the workspace", where=Where(file), mend="copy it in"
        )
        handoff = safe_handoff(folder.name)
        yield Broken(BrokenAgent(folder.name, handoff, outside, file, named=False), imported)


def passed_over(path: Path, text: str) -> bool:
    """Whether a file beside agents is a page that people put there, and no agent."""
    return path.stem.lower() in _DOCUMENTS and not has_front_matter(text)


def _broken(text: str, stem: str, error: PackbeltError, file: str, *, imported: bool) -> BrokenAgent:
    """What can be told of an agent whose file does not parse, so that hand-offs to it keep their names."""
    name, sure = agent_name(text, stem, imported=imported)
    handoff = guess(text, "handoff")
    if not handoff or plain_name_problem(handoff):
        handoff = safe_handoff(name)
    return BrokenAgent(name, handoff, error, file, named=sure)


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
