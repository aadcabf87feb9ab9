"""`AgentHandle`: what an agent carries from turn to turn, since a turn is immutable."""

from dataclasses import replace

from packbelt.belt import Scope
from packbelt.belt.arguments import parse
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import Runtime
from packbelt.catalog.snapshot import Admitted, Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.model import Hint, HintClass, Refusal, Resolution
from packbelt.model.encode import canonical
from packbelt.turn.turn import NOTHING, Turn, first_turn, next_turn, turn

REMEMBERED = 64
"""Failing calls that a handle remembers."""


class AgentHandle:
    """One agent at work: the order in which its tools arrived, and the calls that it repeats in vain.

    Args:
        workspace: what may exist.
        agent: an agent's name, or the scope of a spawned one.
        runtime: what a live host brings; None to ask of the files alone.
        above: how many agents of its path, from the root on, have started when it does: what their spawns
            named and is gone meanwhile matches nothing and refuses nobody.
    """

    def __init__(
        self,
        workspace: Workspace,
        agent: str | Scope,
        runtime: Runtime | None = None,
        *,
        above: int = 0,
    ) -> None:
        self._workspace = workspace
        self._scope = Scope(agent) if isinstance(agent, str) else agent
        self._runtime = runtime
        self._above = above
        self._admitted: tuple[Admitted, ...] = ()
        self._failed: dict[str, int] = {}
        self._turn: Turn | None = None
        self._seen: Snapshot | None = None

    @property
    def scope(self) -> Scope:
        """Who it is, and on whose behalf."""
        return self._scope

    def turn(self, snapshot: Snapshot | None = None) -> Turn:
        """The next turn. What was admitted before keeps its place and placement; what is new is appended.

        Raises:
            AgentRefusedError: the agent cannot start; once it has, what vanishes is a diagnostic.
            SelectorError: a spawn names what does not exist; once the agent has started, that too is a
                diagnostic.
            AgentBrokenError, UnknownAgentError: as for `packbelt.turn`.
        """
        now = NOTHING if snapshot is None else snapshot
        if self._turn is not None and self._seen is now:
            return self._turn
        seen = {entry.id for entry in self._admitted}
        admitted = (*self._admitted, *(entry for entry in now.admitted if entry.id not in seen))
        known = replace(now, admitted=admitted) if admitted else now
        if self._turn is None and self._above:
            fresh = first_turn(self._workspace, known, self._scope, self._runtime, above=self._above)
        elif self._turn is None:
            fresh = turn(self._workspace, known, self._scope, self._runtime)
        else:
            fresh = next_turn(self._workspace, known, self._scope, self._runtime)
        self._admitted = fresh.belt.admission
        self._turn, self._seen = fresh, now
        return fresh

    def reload(self, workspace: Workspace, runtime: Runtime | None = None) -> None:
        """The workspace was loaded anew; the next turn is decided by it.

        Args:
            workspace: the new one.
            runtime: what the host brings from now on; None leaves it as it was.
        """
        self._workspace = workspace
        if runtime is not None:
            self._runtime = runtime
        self._seen = None

    def resolve(
        self, name: str, arguments: object = None, spell: Spell = str, *, search: bool = False
    ) -> Resolution:
        """What becomes of a call in the current turn; a failing call that is repeated is answered firmly.

        The parameters are those of `Turn.resolve`.
        """
        current = self._turn or self.turn()
        resolved = current.resolve(name, arguments, spell, search=search)
        key = _key(name, arguments)
        if not isinstance(resolved, Refusal):
            self._failed.pop(key, None)
            return resolved
        times = self._failed.pop(key, 0) + 1
        self._failed[key] = times
        while len(self._failed) > REMEMBERED:
            self._failed.pop(next(iter(self._failed)))
        return resolved if times == 1 else Refusal(name, _firm(resolved.hint, times))


def _key(name: str, arguments: object) -> str:
    try:
        given = parse(arguments)
        return canonical([name, repr(arguments) if given is None else given])
    except (TypeError, ValueError, RecursionError):  # a host may hand over what is no JSON
        return repr((name, arguments))


def _firm(hint: Hint, times: int) -> Hint:
    """The answer that ends a loop: the same facts, and what to do about them."""
    way = "Make one of the calls named here" if hint.suggestions else "Go on without it"
    text = (
        f"This same call has now failed {times} times and will fail again. Do not repeat it. {way}, "
        f"or tell the user what is missing. {hint.text}"
    )
    return Hint(HintClass.REPEAT, text, hint.suggestions)
