"""A case in the terms of a workspace: its names as identities, and what it needs to be told apart."""

from collections.abc import Iterable
from dataclasses import dataclass

from packbelt.belt.names import words
from packbelt.belt.selectors import Purpose, match
from packbelt.catalog.near import suggestion
from packbelt.catalog.registry import Registry, bind, bits
from packbelt.catalog.workspace import Workspace
from packbelt.evals.cases import Case
from packbelt.evals.trace import Expected
from packbelt.model import NATIVE, Selector, Tool, Where, WorkspaceError


@dataclass(frozen=True, slots=True)
class Bound:
    """A case with what its workspace knows.

    Attributes:
        case: the case.
        expected: where the request belongs, in identities.
        wanted: the same in wire names.
        raw: wire names of the tools of those whom the request belongs to, the forbidden ones first.
        web: wire names of the tools for the web.
    """

    case: Case
    expected: Expected
    wanted: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]
    web: tuple[str, ...]


def bound(workspace: Workspace, case: Case) -> Bound:
    """A case bound to a workspace.

    Raises:
        WorkspaceError: it names a tool that neither the workspace nor the case's snapshot has, forbids
            nothing, or forbids what it expects.
    """
    registry = bind(workspace, case.snapshot)
    steps = tuple(
        tuple(meant(registry, name, case.where("expect"), "expect") for name in step) for step in case.expect
    )
    for name in case.answers:
        meant(registry, name, case.where(), "answers")
    mask = 0
    for n, text in enumerate(case.forbid):
        where = case.where(f"forbid.{n}")
        found = match(registry, Selector(text, where), Purpose.DENY)
        if not found.mask:
            mend = suggestion(text, _names(registry), otherwise="name a tool, a server's tool or a pack")
            raise WorkspaceError(f"{text!r} in `forbid` matches nothing", where=where, mend=mend, name=text)
        mask |= found.mask
    forbidden = tuple(registry.tools[i] for i in bits(mask))
    both = next((tool.name for step in steps for tool in step if tool in forbidden), None)
    if both is not None:
        raise WorkspaceError(
            f"case {case.id!r} expects and forbids {both!r}",
            where=case.where("expect"),
            mend="remove it from one of the two",
            name=both,
        )
    targets = tuple(dict.fromkeys(tool.target for step in steps for tool in step if tool.target))
    expected = Expected(
        tuple(tuple(str(tool.id) for tool in step) for step in steps),
        targets,
        tuple(str(tool.id) for tool in forbidden),
    )
    own = [
        tool
        for i, tool in enumerate(registry.tools)
        if tool.target is None and set(owners(registry, i)) & set(targets)
    ]
    return Bound(
        case,
        expected,
        tuple(tuple(tool.wire_name for tool in step) for step in steps),
        tuple(tool.wire_name for tool in sorted(own, key=lambda tool: tool not in forbidden)),
        tuple(tool.wire_name for tool in registry.tools if is_web(tool)),
    )


def meant(registry: Registry, name: str, where: Where | None, key: str) -> Tool:
    """The tool of a wire name, an identity, or a plain name that only one tool has.

    Raises:
        WorkspaceError: there is none, or there are several.
    """
    i = registry.wire.get(name)
    if i is None:
        i = registry.identified(name)
    found = [i] if i is not None else registry.named(name)
    if len(found) == 1:
        return registry.tools[found[0]]
    if found:
        mend = f"say which: {', '.join(registry.tools[i].wire_name for i in found)}"
        raise WorkspaceError(
            f"{name!r} in `{key}` is the name of several tools", where=where, mend=mend, name=name
        )
    mend = suggestion(name, _names(registry), otherwise="name a tool of the workspace or of the snapshot")
    raise WorkspaceError(f"no tool is called {name!r} (`{key}`)", where=where, mend=mend, name=name)


def owners(registry: Registry, i: int) -> tuple[str, ...]:
    """The agents for whom the pack of the tool at a bit is there."""
    pack = registry.pack_of(i)
    return registry.pack(pack).owners if pack else ()


def is_web(tool: Tool) -> bool:
    """Whether a native tool's name speaks of the web."""
    return tool.id.source == NATIVE and "web" in words(tool.name)


def _names(registry: Registry) -> Iterable[str]:
    return registry.wire
