"""`Served`: an agent whose words are for a client, in the client's spelling."""

from functools import partial

from packbelt.belt import Scope
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import Runtime
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.gateway.brief import Briefing
from packbelt.gateway.spelling import too_long
from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Asking
from packbelt.live.fleet import Fleet
from packbelt.model import Answer, HandOff, Resolution
from packbelt.turn import AgentHandle, Turn


class Served(LiveAgent):
    """One agent of a gateway, to be entered; its children are the host's, and speak as ever.

    Args:
        fleet: whose.
        name: the agent.
        spell: how the client shows a wire name.
        briefing: answers hand-offs with briefs; None where they are run, or not on the belt.
        remembers: whether order of arrival and repeated calls are remembered, as for one connection; else
            each decision follows from the snapshot alone, and every process with the same one decides alike.
    """

    def __init__(
        self, fleet: Fleet, name: str, spell: Spell, briefing: Briefing | None, *, remembers: bool
    ) -> None:
        handle = partial(_Spelled if remembers else _Forgetful, spell=spell)
        super().__init__(fleet, Scope(name), request="served over MCP", handle=handle)
        self.spell = spell
        self._briefing = briefing

    async def _hand_off(self, resolved: HandOff, asking: Asking) -> Answer:
        """A brief, where hand-offs are answered with one."""
        if self._briefing is None:
            return await super()._hand_off(resolved, asking)
        return self._briefing.answer(resolved, self.handle().turn(self.snapshot).belt.registry)

    def too_long(self) -> list[str]:
        """The names of its tools, as the client shows them, that are longer than some provider takes."""
        return too_long(self.handle().turn(self.snapshot).tools, self.spell)


class _Spelled(AgentHandle):
    """A handle that answers in one spelling."""

    def __init__(
        self, workspace: Workspace, scope: Scope, runtime: Runtime, *, above: int, spell: Spell
    ) -> None:
        super().__init__(workspace, scope, runtime, above=above)
        self._spell = spell

    def resolve(
        self, name: str, arguments: object = None, spell: Spell | None = None, *, search: bool = False
    ) -> Resolution:
        """As ever, in this spelling where none is asked for."""
        return super().resolve(name, arguments, spell or self._spell, search=search)


class _Forgetful(_Spelled):
    """A handle that knows no more than the snapshot."""

    def turn(self, snapshot: Snapshot | None = None) -> Turn:
        """The turn of a snapshot, whatever came before it."""
        self._admitted = ()
        return super().turn(snapshot)

    def resolve(
        self, name: str, arguments: object = None, spell: Spell | None = None, *, search: bool = False
    ) -> Resolution:
        """What becomes of a call; each is the first."""
        self._failed.clear()
        return super().resolve(name, arguments, spell, search=search)
