"""Whose call a native tool serves: the agent in whose name it may go on, through that agent's own gate.

A native tool is the host's function and may do what the host may. One that acts for whoever calls it, by
calling a server's tool or starting a server, must not lend its caller a longer arm than it has: it asks for
its caller, and acts through it.

    @packbelt.tool(permission="execute")
    async def ask_weather(city: str) -> packbelt.Answer:
        return await packbelt.caller().call("weather", "forecast", {"city": city})
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packbelt.catalog.snapshot import ServerState
from packbelt.live.asking import Approval, Asking
from packbelt.live.trust import describe
from packbelt.model import Answer, Call, PackbeltError, ToolCall
from packbelt.model.text import few
from packbelt.model.wire import server_wire_name

if TYPE_CHECKING:
    from packbelt.belt import Belt
    from packbelt.catalog.registry import Registry
    from packbelt.live.agent import LiveAgent


_NAMED = 8
"""Servers that an error names; of more only the number is."""


class NoCallerError(PackbeltError):
    """A tool that acts for its caller was not called by an agent."""


class OutOfScopeError(PackbeltError):
    """A tool was to act on a server that its caller does not have."""


class NotApprovedError(PackbeltError):
    """A person did not agree to what a tool was about to do."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The agent whose call a native tool serves. What is done by it passes that agent's gate.

    Attributes:
        agent: the agent.
        made: its call, as the model made it.
        admitted: the same, as the gate admitted it.
    """

    agent: "LiveAgent"
    made: ToolCall
    admitted: Call
    _asking: Asking = field(repr=False)

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a server's tool as if the agent had called it by its own name.

        Denies, scope, ceiling, permission and approvals are those of that tool for that agent; what is not
        admitted is answered with the hint.

        Args:
            server: its name.
            tool: the tool's name, as the server spells it.
            arguments: for the tool.
        """
        i = self._registry.find(server, tool)
        name = server_wire_name(server, tool)[0] if i is None else self._registry.tools[i].wire_name
        call = ToolCall(self.made.id, name, dict(arguments), self.made.speech)
        (result,) = await self.agent.run([call], approve=self._asking.approve, elicit=self._asking.elicit)
        return result.answer

    async def connect(self, server: str, *, seconds: float | None = None) -> ServerState:
        """Start a configured server that the agent has, and wait until it has connected or failed.

        One that neither the host nor the user vouches for is started only if a person agrees to its
        definition, which the question shows.

        Args:
            server: its name.
            seconds: how long it may take to answer; `times.start` by default.

        Raises:
            OutOfScopeError: the agent has no such server.
            NotApprovedError: no person agreed, or the agent may not do this any more.
            UnknownServerError: it is no shared one.
            NotTrustedError: it may not be started, or changed while the person thought.
        """
        self._check_has(server)
        fleet = self.agent.fleet
        spec = fleet.workspace.servers.get(server)
        if spec is None or server not in fleet.doubtful:
            return await fleet.connect(server, seconds=seconds)
        tool = self.admitted.tool
        question = Approval(self.agent.path, tool, {**self.admitted.arguments, "starts": describe(spec)})
        refusal = await self._asking.refusal(question)
        if not refusal and not self._may_still():
            refusal = f"{tool.wire_name} was not called: it is not this agent's to call any more"
        if refusal:
            raise NotApprovedError(f"server {server!r} is not trusted and was not started: {refusal}")
        return await fleet.connect(server, agreed=spec, seconds=seconds)

    async def disconnect(self, server: str) -> ServerState:
        """End a server that the agent has, for every agent that shares it.

        Raises:
            OutOfScopeError: the agent has no such server.
            UnknownServerError: it is no shared one.
        """
        self._check_has(server)
        return await self.agent.fleet.disconnect(server)

    @property
    def _belt(self) -> "Belt":
        return self.agent.handle().turn(self.agent.snapshot).belt

    @property
    def _registry(self) -> "Registry":
        return self._belt.registry

    def _check_has(self, server: str) -> None:
        """Return where the server is in the agent's scope."""
        mine = self._belt.subject.servers
        if server not in mine:
            raise OutOfScopeError(
                f"agent {self.agent.name!r} has no server {server!r}",
                mend=f"choose one of: {few(mine, most=_NAMED)}" if mine else "install one first",
                name=server,
            )

    def _may_still(self) -> bool:
        """Whether the call that is under way would be admitted now: a person takes time."""
        name = self.admitted.tool.wire_name
        belt = self._belt
        return not self.agent._over and name in belt and belt[name].state.callable


_caller: ContextVar[Caller | None] = ContextVar("packbelt_caller", default=None)


def caller() -> Caller:
    """The agent whose call the present native tool serves.

    Raises:
        NoCallerError: no agent's call is being served here.
    """
    found = _caller.get()
    if found is None:
        raise NoCallerError("no agent called this", mend="call it as a tool of an agent at work")
    return found


def called() -> bool:
    """Whether an agent's call is being served here."""
    return _caller.get() is not None


@contextmanager
def serving(agent: "LiveAgent", made: ToolCall, admitted: Call, asking: Asking) -> Iterator[None]:
    """While inside, in this task and in those that it starts, this agent is the caller."""
    token = _caller.set(Caller(agent, made, admitted, asking))
    try:
        with agent.fleet._vouching.at_work():
            yield
    finally:
        _caller.reset(token)
