"""`Belt`: the decision about every known tool for one scope, held as masks and read lazily."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from packbelt.belt.arguments import sample
from packbelt.belt.opener import finder_tool, opener_tool
from packbelt.belt.placement import Placement
from packbelt.belt.problems import remarks, start_problems
from packbelt.belt.routes import cuts_of, routes_to
from packbelt.belt.rules import Fold, fold, reasons_of
from packbelt.belt.scope import Scope, Subject, subject_of
from packbelt.belt.selectors import Purpose, match_all
from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.registry import Registry, bits, pick
from packbelt.catalog.snapshot import Admitted, Placed
from packbelt.model import (
    NATIVE,
    AgentRefusedError,
    AmbiguousToolError,
    Decision,
    Diagnostic,
    Permission,
    Reason,
    Route,
    Rule,
    State,
    Tool,
)


class BeltTool:
    """One tool as one belt has it. The state is there at once; reasons and routes are built on demand."""

    __slots__ = ("_belt", "_i", "tool")

    def __init__(self, belt: "Belt", i: int | None, tool: Tool) -> None:
        self._belt = belt
        self._i = i
        self.tool = tool

    @property
    def state(self) -> State:
        """What the tool is to the belt's scope."""
        return State.DIRECT if self._i is None else self._belt.state(self._i)

    @property
    def decision(self) -> Decision:
        """State, reasons and routes."""
        if self._i is None:
            reason = Reason(
                Rule.PACK_EXPOSURE, "something is put away for this agent, and this is the way to it"
            )
            return Decision(
                State.DIRECT,
                (reason,),
                (Route("direct", self.tool.wire_name, sample(self.tool.input_schema) or {}),),
            )
        return self._belt.decision(self._i)

    @property
    def pack(self) -> str | None:
        """The id of its pack."""
        return None if self._i is None else self._belt.registry.pack_of(self._i)

    @property
    def permission(self) -> Permission:
        """What a call needs."""
        return Permission.NONE if self._i is None else self._belt.registry.permission(self._i)

    @property
    def approve(self) -> bool:
        """Whether a person must approve each call."""
        return self._i is not None and bool(self._belt.approve >> self._i & 1)


