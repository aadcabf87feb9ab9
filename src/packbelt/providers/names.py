"""Names as a target knows them, and back: a table, never a rule that is run backwards."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from packbelt.model import Code, Diagnostic, Level, PackbeltError, Tool
from packbelt.providers.target import Target


class CompileError(PackbeltError):
    """A belt cannot be said in a target's form; names both sides."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one compiled belt.

    Attributes:
        shown: the target's name by wire name, as its model sees it.
        wire: the wire name by the target's name.
    """

    shown: Mapping[str, str] = field(default_factory=dict)
    wire: Mapping[str, str] = field(default_factory=dict)

    def spell(self, wire_name: str) -> str:
        """A wire name as the target's model sees it; one that is not in the table stays."""
        return self.shown.get(wire_name, wire_name)

    def unspell(self, said: str) -> str:
        """The wire name that the target's model means; what is no name of the table stays."""
        return self.wire.get(said, said)


def name_all(
    target: Target,
    tools: Iterable[Tool],
    mapped: Callable[[Tool], str | None],
    *,
    strict: bool,
    taken: Mapping[str, Tool] | None = None,
) -> tuple[Names, tuple[Tool, ...], tuple[Diagnostic, ...]]:
    """Names for all of a belt's tools, the tools that have one, and what was left out.

    Args:
        target: whose names.
        tools: in order.
        mapped: the target's name of a tool, prefix included; None where the target has no such tool.
        strict: whether a tool that cannot be named refuses the whole; else it alone is left out.
        taken: names that stand for something of the target's own in the same request.

    Raises:
        CompileError: a tool has no name there, or two have one.
    """
    shown: dict[str, str] = {}
    owner: dict[str, Tool] = dict(taken or {})
    kept: list[Tool] = []
    left_out: list[Diagnostic] = []
    for tool in tools:
        name = mapped(tool)
        problem, mend = _problem(target, tool, name, owner)
        if problem:
            if strict:
                raise CompileError(problem, mend=f"{mend}, or compile with strict=False", name=tool.wire_name)
            left_out.append(
                Diagnostic(
                    Level.WARNING, Code.TARGET_NAME, f"{problem}; it is left out", None, mend, tool.wire_name
                )
            )
            continue
        shown[tool.wire_name] = str(name)
        owner[str(name)] = tool
        kept.append(tool)
    wire = {name: wire_name for wire_name, name in shown.items()}
    return Names(shown, wire), tuple(kept), tuple(left_out)


def _problem(target: Target, tool: Tool, name: str | None, owner: Mapping[str, Tool]) -> tuple[str, str]:
    """What keeps a tool from having a name there, and the mend; empty if nothing does."""
    if name is None:
        return (
            f"{tool.id} ({tool.wire_name!r}) has no counterpart in {target.title}",
            "deny it to this agent, or serve the belt to the target by packbelt's gateway",
        )
    if len(name) > target.names.longest:
        return (
            f"{tool.id} would be {name!r} in {target.title}: {len(name)} letters of {target.names.longest}",
            "rename the tool or its server",
        )
    if not target.names.pattern.fullmatch(name):
        return (
            f"{tool.id} would be {name!r} in {target.title}, which takes {target.names.pattern.pattern}",
            "rename the tool or its server",
        )
    other = owner.get(name)
    if other is not None:
        return (
            f"{tool.id} and {other.id} would both be {name!r} in {target.title}",
            "rename one of them, or its server",
        )
    return "", ""
