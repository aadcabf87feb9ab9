"""The tools that a target runs itself: known, and decided like any other, only when compiling for it."""

from functools import lru_cache

from packbelt.belt import Belt, belt_of
from packbelt.catalog import builtins as catalog
from packbelt.catalog.registry import bind
from packbelt.catalog.workspace import Workspace
from packbelt.model import Code, Diagnostic, Level
from packbelt.providers.names import CompileError
from packbelt.providers.target import target

_MEND = "rename it: a plain name would mean both"


def with_builtins(belt: Belt, name: str, *, strict: bool = True) -> tuple[Belt, tuple[Diagnostic, ...]]:
    """A belt decided anew with a target's own tools known, and what was left out of them.

    The very same belt where the target has none: one decision covers them all, so that grants, denies,
    ceilings and what spawns cut hold for `Read` as they do for any tool.

    Args:
        belt: the decision without them.
        name: the target.
        strict: whether a native tool or hand-off that is called like one of them refuses the whole; else
            the target's own is left out.

    Raises:
        TargetError: there is no such target.
        CompileError: a native tool or hand-off is called like one of them.
    """
    if not target(name).builtins:
        return belt, ()
    registry = belt.registry
    workspace, left_out = _known(registry.workspace, name)
    if left_out and strict:
        first = left_out[0]
        raise CompileError(
            first.message.removesuffix("; it is left out"),
            where=first.where,
            mend=f"{first.mend}, or compile with strict=False",
            name=first.name,
        )
    scope = belt.subject.scope
    found = bind(workspace, registry.snapshot, registry.runtime)
    return belt_of(found, scope, started=len(scope.path)), left_out


@lru_cache(maxsize=16)
def _known(workspace: Workspace, name: str) -> tuple[Workspace, tuple[Diagnostic, ...]]:
    """The workspace with a target's own tools, and those that are left out for a namesake's sake."""
    found = target(name)
    tools = [catalog.builtin_tool(one.name, one.description, one.permission) for one in found.builtins]
    taken = {tool.name: other for tool, other in catalog.namesakes(workspace, tools)}
    left_out = tuple(
        Diagnostic(
            Level.WARNING,
            Code.TARGET_NAME,
            f"{found.title}'s own tool {name} is called like {other.id}; it is left out",
            other.where,
            _MEND,
            name,
        )
        for name, other in taken.items()
    )
    return catalog.with_builtins(workspace, (tool for tool in tools if tool.name not in taken)), left_out


__all__ = ["with_builtins"]
