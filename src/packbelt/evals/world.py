"""A fleet in which nothing runs: the real engine, gate and relay, with answers in the place of work.

What is measured is whether a request gets to where it belongs. So native tools, servers and the agents that
are handed to only say what the case has for them, or that they are done.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import anyio

from packbelt.catalog.workspace import ServerSpec, Times, Workspace
from packbelt.evals.cases import Case
from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Approval, Asking, Elicit
from packbelt.live.fleet import Fleet
from packbelt.live.servers.connection import Connection, Settings
from packbelt.model import NATIVE, Answer

DONE = "Done."
"""What a tool or an agent says for which the case has no answer."""


_SIMULATED: WeakKeyDictionary[Workspace, dict[frozenset[tuple[str, str]], Workspace]] = WeakKeyDictionary()
"""Cases with the same answers share a workspace, and with it all that is worked out from one."""


def simulated(workspace: Workspace, answers: Mapping[str, str]) -> Workspace:
    """The workspace with every native tool handled by an answer; the host's own functions are not called."""
    known, said = _SIMULATED.setdefault(workspace, {}), frozenset(answers.items())
    if said not in known:
        natives = (tool.name for tool in workspace.tools if tool.id.source == NATIVE)
        handlers = {name: _handler(answers.get(name, DONE)) for name in natives}
        known[said] = replace(workspace, handlers=handlers)
    return known[said]


def _handler(answer: str) -> Callable[..., Awaitable[str]]:
    async def handle(**arguments: Any) -> str:
        del arguments
        return answer

    return handle


class Answering(Connection):
    """A server of the snapshot, which no process stands behind."""

    def __init__(self, server: str, fleet: "Simulation") -> None:
        spec = ServerSpec(server, "stdio")
        settings = Settings(fleet.workspace.root, Times(), {}, starts=anyio.CapacityLimiter(1))
        super().__init__(spec, settings, on_state=lambda _: None)
        self._said = fleet.answers

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        dispatching: Callable[[], Awaitable[None]],
        elicit: Elicit | Any = None,
    ) -> Answer:
        """What the case has this tool say."""
        del arguments, elicit
        await dispatching()
        return Answer.of_text(self._said.get(f"{self.name}/{tool}", DONE))


class Simulation(Fleet):
    """The fleet of one case.

    Args:
        workspace: whose engine is put to the test.
        case: the case; its snapshot says what is connected.
    """

    def __init__(self, workspace: Workspace, case: Case) -> None:
        self.answers = case.answers
        super().__init__(
            simulated(workspace, case.answers),
            run=self._answer,
            asking=Asking(approve=_yes),
            trust=True,  # of the empty list that follows: no server is started
            only=(),
            snapshot=case.snapshot,
            runs=":memory:",
            events=None,
            environ={},
        )
        numbers = count(1)  # no ids by chance: traces of the same calls are equal
        self._new_id = lambda: f"run-{next(numbers)}"

    async def _answer(self, agent: LiveAgent, request: str) -> str:
        del request
        known = self.workspace.agents[agent.name].handoff
        return self.answers.get(known, DONE)

    def _connection(self, server: str) -> Connection | None:
        """An answering stand-in for a server of the snapshot."""
        return Answering(server, self) if server in self.snapshot.servers else None


def _yes(approval: Approval) -> bool:
    """Nothing runs, so that a person would have nothing to fear."""
    del approval
    return True
