"""`Form`: a belt as one target's request, with what that target really enforces of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from packbelt.model import Diagnostic, PackbeltError, Speech, Tool, ToolCall, ToolResult
from packbelt.providers.names import Names
from packbelt.providers.target import Axis, Cell, Target


class ResidueError(PackbeltError):
    """A target shows something else than the plan; carries what is too much and what is missing.

    Args:
        target: the target's title.
        extra: names that it has and the plan has not.
        missing: names that the plan has and it has not.
    """

    def __init__(self, target: str, extra: Sequence[str], missing: Sequence[str]) -> None:
        self.extra, self.missing = tuple(extra), tuple(missing)
        parts = [f"has {', '.join(extra)} besides"] if extra else []
        parts += [f"lacks {', '.join(missing)}"] if missing else []
        super().__init__(
            f"{target} {' and '.join(parts)}",
            mend="compile anew from what is true now, or look at its options",
        )


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What holds of a belt in its target.

    Attributes:
        target: the target.
        cells: by axis: what it does, what packbelt's guard adds, what stays open.
        plan: the names that its model should see, in order.
        residue: names that it shows besides, because it can only show a superset.
    """

    target: Target
    cells: Mapping[Axis, Cell]
    plan: tuple[str, ...] = ()
    residue: tuple[str, ...] = ()

    @property
    def proved_on(self) -> str:
        """Package and version that the claims were proved on."""
        return f"{self.target.package} {self.target.proved_on}".strip()

    def verify(self, observed: Iterable[str]) -> None:
        """Compare the plan with the tools that the target says it has.

        Args:
            observed: names as the target spells them: `init.tools` of Claude's command line, the tools of
                the first request, or those of `list_tools`.

        Raises:
            ResidueError: it has more, or less, than was planned, or two of one name.
        """
        seen, planned = Counter(observed), {*self.plan, *self.residue}
        extra = sorted(name for name, times in seen.items() if name not in planned or times > 1)
        missing = sorted(set(self.plan) - seen.keys())
        if extra or missing:
            raise ResidueError(self.target.title, extra, missing)

    def to_json(self) -> dict[str, Any]:
        """By axis: `target`, `guard` and `open`."""
        return {
            str(axis): {"target": cell.target, "guard": cell.guard, "open": cell.open}
            for axis, cell in self.cells.items()
        }


@dataclass(frozen=True, slots=True)
class Codec:
    """How a target's replies are read and its results written.

    Attributes:
        calls: the calls of a reply, under the target's names.
        text: what the model says in a reply.
        results: results in the form that goes back; the ids are those of the calls.
    """

    calls: Callable[[Any], list[ToolCall]]
    text: Callable[[Any], str]
    results: Callable[[Sequence[ToolResult]], Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A belt as one target's request.

    Attributes:
        target: the target's name.
        kwargs: what the target's call takes: tools and system text, and nothing of the host's own.
        names: wire names and the target's names.
        enforcement: what holds of the belt there.
        system: the agent's prompt with its sections in the target's spelling, for those who place it
            themselves.
        diagnostics: tools that were left out, texts that the target cuts.
        tools: for a target that is given the tools by a server or as objects, what that has to list, in
            order, as the target takes them; else empty.
        search: whether the target finds what is put away by its own search.
    """

    target: str
    kwargs: Mapping[str, Any]
    names: Names
    enforcement: Enforcement
    system: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    codec: Codec | None = field(default=None, repr=False)
    tools: tuple[Tool, ...] = field(default=(), repr=False)
    search: bool = False

    def calls(self, reply: Any) -> list[ToolCall]:
        """The calls of a reply, by wire name, for `turn.run`.

        Args:
            reply: the SDK's object, or the JSON of it.

        Raises:
            TypeError: this target has no replies: its SDK runs the tools.
        """
        found = self._codec().calls(reply)
        return [
            ToolCall(call.id, self.names.unspell(call.name), call.arguments, self.speech) for call in found
        ]

    @property
    def speech(self) -> Speech | None:
        """How its model is spoken to; None where it reads plain wire names."""
        plain = all(said == wire_name for wire_name, said in self.names.shown.items())
        return None if plain and not self.search else Speech(self.names.spell, self.search)

    def text(self, reply: Any) -> str:
        """What the model says in a reply, without its calls.

        Raises:
            TypeError: as for `calls`.
        """
        return self._codec().text(reply)

    def results(self, results: Sequence[ToolResult]) -> Any:
        """What goes back to the model: one message, or the items of one.

        Raises:
            TypeError: as for `calls`.
        """
        shown = [
            replace(one, call=replace(one.call, name=self.names.spell(one.call.name))) for one in results
        ]
        return self._codec().results(shown)

    def _codec(self) -> Codec:
        if self.codec is None:
            raise TypeError(f"{self.target} runs the tools itself; use its adapter in packbelt.adapters")
        return self.codec

    def to_json(self) -> dict[str, Any]:
        """The form as `packbelt compile --json` prints it."""
        return {
            "target": self.target,
            "form": dict(self.kwargs),
            "names": dict(self.names.shown),
            "enforcement": self.enforcement.to_json(),
            "diagnostics": [
                {"level": str(one.level), "code": str(one.code), "message": one.message}
                for one in self.diagnostics
            ],
        }