class Belt(Mapping[str, BeltTool]):
    """Every known tool for one scope, keyed and iterated by wire name, in the order of sending.

    Attributes:
        registry: what is known.
        subject: who asks.
        fold: the table's answer, by state and by row.
    """

    def __init__(self, registry: Registry, subject: Subject, *, search: bool = False) -> None:
        self.registry = registry
        self.subject = subject
        self._placement = Placement(subject)
        self._ask = (subject, self._placement)
        self.fold: Fold = fold(self._ask)
        states = self._states = dict(self.fold.states)
        if search:
            states[State.DEFERRED] |= states[State.PACKED]
            states[State.PACKED] = 0
        self.direct = states[State.DIRECT]
        self.packed = states[State.PACKED]
        self.deferred = states[State.DEFERRED]
        self.callable = self.direct | self.packed | self.deferred

    @property
    def agent(self) -> str:
        """The name of the agent that asks."""
        return self.subject.agent.name

    def state(self, i: int) -> State:
        """The state of the tool at a bit."""
        for state, mask in self._states.items():
            if mask >> i & 1:
                return state
        return State.UNKNOWN

    def searched(self) -> "Belt":
        """The same decision for a target that defers by its own search: what is packed is found by it.

        Placement alone differs; what is callable, and why, is the same.
        """
        return self._searched

    @cached_property
    def _searched(self) -> "Belt":
        return Belt(self.registry, self.subject, search=True)

    def decision(self, i: int) -> Decision:
        """State, reasons and routes of the tool at a bit."""
        state = self.state(i)
        routes = routes_to(self, i)
        cuts = cuts_of(self, i) if state is State.RESERVED and not routes else ()
        return Decision(state, self.reasons(i), routes, cuts)

    def reasons(self, i: int) -> tuple[Reason, ...]:
        """Why the tool at a bit is in its state."""
        state = next((state for state, mask in self.fold.states.items() if mask >> i & 1), State.UNKNOWN)
        return reasons_of(self._ask, self.fold, state, i)

    @cached_property
    def approve(self) -> int:
        """Mask of the tools whose calls a person approves first."""
        registry = self.registry
        mask = registry.approve | self.subject.approve
        mask |= match_all(registry, registry.workspace.config.approve, Purpose.APPROVE)
        return mask | match_all(registry, registry.snapshot.approve, Purpose.APPROVE)

    # what is sent ---------------------------------------------------------------------------------------

    @cached_property
    def opener(self) -> Tool | None:
        """The opener, which exists if and only if something is packed for this agent."""
        return opener_tool(self) if self.packed else None

    @cached_property
    def finder(self) -> Tool | None:
        """`find_tools`, which exists if and only if something is deferred for this agent."""
        return finder_tool() if self.deferred else None

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools whose schemas are sent, in order: the admitted in order of arrival, then the rest.

        The opener and `find_tools` take the place at which they first came up, so that nothing moves.
        """
        known, places = self.registry.tools, self.registry.admitted
        own = {f"{NATIVE}:{tool.name}": tool for tool in (self.opener, self.finder) if tool}
        sent: list[Tool] = []
        left = self.direct
        for entry in self.registry.snapshot.admitted:
            i = places.get(entry.id)
            if entry.id in own:
                sent.append(own.pop(entry.id))
            elif i is not None and left >> i & 1:
                left &= ~(1 << i)
                sent.append(known[i])
        return (*sent, *own.values(), *pick(known, left))

    @cached_property
    def withheld(self) -> tuple[BeltTool, ...]:
        """Every other known tool."""
        known = self.registry.tools
        return tuple(BeltTool(self, i, known[i]) for i in bits(self.registry.all & ~self.direct))

    @cached_property
    def admission(self) -> tuple[Admitted, ...]:
        """What to record as admitted so that a later belt moves nothing that stands here.

        A server that is gone keeps its tools in the snapshot and so their places; what the snapshot does
        not know any more has lost its place, or the record would grow for ever.
        """
        ways_in = {f"{NATIVE}:{name}" for name in (self.registry.workspace.config.opener, FIND_TOOLS)}
        kept = self.registry.admitted.keys() | ways_in
        entries = {entry.id: entry for entry in self.registry.snapshot.admitted if entry.id in kept}

        def record(identity: str, placement: Placed | None) -> None:
            known = entries.get(identity)
            if known is None or known.placed is None:  # an order given without placements is filled in
                entries[identity] = Admitted(identity, placement)

        # A tool that is direct for being named says nothing of how its server is placed.
        named = {str(self.registry.tools[i].id) for i in bits(self.direct & self._placement.named)}
        for tool in self.tools:
            identity = str(tool.id)
            record(identity, None if identity in named else "direct")
        placed: tuple[tuple[int, Placed], ...] = ((self.deferred, "deferred"), (self.packed, "packed"))
        for mask, placement in placed:
            for i in bits(mask):
                record(str(self.registry.tools[i].id), placement)
        return tuple(entries.values())

    # by name --------------------------------------------------------------------------------------------

    def __getitem__(self, wire_name: str) -> BeltTool:
        i = self.registry.wire.get(wire_name)
        if i is not None:
            return BeltTool(self, i, self.registry.tools[i])
        for tool in (self.opener, self.finder):
            if tool and tool.wire_name == wire_name:
                return BeltTool(self, None, tool)
        raise KeyError(wire_name)

    def __iter__(self) -> Iterator[str]:
        for tool in self.tools:
            yield tool.wire_name
        for entry in self.withheld:
            yield entry.tool.wire_name

    def __len__(self) -> int:
        return len(self.registry.tools) + bool(self.opener) + bool(self.finder)

    def at(self, i: int) -> BeltTool:
        """The tool at a bit."""
        return BeltTool(self, i, self.registry.tools[i])

    def find(self, name: str) -> BeltTool | None:
        """A tool by wire name, by identity (`server:s/x`, `s/x`) or by a plain name that only one has.

        A server of the agent's own may be named as its file names it.

        Raises:
            AmbiguousToolError: several tools have this plain name.
        """
        if name in self:
            return self[name]
        i = self.registry.identified(name)
        if i is None:
            i = self._own(name)
        if i is not None:
            return self.at(i)
        found = self.registry.named(name)
        if len(found) > 1:
            raise AmbiguousToolError(name, [self.registry.tools[i].wire_name for i in found])
        return self.at(found[0]) if found else None

    def _own(self, name: str) -> int | None:
        """The bit of a tool of the agent's own server, named as its file does."""
        registry = self.registry
        for server in self.subject.agent.inline:
            short = f"{registry.workspace.inline[server].short_name}/"
            if name.startswith(short):
                return registry.find(server, name.removeprefix(short))
        return None

    # what a person should know --------------------------------------------------------------------------

    @cached_property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Why the agent cannot start; empty if it can."""
        return start_problems(self.subject)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What a person should know about this belt."""
        return remarks(self)

    def child(self, agent: str) -> "Belt":
        """The belt of an agent that this one hands off to, as it would be now."""
        scope = self.subject.scope.spawn(agent)
        return belt_of(self.registry, scope, started=self.subject.depth + 1)

    def subject_below(self, agent: str, mcp_servers: tuple[str, ...]) -> Subject:
        """An agent that this one hands off to, left with some servers only.

        Not remembered: which servers are named is a model's choice, and there is no end of those.

        Raises:
            SelectorError: a name is no server's.
        """
        scope = self.subject.scope.spawn(agent, mcp_servers=mcp_servers)
        subject = Subject(self.registry, scope, self.subject)
        subject.refuse(subject.depth)
        return subject


def belt_of(registry: Registry, scope: Scope, *, started: int = 0) -> Belt:
    """The belt of a scope; equal scopes of one registry share one.

    Args:
        registry: what is known.
        scope: who asks.
        started: how many agents of its path, from the root on, have started: see `subject_of`.

    Raises:
        AgentBrokenError, UnknownAgentError: an agent on the path cannot be used.
        SelectorError: a spawn of one that has not started names what does not exist.
    """
    subject = subject_of(registry, scope, started=started)
    key = ("belt", scope)
    belt = registry.memo.get(key)
    if belt is None:
        belt = registry.memo[key] = Belt(registry, subject)
    found: Belt = belt
    return found


def started(belt: Belt) -> Belt:
    """The belt, if its agent can start.

    Raises:
        AgentRefusedError: it cannot, with every reason.
    """
    if belt.problems:
        raise AgentRefusedError(belt.agent, belt.problems)
    return belt


__all__ = ["FIND_TOOLS", "Belt", "BeltTool", "belt_of", "started"]
